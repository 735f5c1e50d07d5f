// SPDX-License-Identifier: MIT
//
// A window of a program beside which pages are copied, on a machine of two tiers, in modelled time.
// CPUs are shared by all threads alike. Reads and writes share the slower tier's time, by CXL each
// direction has its own; who asks for more than there is gets the same part of it.
//
//   const Outcome outcome = run_window(tier, {.threads = 22, .tier_bw = 35e9, ...}, 4e9, 2, false);
#pragma once

#include "mover/copy_threads.hpp"

namespace hmk::bench {

struct SlowTier {
  CopyCurve curve;
  unsigned cpus = 1;
  bool is_duplex = false;  // reads and writes are in nobody's way
};

struct Program {
  unsigned threads = 1;
  double tier_bw = 0;       // bytes/s that it reads from the slower tier when alone
  double memory_bound = 0;  // share of its time that grows as that gets less
};

struct Outcome {
  double program_s = 0;  // its window of a second alone
  double all_s = 0;      // until the copies have ended, too
};

/// `bytes` go into the faster tier and as many out of it, by `copy_threads`. `paced`: while the
/// program runs copies take what it leaves of the tier.
Outcome run_window(const SlowTier& tier, const Program& program, double bytes,
                   unsigned copy_threads, bool paced);

}  // namespace hmk::bench
