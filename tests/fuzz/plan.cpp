// SPDX-License-Identifier: MIT
// Any bytes as a plan: pieces in order, apart, inside their mapping and in tiers that there are, or
// an error that names the place. What was read is written as it was.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "record/tier_plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = hmk::decode_plan({reinterpret_cast<const char*>(data), size}, "plan");
  if (!plan) return 0;
  for (const hmk::PlannedMapping& mapping : (*plan).mappings) {
    std::uint64_t end = 0;
    for (const hmk::PlannedPiece& piece : mapping.pieces) {
      if (piece.offset < end || piece.length == 0 || (piece.offset | piece.length) % 4096 != 0 ||
          piece.length > mapping.length - piece.offset || piece.tier.size() != (*plan).windows)
        std::abort();
      for (const std::uint8_t tier : piece.tier)
        if (tier >= (*plan).machine.tiers.size()) std::abort();
      end = piece.offset + piece.length;
    }
  }
  const auto again = hmk::decode_plan(hmk::encode(*plan), "plan");
  if (!again || !(*again == *plan)) std::abort();
  return 0;
}
