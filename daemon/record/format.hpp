// SPDX-License-Identifier: MIT
//
// What encoder and reader agree on.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/packing.hpp"
#include "record/recording.hpp"

namespace hmk::record_format {

constexpr std::string_view kMagic{"hmkrec\r\n", 8};  // line ends show a copy in text mode
/// 1 had neither rates nor a context; 2 one context of latencies and mappings, and no moves.
constexpr std::uint32_t kVersion = 3;

// A reader passes over small letters that it does not know.
enum Kind : char {
  kTarget = 'T',
  kFrame = 'F',
  kEnd = 'E',
  kTrouble = 'X',  // over a connection only, at its end
  kContext = 'c',  // of format 2
  kMachine = 'm',
  kAddresses = 'a',
  kMoves = 'v',
};

/// What differs from the expected, a bit each; the rarest last, so that most take one byte.
constexpr unsigned kHi = 1, kWhi = 2, kNode = 4, kResident = 8, kRate = 16, kSampled = 32,
                   kWrites = 64, kAway = 128;

/// What a region is expected to be when the interval before had none there: like its neighbour.
inline RecordedRegion fresh(std::uint64_t start, std::uint64_t length,
                            const RecordedRegion& neighbour) {
  RecordedRegion region{
      start, length, 0, 0, neighbour.node, length / kRecordedPage, neighbour.rate_q4};
  region.rate_dev_q4 = neighbour.rate_dev_q4;
  region.samples = neighbour.samples;
  return region;
}

}  // namespace hmk::record_format
