// SPDX-License-Identifier: MIT
#include "size_curve.hpp"

#include <algorithm>
#include <cmath>

namespace hmkctl {

SizeCurve::SizeCurve(std::vector<Warmth> memory) {
  std::erase_if(memory, [](const Warmth& part) { return part.bytes == 0; });
  std::ranges::sort(memory, [](const Warmth& a, const Warmth& b) {
    return a.rate * static_cast<double>(b.bytes) > b.rate * static_cast<double>(a.bytes);
  });
  std::uint64_t bytes = 0;
  for (const Warmth& part : memory) {
    rate_ += part.rate;
    corners_.push_back({bytes += part.bytes, rate_});
  }
  if (rate_ > 0)
    for (Corner& corner : corners_) corner.share /= rate_;
}

double SizeCurve::share(std::uint64_t bytes) const {
  const auto after = std::ranges::lower_bound(corners_, bytes, {}, &Corner::bytes);
  if (after == corners_.end()) return corners_.back().share;
  if (after == corners_.begin()) return 0;
  const Corner& before = *std::prev(after);
  const double part =
      static_cast<double>(bytes - before.bytes) / static_cast<double>(after->bytes - before.bytes);
  return std::lerp(before.share, after->share, part);
}

std::uint64_t SizeCurve::bytes_for(double share) const {
  const auto after = std::ranges::lower_bound(corners_, share, {}, &Corner::share);
  if (after == corners_.end()) return bytes();
  if (after == corners_.begin()) return 0;
  const Corner& before = *std::prev(after);
  const double part = (share - before.share) / (after->share - before.share);
  return before.bytes + static_cast<std::uint64_t>(
                            std::ceil(part * static_cast<double>(after->bytes - before.bytes)));
}

std::vector<SizeCurve::Corner> SizeCurve::outline(unsigned steps) const {
  std::vector<Corner> out{corners_.front()};
  for (const Corner& corner : corners_)
    if (corner.share - out.back().share >= 1.0 / steps ||
        (corner.bytes - out.back().bytes) >= bytes() / steps + 1)
      out.push_back(corner);
  if (out.back().bytes != bytes()) out.push_back(corners_.back());
  return out;
}

double SizeCurve::skew() const {
  double most = 0;
  if (rate_ > 0)
    for (const Corner& corner : corners_)
      most = std::max(most,
                      corner.share - static_cast<double>(corner.bytes) /
                                         static_cast<double>(std::max(bytes(), std::uint64_t{1})));
  return most;
}

}  // namespace hmkctl
