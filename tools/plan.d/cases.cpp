// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <array>
#include <random>

namespace hmk::plan {
namespace {

using policy::Forecast;

constexpr std::array kLatencyNs = {90.0, 145.0, 275.0, 340.0};  // of an access, by tier
constexpr double kRegion = 2 << 20;                             // bytes
constexpr double kMoveNs = 1.25;  // of a byte, out of the program's time
constexpr unsigned kPhases = 4;
constexpr double kPlenty = 1000;  // units of a small case

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(bits_() % limit); }
  double part() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 bits_;
};

void fill_move_prices(Forecast& forecast, const auto& price) {
  for (std::uint32_t from = 0; from < forecast.tiers; ++from)
    for (std::uint32_t to = 0; to < forecast.tiers; ++to)
      forecast.move_ns.push_back(from == to ? 0 : price());
}

/// Accesses of a group in a window: always hot, hot in its phase, never hot.
double accesses(std::size_t group, std::uint32_t window, double kind, double noise) {
  const double much = 60'000, most = 120'000, few = 500, none = 300;
  const bool is_its_phase = window % kPhases == group % kPhases;
  const double mean = kind < 0.15 ? much : kind >= 0.75 ? none : is_its_phase ? most : few;
  return mean * (0.8 + 0.4 * noise);
}

}  // namespace

Forecast small_case(std::uint64_t seed) {
  Draw draw(seed);
  Forecast forecast{
      .windows = 1 + draw.below(4), .tiers = 2 + draw.below(2), .is_static = draw.below(5) == 0};
  const std::uint32_t regions = 1 + draw.below(6);
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    for (std::uint32_t tier = 0; tier < forecast.tiers; ++tier)
      forecast.capacity.push_back(tier + 1 == forecast.tiers ? kPlenty : draw.below(9));
  fill_move_prices(forecast, [&] { return 20.0 * draw.below(30); });
  for (std::uint32_t i = 0; i < regions; ++i) {
    Forecast::Group group{.bytes = 1.0 + draw.below(4)};
    for (std::uint32_t w = 0; w < forecast.windows; ++w) {
      const double uses = 1 + draw.below(50);
      for (std::uint32_t tier = 0; tier < forecast.tiers; ++tier)
        group.cost_ns.push_back(uses * kLatencyNs[tier]);
    }
    forecast.groups.push_back(std::move(group));
  }
  return forecast;
}

Forecast phased_case(const Phases& phases, std::uint64_t seed) {
  Draw draw(seed);
  Forecast forecast{.windows = phases.windows, .tiers = kLatencyNs.size()};
  double bytes = 0;
  for (std::size_t i = 0; i < phases.groups; ++i) {
    Forecast::Group group{.bytes = kRegion, .count = 1.0 + draw.below(phases.most_regions)};
    const double kind = draw.part();
    for (std::uint32_t w = 0; w < forecast.windows; ++w) {
      const double uses = accesses(i, w, kind, draw.part());
      for (const double latency : kLatencyNs) group.cost_ns.push_back(uses * latency);
    }
    bytes += group.count * group.bytes;
    forecast.groups.push_back(std::move(group));
  }
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    for (std::uint32_t tier = 0; tier < forecast.tiers; ++tier)
      forecast.capacity.push_back(tier + 1 == forecast.tiers ? bytes : bytes / 5);
  fill_move_prices(forecast, [] { return kMoveNs; });
  return forecast;
}

}  // namespace hmk::plan
