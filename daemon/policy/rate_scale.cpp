// SPDX-License-Identifier: MIT
#include "policy/rate_scale.hpp"

#include <algorithm>

namespace hmk::policy {

std::size_t RateScale::step_of(HotnessQ16 hotness) {
  return std::min<std::size_t>(hotness >> kStepShift, kSteps - 1);
}

void RateScale::learn(HotnessQ16 hotness, std::int16_t rate_q8) {
  points_[step_of(hotness)] = {hotness, rate_q8};
}

std::optional<std::int16_t> RateScale::rate_q8(HotnessQ16 hotness) const {
  const Point *below = nullptr, *above = nullptr;
  for (std::size_t step = step_of(hotness) + 1; step-- > 0 && below == nullptr;)
    if (points_[step] && points_[step]->hotness <= hotness) below = &*points_[step];
  for (std::size_t step = step_of(hotness); step < kSteps && above == nullptr; ++step)
    if (points_[step] && points_[step]->hotness >= hotness) above = &*points_[step];
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (below == nullptr || above == nullptr) return (below == nullptr ? above : below)->rate_q8;
  if (above->hotness == below->hotness) return below->rate_q8;
  const auto part = static_cast<std::int64_t>(hotness - below->hotness);
  const auto whole = static_cast<std::int64_t>(above->hotness - below->hotness);
  return static_cast<std::int16_t>(below->rate_q8 +
                                   (above->rate_q8 - below->rate_q8) * part / whole);
}

Heat RateScale::last_heat_of(const RegionView& region) const {
  Heat heat = heat_of(region);
  heat.whi_q16 = region.hi_q16;
  const auto smoothed = rate_q8(region.whi_q16), last = rate_q8(region.hi_q16);
  if (smoothed && last)
    heat.rate_q8 = static_cast<std::int16_t>(region.rate_q8 + *last - *smoothed);
  return heat;
}

}  // namespace hmk::policy
