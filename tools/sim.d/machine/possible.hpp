// SPDX-License-Identifier: MIT
//
// The least time a program can take on a machine, wherever its memory lies and whatever moves it,
// with all of its heat known beforehand: policy/horizon.hpp over the stretches of its work.
//
//   const Possible best = possible(question);
//   best.bound_ns / place(question, System::kReactive).ns     how close to the best that is
#pragma once

#include "machine/system.hpp"

namespace hmk::sim {

/// Modelled time of the whole work. Memory may begin anywhere; a move takes from the program what
/// it exposes and no time of its own, and profiling is free: so no system is faster than the bound.
struct Possible {
  double bound_ns = 0;     // nothing is faster
  double schedule_ns = 0;  // of the best placement that was found
};

/// Throws as set_up() does.
Possible possible(const Question& question);

}  // namespace hmk::sim
