// SPDX-License-Identifier: MIT
//
// How many threads copy: the fewest that end while the program computes, as long as program and
// copies find bandwidth and CPUs (WarpX-PM's three constraints). Pure.
//
//   choose_copy_threads({.in_bytes = 1e9, .compute_s = 1, .threads = 14, .max_threads = 16}, curve)
#pragma once

#include <vector>

namespace hmk {

/// What is to be copied into and out of the faster tier in the next window, and what the program
/// does in it.
struct CopyLoad {
  double in_bytes = 0, out_bytes = 0;
  double compute_s = 0;      ///< the window
  double compute_bw = 0;     ///< bytes/s of the program on the slower tier; 0: unknown
  double share = 1;          ///< of the tier's bandwidth that is this program's, above 0 .. 1
  unsigned threads = 0;      ///< of the program
  unsigned max_threads = 1;  ///< that run at a time, of the program and copies together
};

/// Bytes/s, as calibrated.
struct CopyCurve {
  std::vector<double> in_bw, out_bw;  ///< by 1, 2, ... threads; alike in length
  double max_in = 0, max_out = 0;     ///< of the slower tier: reads, and writes
};

struct CopyChoice {
  unsigned copy_threads = 1;
  double copy_s = 0;
  bool late = false;    ///< no number ends within the window
  bool crowds = false;  ///< none leaves the program its bandwidth and threads: limit the bytes
  bool operator==(const CopyChoice&) const = default;
};

/// c threads crowd nobody when compute_bw + in_bw[c] + out_bw[c] is at most the share of the lesser
/// of max_in and max_out, and threads + c at most max_threads; and the program keeps all threads
/// but two at least. The smallest such c that ends in time; else the one that ends first, late;
/// else 1.
CopyChoice choose_copy_threads(const CopyLoad& load, const CopyCurve& curve);

}  // namespace hmk
