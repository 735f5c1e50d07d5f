// SPDX-License-Identifier: MIT
//
// Holds policy/horizon against what it must equal or may not pass: every placement there is, a
// solver's whole numbers, and its fractions; and against its promises of time, memory and gap.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace hmk::plan {

struct CheckOptions {
  std::uint64_t small = 1000;  // cases of a few regions
  std::uint64_t phased = 50;   // of 200 regions in 24 windows and 4 tiers
  bool large = true;           // one of 20,000 groups in 64 windows and 4 tiers
  std::uint64_t seed = 1;      // of the first of each
};

/// Prints a line per promise. Of the result `ok` says whether all were kept, `rows` how.
nlohmann::ordered_json check(const CheckOptions& options);

}  // namespace hmk::plan
