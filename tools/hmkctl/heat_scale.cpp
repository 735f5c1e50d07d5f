// SPDX-License-Identifier: MIT
#include "heat_scale.hpp"

#include <algorithm>
#include <cmath>

namespace hmkctl {

HeatScale::HeatScale(std::vector<double> values, Kind kind) : kind_(kind) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.empty()) return;
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  low_ = at(kLow);
  high_ = at(kHigh);
  if (low_ == high_) low_ /= 2;  // all alike: as bright as can be
}

double HeatScale::from(std::size_t step, std::size_t steps) const {
  const double part = static_cast<double>(step) / static_cast<double>(steps - 1);
  if (kind_ == Kind::linear || is_empty()) return low_ + (high_ - low_) * part;
  return low_ * std::pow(high_ / low_, part);
}

std::size_t HeatScale::step(double value, std::size_t steps) const {
  if (!(value > low_) || is_empty()) return 0;
  if (value >= high_) return steps - 1;
  const double part = kind_ == Kind::linear ? (value - low_) / (high_ - low_)
                                            : std::log(value / low_) / std::log(high_ / low_);
  return std::min(static_cast<std::size_t>(part * static_cast<double>(steps - 1)), steps - 2);
}

}  // namespace hmkctl
