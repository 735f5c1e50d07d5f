// SPDX-License-Identifier: MIT
#include "mover/copy_threads.hpp"

#include <algorithm>
#include <optional>

namespace hmk {
namespace {

constexpr unsigned kMostTaken = 2;  // of a program's threads: fewer slow it by over 20 % (WarpX-PM)

/// Nothing to copy takes no time, whatever the bandwidth.
double seconds(double bytes, double bw) {
  return bytes > 0 ? bytes / bw : 0;
}

double copy_seconds(const CopyLoad& load, const CopyCurve& curve, unsigned threads) {
  return std::max(seconds(load.in_bytes, curve.in_bw[threads - 1]),
                  seconds(load.out_bytes, curve.out_bw[threads - 1]));
}

bool leaves_bandwidth(const CopyLoad& load, const CopyCurve& curve, unsigned threads) {
  return load.compute_bw + curve.in_bw[threads - 1] + curve.out_bw[threads - 1] <=
         std::min(curve.max_in, curve.max_out) * load.share;
}

bool leaves_threads(const CopyLoad& load, unsigned threads) {
  return load.threads + threads <= load.max_threads &&
         load.threads + kMostTaken >= load.max_threads;
}

}  // namespace

CopyChoice choose_copy_threads(const CopyLoad& load, const CopyCurve& curve) {
  const auto most = static_cast<unsigned>(std::min(curve.in_bw.size(), curve.out_bw.size()));
  if (most == 0) return {};
  std::optional<CopyChoice> late;
  for (unsigned c = 1; c <= most; ++c) {
    if (!leaves_bandwidth(load, curve, c) || !leaves_threads(load, c)) continue;
    const double copy_s = copy_seconds(load, curve, c);
    if (copy_s <= load.compute_s) return {c, copy_s, false, false};
    if (!late || copy_s < late->copy_s) late = {c, copy_s, true, false};
  }
  if (late) return *late;
  return {1, copy_seconds(load, curve, 1), copy_seconds(load, curve, 1) > load.compute_s, true};
}

}  // namespace hmk
