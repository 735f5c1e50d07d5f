// SPDX-License-Identifier: MIT
//
// How many threads copy for a plan, by what was calibrated of this machine.
//
//   calibrated_copy_threads(plan, machine, {.homes = {0}, .seconds = 10, .threads = 2})
#pragma once

#include <cstdint>
#include <set>

#include "policy/types.hpp"
#include "topology/machine.hpp"

namespace hmk {

/// Of a process in its last interval.
struct Busy {
  const std::set<int>& homes;  ///< nodes it runs on; empty: unknown
  double seconds;              ///< of the interval
  unsigned threads;            ///< by its CPU time
};

/// By the curve between the two nodes of what is hottest; 0 where it was not calibrated. How much
/// bandwidth the program needs is not known: half of what there is. No more than two threads run
/// alongside the program's own, if there are CPUs for them.
std::uint32_t calibrated_copy_threads(const policy::Plan& plan, const Machine& machine,
                                      const Busy& busy);

}  // namespace hmk
