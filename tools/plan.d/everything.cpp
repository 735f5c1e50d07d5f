// SPDX-License-Identifier: MIT
#include "everything.hpp"

#include <algorithm>
#include <limits>

namespace hmk::plan {
namespace {

using policy::Forecast;

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Way {
  std::vector<std::uint8_t> tier;  // by window
  double cost_ns = 0;
};

/// All ways of a region through windows and tiers, the cheapest first.
std::vector<Way> ways_of(const Forecast& forecast, const Forecast::Group& group) {
  std::vector<Way> ways;
  std::vector<std::uint8_t> tier(forecast.windows);
  for (std::size_t w = 0; w < tier.size();) {
    const bool stays = std::ranges::all_of(tier, [&](auto one) { return one == tier[0]; });
    if (stays || !forecast.is_static) ways.push_back({tier, cost_of(forecast, group, tier)});
    for (w = 0; w < tier.size() && ++tier[w] == forecast.tiers; ++w) tier[w] = 0;
  }
  std::ranges::sort(ways, {}, &Way::cost_ns);
  return ways;
}

class Search {
 public:
  explicit Search(const Forecast& forecast)
      : forecast_(forecast), room_(forecast.capacity), least_left_(forecast.groups.size() + 1) {
    for (const Forecast::Group& group : forecast.groups) ways_.push_back(ways_of(forecast, group));
    for (std::size_t i = ways_.size(); i-- > 0;)
      least_left_[i] = least_left_[i + 1] + ways_[i].front().cost_ns;
  }

  double least() {
    place(0, 0);
    return best_;
  }

 private:
  void place(std::size_t region, double cost) {
    if (region == ways_.size()) best_ = std::min(best_, cost);
    if (region == ways_.size()) return;
    for (const Way& way : ways_[region]) {
      if (cost + way.cost_ns + least_left_[region + 1] >= best_) return;  // as all that follow
      if (!fits(way, forecast_.groups[region].bytes)) continue;
      take(way, forecast_.groups[region].bytes);
      place(region + 1, cost + way.cost_ns);
      take(way, -forecast_.groups[region].bytes);
    }
  }

  bool fits(const Way& way, double bytes) const {
    for (std::uint32_t w = 0; w < forecast_.windows; ++w)
      if (room_[forecast_.cell(w, way.tier[w])] < bytes) return false;
    return true;
  }

  void take(const Way& way, double bytes) {
    for (std::uint32_t w = 0; w < forecast_.windows; ++w)
      room_[forecast_.cell(w, way.tier[w])] -= bytes;
  }

  const Forecast& forecast_;
  std::vector<double> room_;
  std::vector<std::vector<Way>> ways_;  // by region
  std::vector<double> least_left_;  // of this region and those after it, were there room for all
  double best_ = kNever;
};

}  // namespace

double cost_of(const Forecast& forecast, const Forecast::Group& group,
               std::span<const std::uint8_t> tier) {
  double cost = 0;
  for (std::uint32_t w = 0; w < forecast.windows; ++w) {
    cost += group.cost_ns[forecast.cell(w, tier[w])];
    if (w > 0) cost += group.bytes * forecast.move_ns[tier[w - 1] * forecast.tiers + tier[w]];
  }
  return cost;
}

double least_of_everything(const Forecast& forecast) {
  return Search(forecast).least();
}

}  // namespace hmk::plan
