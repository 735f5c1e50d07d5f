// SPDX-License-Identifier: MIT
//
// Whole plans that can be read. A region is "start+length@node hotness", a move "start+length
// from>to why", all in MiB; several with commas. Tiers are "node:free", "node:free/reserve".
#include <gtest/gtest.h>

#include <sstream>

#include "policy/plan.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

struct Golden {
  const char* name;
  const char* tiers;
  const char* regions;
  const char* plan;
  PolicyParams params = {};
  void (*change)(std::vector<TierView>&, std::vector<RegionView>&) = nullptr;
};

/// Read from "a:b c, a:b c": the numbers of each item.
std::vector<std::vector<double>> numbers(const char* text) {
  std::vector<std::vector<double>> items(1);
  for (const char* at = text; *at != '\0';) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end != at) items.back().push_back(number);
    if (end == at && *at == ',') items.emplace_back();
    at = end == at ? at + 1 : end;
  }
  return items;
}

std::vector<TierView> tiers_of(const char* text) {
  std::vector<TierView> tiers;
  for (const auto& n : numbers(text))
    tiers.push_back(tier(static_cast<NodeId>(n.at(0)), static_cast<Bytes>(n.at(1)),
                         n.size() > 2 ? static_cast<Bytes>(n[2]) : 0));
  return tiers;
}

std::vector<RegionView> regions_of(const char* text) {
  std::vector<RegionView> regions;
  for (const auto& n : numbers(text)) {
    regions.push_back(region(static_cast<std::uint64_t>(n.at(0)), static_cast<Bytes>(n.at(1)),
                             static_cast<NodeId>(n.at(2)), n.at(3)));
  }
  return regions;
}

std::string text_of(const Plan& plan) {
  static constexpr const char* kWhy[] = {"hot", "gather", "room", "exchange", "share"};
  std::string text;
  for (const auto* moves : {&plan.promotions, &plan.demotions})
    for (const Move& move : *moves) {
      std::ostringstream one;
      one << static_cast<double>(move.start) / kMiB << '+'
          << static_cast<double>(move.length) / kMiB << ' ' << move.from << '>' << move.to << ' '
          << kWhy[static_cast<std::size_t>(move.reason)];
      text += (text.empty() ? "" : ", ") + one.str();
    }
  return text;
}

void latencies(std::vector<TierView>& tiers, std::vector<RegionView>&) {
  static constexpr std::uint32_t kNs[] = {90, 145, 275, 340};
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    tiers[t].latency_ns = kNs[t];
    tiers[t].bandwidth_mib = 35 * 1024;
  }
}

const Golden kGolden[] = {
    {"what is hot goes straight to the fastest tier with room", "0:10, 1:10, 2:10, 3:10", "0+2@3 3",
     "0+2 3>0 hot"},
    {"and to the second where the first is full of what is as hot", "0:0, 1:4, 2:0",
     "0+2@0 3, 2+2@2 3", "2+2 2>1 hot"},
    {"what is cold stays, with all the room there is", "0:100, 1:0", "0+2@1 0", ""},
    {"the hottest first when the limit is short", "0:100, 1:0", "0+2@1 1, 2+2@1 3, 4+2@1 2",
     "2+2 1>0 hot", limit(2)},
    {"the limit cuts a region", "0:100, 1:0", "0+8@1 3", "0+5 1>0 hot", limit(5)},
    {"but no huge page", "0:100, 1:0", "0+8@1 3", "0+4 1>0 hot", limit(5),
     [](auto&, auto& regions) { regions[0].leaf_shift = 21; }},
    {"so does the room that there is", "0:3, 1:0", "0+8@1 3", "0+3 1>0 hot"},
    {"the reserve is no room", "0:6/4, 1:0", "0+8@1 3", "0+2 1>0 hot"},
    {"the coldest makes room, to the next tier", "0:0, 1:10, 2:10", "0+2@0 1, 2+2@0 0, 4+2@2 3",
     "4+2 2>0 hot, 2+2 0>1 room"},
    {"where nothing has room two change places", "0:0, 1:0", "0+2@0 0, 2+2@1 3",
     "2+2 1>0 hot, 0+2 0>1 exchange"},
    {"several small ones make room for a large one", "0:0, 1:10", "0+2@0 0, 2+2@0 0, 4+4@1 3",
     "4+4 1>0 hot, 0+2 0>1 room, 2+2 0>1 room"},
    {"of a large one goes what is needed", "0:0, 1:10", "0+8@0 0, 8+2@1 3",
     "8+2 1>0 hot, 0+2 0>1 room"},
    {"within the margin of a bucket nothing changes places", "0:0, 1:10", "0+2@0 2, 2+2@1 2.04",
     ""},
    {"beyond it does", "0:0, 1:10", "0+2@0 2, 2+2@1 2.2", "2+2 1>0 hot, 0+2 0>1 room"},
    {"what may not move neither rises nor falls",
     "0:0, 1:10",
     "0+2@0 0, 2+2@1 3, 4+2@1 2",
     "",
     {},
     [](auto&, auto& regions) { regions[0].movable = regions[1].movable = false; }},
    {"what is elsewhere of a region in the fastest tier is gathered",
     "0:10, 1:10",
     "0+8@0 3",
     "0+8 0>0 gather",
     {},
     [](auto&, auto& regions) { regions[0].away = 2 * kMiB; }},
    {"only what is there needs room",
     "0:2, 1:0",
     "0+8@1 3",
     "0+8 1>0 hot",
     {},
     [](auto&, auto& regions) { regions[0].resident = 2 * kMiB; }},
    {"tier by tier it rises by one", "0:10, 1:10, 2:10", "0+2@2 3", "0+2 2>1 hot",
     [] {
       PolicyParams p;
       p.tier_by_tier = true;
       return p;
     }()},
    {"with latencies known, what is hot still goes straight up",
     "0:10, 1:10, 2:10, 3:10",
     "0+2@3 3",
     "0+2 3>0 hot",
     {},
     latencies},
    {"what saves less than it costs within the horizon stays", "0:10, 1:10", "0+2@1 0.5", "",
     [] {
       PolicyParams p;
       p.horizon = 1;
       return p;
     }(),
     latencies},
    {"within a longer one it moves", "0:10, 1:10", "0+2@1 0.5", "0+2 1>0 hot", {}, latencies},
    {"what chance can explain is no reason",
     "0:0, 1:10",
     "0+2@0 1, 2+2@1 2",
     "",
     {},
     [](auto& tiers, auto& regions) {
       latencies(tiers, regions);
       for (RegionView& r : regions) set_rate(r, 1);
     }},
    {"with more samples the same is one",
     "0:0, 1:10",
     "0+2@0 1, 2+2@1 2",
     "2+2 1>0 hot, 0+2 0>1 room",
     {},
     latencies},
};

TEST(GoldenPlans, AreAsTheirNamesSay) {
  for (const Golden& g : kGolden) {
    std::vector<TierView> tiers = tiers_of(g.tiers);
    std::vector<RegionView> regions = regions_of(g.regions);
    if (g.change != nullptr) g.change(tiers, regions);
    EXPECT_EQ(text_of(make_plan(regions, tiers, g.params)), g.plan) << g.name;
  }
}

}  // namespace
