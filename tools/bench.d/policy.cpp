// SPDX-License-Identifier: MIT
//
// One decision as the daemon makes it: a snapshot into the ranking and into what moves earn, a plan
// out of them. Four tiers; each interval a tenth of the regions has a new hotness.
#include "policy/balance.hpp"
#include "policy/plan.hpp"
#include "policy/rank.hpp"

#include "bench.hpp"

namespace hmk::bench {

namespace {

using namespace hmk::policy;

constexpr Bytes kRegion = 2ull << 20;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Anything from cold to hot, and the rate that rises with it.
void set_heat(RegionView& r, std::uint64_t random) {
  r.hi_q16 = r.whi_q16 = static_cast<HotnessQ16>(random % (3ull * kOneQ16));
  r.rate_q8 = static_cast<std::int16_t>(r.whi_q16 >> 6);
}

std::vector<RegionView> snapshot(std::uint32_t nr) {
  std::vector<RegionView> regions(nr);
  for (std::uint32_t i = 0; i < nr; i++) {
    RegionView& r = regions[i];
    r.start = i * kRegion;
    r.length = r.resident = kRegion;
    r.generation = 1;
    r.node = static_cast<NodeId>(mix(i) % 4);
    set_heat(r, mix(i + 1ull));
  }
  return regions;
}

}  // namespace

nlohmann::ordered_json policy(const std::vector<std::uint32_t>& sizes, unsigned repetitions) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::uint32_t nr : sizes) {
    const std::vector<NodeId> nodes = {0, 1, 2, 3};
    const std::vector<TierView> tiers = {
        {.node = 0, .total = nr * kRegion / 4, .free = kRegion, .latency_ns = 90},
        {.node = 1, .total = nr * kRegion / 4, .free = kRegion, .latency_ns = 145},
        {.node = 2, .total = nr * kRegion, .free = nr * kRegion / 2, .latency_ns = 275},
        {.node = 3, .total = nr * kRegion, .free = nr * kRegion / 2, .latency_ns = 340}};
    std::vector<RegionView> regions = snapshot(nr);
    Ranking ranking({}, nodes);
    ranking.update(1, regions);
    Balance balance;
    for (std::uint32_t i = 0; i < nr && i < Ledger::kMostExtents; i++)  // as much as is remembered
      balance.moved(
          {.start =
               i * std::uint64_t{std::max<std::uint32_t>(nr / Ledger::kMostExtents, 1)} * kRegion,
           .length = kRegion,
           .bytes = kRegion,
           .from = 3,
           .to = 0},
          {.bytes = kRegion});
    std::vector<double> all, rank, weigh, plan;
    std::size_t moves = 0;
    for (unsigned k = 0; k < repetitions; k++) {
      for (std::uint32_t i = k % 10; i < nr; i += 10) set_heat(regions[i], mix(i + k * 7919ull));
      const auto begin = Clock::now();
      ranking.update(1, regions);
      const auto ranked = Clock::now();
      // 64 busy CPUs
      balance.saw(regions, tiers, {.seconds = 1, .cpu_ns = 64'000'000'000, .horizon = 60});
      const auto weighed = Clock::now();
      const ProcessView view{
          .histogram = &ranking.histogram(),
          .tiers = tiers,
          .promote_limit = balance.governor().limit(PolicyParams{}.promote_limit),
          .measured = balance.plans_by()};
      const Plan made = std::move(make_plans({&view, 1}, {}).front());
      balance.planned(made);
      const auto end = Clock::now();
      moves = made.promotions.size() + made.demotions.size();
      all.push_back(ms(end - begin));
      rank.push_back(ms(ranked - begin));
      weigh.push_back(ms(weighed - ranked));
      plan.push_back(ms(end - weighed));
    }
    rows.push_back(
        {{"regions", nr},
         {"decide_ms", median(all)},
         {"decide_ms_p10", quantile(all, 0.1)},
         {"decide_ms_p90", quantile(all, 0.9)},
         {"ns_per_region", median(all) * 1e6 / nr},
         {"rank_ms", median(rank)},
         {"weigh_ms", median(weigh)},
         {"plan_ms", median(plan)},
         {"moves", moves},
         // The histogram's own state, and one id per region in address order.
         {"bytes_per_region",
          static_cast<double>(ranking.histogram().memory_bytes()) / nr + sizeof(Histogram::Id)}});
  }
  return rows;
}

}  // namespace hmk::bench
