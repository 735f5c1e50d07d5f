// SPDX-License-Identifier: MIT
//
// Every page read instead of samples, where half of the budget pays for that.
#include <gtest/gtest.h>
#include <linux/hmk.h>

#include "run.hpp"

using namespace hmk::sim;
using nlohmann::ordered_json;

namespace {

constexpr Bytes kMemory = 256ull << 20;
// Its pieces of 2 MiB, each cleared once and read three times, 512 pages of 8 ns.
constexpr double kLooksNs = 128 * 4 * 512 * 8.0;

struct Watched {
  const char* scenario = "zipf-pages";
  double budget_percent = 0.3;
  std::uint64_t seed = 1;
  double hot_rate = 1;
  unsigned leaf_shift = 12;
  Bytes bytes = kMemory;
};

ordered_json watch(const Watched& w, std::uint32_t switches) {
  RunOptions options{make_scenario(w.scenario, {.layout = Layout::kScattered,
                                                .seed = w.seed,
                                                .leaf_shift = w.leaf_shift,
                                                .hot_rate = w.hot_rate,
                                                .bytes = w.bytes}),
                     Layout::kScattered,
                     {},
                     0};
  options.means.seed = w.seed;
  options.means.leaf_shift = w.leaf_shift;
  options.means.budget_percent = w.budget_percent;
  options.means.switches = switches;
  return run(options, std::vector<std::string>{"hm-keeper"})[0];
}

/// Percent of an interval of 10 s of which `part` is what all looks take.
double budget_of(double part) {
  return kLooksNs / part / 10e9 * 100;
}

/// With as many samples a page as 4 GiB have at 5 %.
TEST(SimDense, ServesTwiceWhatSamplesDoWhereHotPagesLieAnywhere) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Watched w{.budget_percent = 1.25, .seed = seed, .bytes = 1ull << 30};
    const ordered_json pages = watch(w, HMK_SWITCH_DENSE), samples = watch(w, 0);
    const double by_pages = pages["served"].back(), by_samples = samples["served"].back();
    std::printf("served %.3f of %.3f at %.2f %%, by samples %.3f at %.2f %%\n", by_pages,
                pages["served_best"].get<double>(), pages["profiling_percent"].get<double>(),
                by_samples, samples["profiling_percent"].get<double>());
    EXPECT_GE(by_pages, 2 * by_samples) << seed;
    EXPECT_GE(by_pages, 0.93 * pages["served_best"].get<double>()) << seed;
    EXPECT_LT(pages["profiling_percent"], samples["profiling_percent"]) << seed;
  }
}

/// Windows are the pieces' own: they climb until the pages differ.
TEST(SimDense, ServesAsMuchAtAnyRate) {
  for (const double rate : {0.3, 30.0, 1000.0}) {
    const ordered_json p = watch({.hot_rate = rate}, HMK_SWITCH_DENSE);
    EXPECT_GE(p["served"].back().get<double>(), 0.9 * p["served_best"].get<double>()) << rate;
  }
}

TEST(SimDense, FindsPiecesAndFindsThemAgainWhenTheyJump) {
  for (const unsigned leaf_shift : {12u, 21u}) {
    const ordered_json p = watch(
        {.scenario = "gups-jump", .hot_rate = 30, .leaf_shift = leaf_shift}, HMK_SWITCH_DENSE);
    EXPECT_TRUE(p["intervals"].back()["dense"].get<bool>());
    for (const std::size_t i : {11u, 23u}) {
      EXPECT_GE(p["recall"][i].get<double>(), 0.95) << leaf_shift << ' ' << i;
      EXPECT_GE(p["precision"][i].get<double>(), 0.95) << leaf_shift << ' ' << i;
    }
  }
}

TEST(SimDense, IsOffWhereHalfOfTheBudgetDoesNotPayAndThenNothingDiffers) {
  const Watched poor{.budget_percent = budget_of(0.51)};
  const ordered_json off = watch(poor, HMK_SWITCH_DENSE);
  EXPECT_EQ(off.dump(), watch(poor, 0).dump());
  EXPECT_FALSE(off["intervals"].back()["dense"].get<bool>());
  const ordered_json on = watch({.budget_percent = budget_of(0.49)}, HMK_SWITCH_DENSE);
  EXPECT_TRUE(on["intervals"].back()["dense"].get<bool>());
}

TEST(SimDense, StaysOnUpToThreeQuartersOfTheBudget) {
  const Scenario s = make_scenario("zipf-pages", {.bytes = kMemory});
  const auto keeper = make_hm_keeper({.switches = HMK_SWITCH_DENSE});
  std::uint32_t interval = 0;
  const auto is_on_at = [&](double part) {
    keeper->set_budget(budget_of(part));
    return keeper->step(s.at(0), interval++).dense;
  };
  EXPECT_FALSE(is_on_at(0.6));
  EXPECT_TRUE(is_on_at(0.4));
  EXPECT_TRUE(is_on_at(0.7));
  EXPECT_FALSE(is_on_at(0.8));
  EXPECT_FALSE(is_on_at(0.7));
}

TEST(SimDense, IsOffWithEqualWindowsAndWithMoreReadsThanAByteCounts) {
  const Scenario s = make_scenario("zipf-pages", {.bytes = kMemory});
  for (const Means& means : {Means{.equal_windows = true, .switches = HMK_SWITCH_DENSE},
                             Means{.num_scans = 4, .switches = HMK_SWITCH_DENSE}})
    EXPECT_FALSE(make_hm_keeper(means)->step(s.at(0), 0).dense);
}

TEST(SimDense, KeepsTheBudgetAndIsCharged) {
  for (const double rate : {0.3, 1.0, 1000.0, 1e5}) {
    for (const double percent : {budget_of(0.49), 0.2, 1.0, 5.0}) {
      const ordered_json p = watch({.budget_percent = percent, .hot_rate = rate}, HMK_SWITCH_DENSE);
      const double took = p["profiling_percent"];
      EXPECT_LE(took, percent * 1.0001) << rate;
      // All looks, and to judge and tell as much as another.
      const double least = percent < 0.2 ? 0 : 1.25 * budget_of(1);
      EXPECT_GE(took, least) << rate;
    }
  }
}

/// Of each piece 664 bytes and its part of a node of the array; a pointer to it; one tally.
TEST(SimDense, CountsWhatTheModuleAllocates) {
  const ordered_json p = watch({}, HMK_SWITCH_DENSE);
  const auto& last = p["intervals"].back();
  constexpr std::uint64_t kPieces = 128 * (664 + 576 / 64) + (128 + 128 / 16) * 8;
  constexpr std::uint64_t kTally = 33 * 64 * 4 + 33 * 8 + 33 * 4 + 8 + 2 * 4;
  EXPECT_NEAR(last["dense_bytes"].get<double>(), kPieces + kTally, 8);
  EXPECT_GE(last["state_bytes"].get<std::uint64_t>(), last["dense_bytes"].get<std::uint64_t>());
  const ordered_json without = watch({}, 0);
  EXPECT_EQ(without["intervals"].back()["dense_bytes"], 0);
}

}  // namespace
