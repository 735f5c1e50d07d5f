// SPDX-License-Identifier: MIT
//
// How surely one region must be hotter than another for the two to change places. Of many alike,
// chance makes some the hottest of a slow tier and others the coldest of a fast one, and they meet.
// What chance promised is gone in the next interval, what is so stays: as long as exchanges keep
// their promises a few deviations do, and where they do not it takes more.
//
//   exchanges.planned(plan);
//   exchanges.saw(regions, scale, model);      the next interval
//   measured.deviations = exchanges.deviations();
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/gain.hpp"
#include "policy/rate_scale.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

class Exchanges {
 public:
  static constexpr double kMemory = 4;  // exchanges in a moving average
  /// Kept so much and more: as sure as at first. By chance nothing is kept.
  static constexpr double kEnough = 0.5;
  static constexpr double kMostDeviations = 4.5;
  static constexpr std::size_t kMost = 256;  // looked at in an interval

  /// Remembers the exchanges of a plan, whether they are made or not. Those of a class of pages do
  /// not count: the regions of the next interval do not tell it apart.
  void planned(const Plan& plan);
  /// `regions` in address order, with what the last interval alone says of them.
  void saw(std::span<const RegionView> regions, const RateScale& scale, const GainModel& model);

  /// Of what exchanges promised, the part that the interval after them still showed: a moving
  /// average in -1 .. 1; before there were any kEnough.
  double kept() const { return kept_; }
  /// For GainModel::is_surely_hotter(); kDeviations .. kMostDeviations.
  double deviations() const;

 private:
  struct Side {
    std::uint64_t start;
    Bytes bytes;
    NodeId from, to;
    std::size_t exchange;
  };
  std::vector<Side> sides_;       // of the newest plan
  std::vector<double> promised_;  // ns a second, by exchange; what rises less what falls
  double kept_ = kEnough;
};

}  // namespace hmk::policy
