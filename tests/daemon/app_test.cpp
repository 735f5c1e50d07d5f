// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"

#include <csignal>
#include <set>

#include "device/kernel_device.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

/// Counts the same for every process that is watched.
class FakeWaits final : public Waits {
 public:
  Result<void> watch(std::int32_t pid) override {
    watched_.insert(pid);
    return {};
  }
  void forget(std::int32_t pid) override { watched_.erase(pid); }
  std::optional<hmk_waits> read(std::int32_t pid) const override {
    if (!watched_.contains(pid)) return std::nullopt;
    return hmk_waits{.count = 2,
                     .total_ns = 9000,
                     .longest_ns = 8000,
                     .write_faults = 1,
                     .buckets = {1, 0, 0, 1}};
  }

 private:
  std::set<std::int32_t> watched_;
};

TEST_F(AppTest, TellsTheWaitsOfWhatItManagesAndNullWhenNobodyCounts) {
  start();
  EXPECT_TRUE(target("stats")["waits"].is_null());
  FakeWaits waits;
  app_.reset();
  waits_ = &waits;
  start();
  const json told = target("stats")["waits"];
  EXPECT_EQ(told["longest_ns"], 8000);
  EXPECT_EQ(told["buckets"],
            json::parse(R"([{"below_us": 2, "count": 1}, {"below_us": 16, "count": 1}])"));
  EXPECT_TRUE(app_->detach(kPid));
  EXPECT_FALSE(waits.read(kPid));
}

TEST_F(AppTest, PlansButMovesNothingWhenTrackingOnly) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 0, 0.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  const json status = target("status");
  EXPECT_EQ(status["mode"], "track-only");
  EXPECT_EQ(status["last_interval"]["planned_promote_bytes"], 2 * kMiB);
  EXPECT_EQ(status["last_interval"]["promoted_bytes"], 0);
}

TEST_F(AppTest, TellsWhatMovesCouldSaveWhenTrackingOnly) {
  start();
  EXPECT_EQ(target("gain")["text"], "not known before the first interval");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  const json gain = target("gain");
  // The one region could take all of the process's time, which is a tick of 10 ms: 250 of 340 ns.
  EXPECT_EQ(gain["text"], "could save 7.4 ms/s, for 4.6 ms once");
  EXPECT_NEAR(gain["could_save_ns_per_s"], 1e7 * 250 / 340, 1e3);
  EXPECT_EQ(gain["saves_ns_per_s"], 0);
  EXPECT_EQ(gain["spent_ns"], 30'000'000) << "profiling";
  EXPECT_EQ(target("status")["gain"]["text"], gain["text"]);
}

TEST_F(AppTest, WithoutLatenciesAGainIsNoTime) {
  for (const int node : {0, 1, 2, 3})
    tree_.remove("sys/devices/system/node/node" + std::to_string(node) + "/access0");
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(target("gain")["text"],
            "not known: the latencies of the tiers are unknown or not in their order");
  EXPECT_FALSE(target("gain").contains("saves_ns_per_s"));
}

/// A result of so many ns a page.
hmk_range_result took(const hmk_range& range, std::uint64_t ns) {
  hmk_range_result result = test::all_clean(range);
  result.prepare_ns = result.copy_ns = result.pages_clean * ns / 4;
  result.commit_ns = result.pages_clean * ns / 2;
  return result;
}

TEST_F(AppTest, TellsWhatMovesSaveAndCost) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  kernel_.finish([](const hmk_range& range) { return took(range, 1000); });
  run();
  kernel_.publish(interval(2, {region(0, 0, 3.0)}));
  run();
  const json gain = target("gain");
  // 4096 accesses a second, 16 misses each, take 90 ns where they took 340, and both not more than
  // the 10 ms of an interval, on average.
  const double scale = (10 * 15. / 16 + 10) / (4096 * 16e-6 * (340 * 15. / 16 + 90));
  EXPECT_NEAR(gain["saves_ns_per_s"], scale * 4096 * 16 * 250, 1e3);
  EXPECT_NEAR(gain["promised_ns_per_s"], 1e7 * 250 / 340, 1e3);
  EXPECT_NEAR(gain["moves_ns_per_s"], 512 * 1000 / 60., 1) << "over the horizon";
  EXPECT_EQ(gain["profiling_ns_per_s"], 30'000'000);
  ASSERT_EQ(gain["pairs"].size(), 1u);
  EXPECT_EQ(gain["pairs"][0]["from_tier"], 4);
  EXPECT_NEAR(gain["pairs"][0]["huge_page_ns"], 1000. * 512 / (512 + 256), 1);
  EXPECT_TRUE(gain["pairs"][0]["page_ns"].is_null());
  const json decision = data("why", {{"start", 0U}, {"end", 4096U}})["targets"][0]["decisions"][0];
  EXPECT_TRUE(decision["class"].is_null()) << "all pages of the range";
  EXPECT_EQ(decision["promised_ns_per_s"], gain["promised_ns_per_s"]);
  EXPECT_EQ(decision["now"]["saves_ns_per_s"], gain["saves_ns_per_s"]);
}

// Beside forty regions that stay hot one is hot for an interval, another in each: it is promoted
// when it has cooled.
TEST_F(AppTest, TheGovernorSlowsWhatDoesNotPayUntilTheProgramChanges) {
  config_.mode = Mode::manage;
  config_.promote_limit = 64 * kMiB;
  config_.is_governed = true;
  start();
  const auto play = [&](std::uint64_t seq, bool has_jumped) {
    std::vector<hmk_record> records;
    for (std::uint64_t n = 0; n < 40; ++n)
      records.push_back(region(2 * n * kMiB, 0, has_jumped ? 0.0 : 3.0));
    for (std::uint64_t n = 40; n < 60; ++n)
      records.push_back(region(2 * n * kMiB, n < 40 + seq ? 0 : 3, n == 40 + seq ? 3.0 : 0.0));
    kernel_.publish(interval(seq, records));
    run();
    ASSERT_EQ(kernel_.tickets.size(), 1u) << seq;
    kernel_.finish([](const hmk_range& range) { return took(range, 1000); });
    run();
  };
  for (std::uint64_t seq = 1; seq <= policy::Governor::kPatience; ++seq) play(seq, false);
  EXPECT_EQ(target("gain")["promote_limit_divisor"], 1);
  play(policy::Governor::kPatience + 1, false);
  EXPECT_EQ(target("gain")["promote_limit_divisor"], 2);
  EXPECT_TRUE(target("gain")["text"].get<std::string>().ends_with(", promote limit 1/2"));
  for (std::uint64_t seq = 2; seq <= 3; ++seq) {  // one may have been read badly
    EXPECT_EQ(target("gain")["promote_limit_divisor"], 2) << seq;
    play(policy::Governor::kPatience + seq, true);
  }
  EXPECT_EQ(target("gain")["promote_limit_divisor"], 1);
}

TEST_F(AppTest, PromotesTheHotRegionToTheFastestTierWhenManaging) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 3, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 0u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);

  kernel_.finish(test::all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 0, 3.0), region(4 * kMiB, 3, 0.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty()) << "it is where it belongs";
  const json stats = target("stats");
  EXPECT_EQ(stats["promoted_bytes"], 2 * kMiB);
  EXPECT_EQ(stats["pages_clean"], 512);
  ASSERT_EQ(stats["pairs"].size(), 1u);
  const json& pair = stats["pairs"][0];
  EXPECT_EQ(pair["from_tier"], 4);
  EXPECT_EQ(pair["to_tier"], 1);
  EXPECT_EQ(pair["moved_bytes"], 2 * kMiB);
  EXPECT_EQ(pair["moved_bytes_by_reason"]["hot"], 2 * kMiB);
  EXPECT_EQ(pair["ranges"], 1);
  EXPECT_EQ(target("status")["last_interval"]["promoted_bytes"], 2 * kMiB);
}

TEST_F(AppTest, WhatMovedWhileItsIntervalRanIsNotPlannedAgain) {
  config_.mode = Mode::manage;
  config_.promote_limit = 2 * kMiB;
  start();
  const std::vector<hmk_record> before = {region(0, 3, 3.0), region(4 * kMiB, 3, 3.0)};
  kernel_.publish(interval(1, before));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 0u);
  kernel_.now_ns = 2'500'000'000;  // the interval that began at 2 s has counted it where it was
  kernel_.finish(test::all_clean);
  run();
  kernel_.publish(interval(2, before));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 4 * kMiB);
}

TEST_F(AppTest, MakesRoomWhenTheFastestTierIsFull) {
  test::put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
  config_.mode = Mode::manage;
  config_.reserve = 0;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 0, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 2u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 4 * kMiB) << "the demotion first";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1) << "one tier down";
  EXPECT_EQ(kernel_.tickets[0].ranges[1].node, 0);
}

// It lacks a region to them, and another rises.
TEST_F(AppTest, BringsANodeAboveItsWatermarksAsWell) {
  test::put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 4096, 90, 95000});
  tree_.put("proc/zoneinfo", "Node 0, zone   Normal\n        high     1536\n");
  config_.mode = Mode::manage;
  config_.reserve = 0;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 0, 0.0),
                               region(8 * kMiB, 0, 0.0), region(12 * kMiB, 0, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  std::vector<int> nodes;
  for (const hmk_range& range : kernel_.tickets[0].ranges) nodes.push_back(range.node);
  EXPECT_EQ(nodes, (std::vector{1, 0, 1}));
}

TEST_F(AppTest, WhatTheBandwidthHoldsBackIsSentWhenItsTimeHasCome) {
  config_.mode = Mode::manage;
  config_.bandwidth = {{{3, 0}, 100 * kMiB}};
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  kernel_.finish(test::all_clean);
  while (kernel_.tickets.empty() && loop_.run_one_for(std::chrono::seconds(10)) > 0) continue;
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.size(), 1u);
}

TEST_F(AppTest, PausingStopsTheTicketInFlight) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  data("pause");
  EXPECT_EQ(kernel_.cancelled, std::vector{kernel_.tickets[0].cookie});
  data("pause");
  EXPECT_EQ(kernel_.cancelled.size(), 1u);
}

/// Two processes, the second with more of the fastest tier, which is full.
TEST_F(AppTest, ANodeThatComesIsATierAndOneThatGoesIsNone) {
  config_.mode = Mode::manage;
  tree_.put("sys/devices/system/node/online", "1-3\n");
  tree_.remove("sys/devices/system/node/node0");
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
  kernel_.finish(test::all_clean);
  run();
  test::put_four_tiers(tree_);
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_EQ(data("tiers")["tiers"].size(), 4u);
  tree_.put("sys/devices/system/node/online", "0,2-3\n");
  EXPECT_EQ(data("tiers")["tiers"].size(), 3u);
}

TEST_F(AppTest, APinnedRegionIsNotTriedInTheNextInterval) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.finish(test::all_pinned);
  run();
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  kernel_.publish(interval(3, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(target("stats")["refused_bytes"]["pinned"], 2 * kMiB);
}

TEST_F(AppTest, LeavesWhatIsInFlightToTheTicketWhenItPlansAnew) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(target("stats")["plans_replaced"], 1);
}

TEST_F(AppTest, ModeIsSwitchedWhileItRuns) {
  start();
  EXPECT_EQ(data("set", {{"key", "mode"}, {"value", "manage"}})["changed"]["old"], "track-only");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST_F(AppTest, OnlyTheChangedParameterGoesToTheModule) {
  start();
  EXPECT_EQ(kernel_.params.interval_ns, 10'000'000'000u);
  data("set", {{"key", "interval"}, {"value", "500ms"}});
  EXPECT_EQ(kernel_.params.mask, HMK_PARAM_INTERVAL);
  EXPECT_EQ(kernel_.params.interval_ns, 500'000'000u);
}

TEST_F(AppTest, AnAblationGoesToTheModuleAndTheRestIsUntouched) {
  start();
  EXPECT_EQ(kernel_.params.switches, HMK_SWITCH_DENSE);
  EXPECT_EQ(kernel_.params.flush, HMK_FLUSH_ROUND);
  EXPECT_EQ(kernel_.params.weight, 100u);
  data("set", {{"key", "ablation"}, {"value", "fixed-regions,no-budget"}});
  EXPECT_EQ(kernel_.params.mask, HMK_PARAM_SWITCHES);
  EXPECT_EQ(kernel_.params.switches,
            HMK_SWITCH_FIXED_REGIONS | HMK_SWITCH_NO_BUDGET | HMK_SWITCH_DENSE);
  data("set", {{"key", "ablation"}, {"value", "none"}});
  data("set", {{"key", "split_huge"}, {"value", "yes"}});
  data("set", {{"key", "dense"}, {"value", "no"}});
  EXPECT_EQ(kernel_.params.switches, HMK_SWITCH_SPLIT_HUGE);
  data("set", {{"key", "seed"}, {"value", "7"}});
  EXPECT_EQ(kernel_.params.mask, HMK_PARAM_SEED);
  EXPECT_EQ(kernel_.params.seed, 7u);
}

TEST_F(AppTest, EveryPageIsReadOnlyByWindowsThatTellPagesApart) {
  start();
  for (const auto& [key, other, usual] :
       {std::tuple{"windows", "equal", "adaptive"}, std::tuple{"num_scans", "4", "3"}}) {
    data("set", {{"key", key}, {"value", other}});
    EXPECT_TRUE(kernel_.params.mask & HMK_PARAM_SWITCHES) << key;
    EXPECT_FALSE(kernel_.params.switches & HMK_SWITCH_DENSE) << key;
    data("set", {{"key", key}, {"value", usual}});
    EXPECT_TRUE(kernel_.params.switches & HMK_SWITCH_DENSE) << key;
  }
}

TEST(KernelDevice, IsAskedToReadEveryPageOnlyWhereItCan) {
  hmk_info info = test::full_info();
  hmk_params params{};
  params.switches = HMK_SWITCH_DENSE | HMK_SWITCH_SPLIT_HUGE;
  EXPECT_EQ(params_for(info, params).switches, params.switches);
  info.features &= ~(1ull << HMK_FEAT_DENSE);
  EXPECT_EQ(params_for(info, params).switches, HMK_SWITCH_SPLIT_HUGE)
      << "what was asked for by hand is refused, not dropped";
}

TEST_F(AppTest, HotPagesOfARegionRiseAndAllButThePlannerSeeOneRegion) {
  config_.mode = Mode::manage;
  start();
  hmk_record hot = region(0, 3, 3.0), cold = region(0, 3, 0.0);
  hot.leaf_shift = cold.leaf_shift = 12;
  hot.flags = 7 << HMK_RECORD_CLASS_SHIFT;
  cold.flags = 1 << HMK_RECORD_CLASS_SHIFT;
  hot.resident_pages = 12;
  cold.resident_pages = 500;
  kernel_.publish(interval(1, {hot, cold, region(2 * kMiB, 3, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  const hmk_range& range = kernel_.tickets[0].ranges[0];
  EXPECT_EQ(range.flags, HMK_RANGE_CLASS(6) | HMK_RANGE_FROM(3));
  EXPECT_EQ(range.node, 0);
  EXPECT_EQ(range.length, 2 * kMiB);
  const json regions = data("regions")["targets"].at(0)["regions"];
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions.at(0)["resident_bytes"], 2 * kMiB);
  const json status = data("status")["targets"].at(0);
  EXPECT_EQ(status["last_interval"]["regions"], 2);
  EXPECT_EQ(status["tiers"].at(3)["hot_bytes"], 12 * HMK_PAGE_SIZE) << "not the whole region";
  const json why = data("why", {{"start", 0U}, {"end", 4096U}})["targets"].at(0);
  ASSERT_EQ(why["classes"].size(), 2u) << "those of the region at that place";
  EXPECT_EQ(why["classes"][0]["class"], 6);
  EXPECT_EQ(why["classes"][0]["resident_bytes"], 12 * HMK_PAGE_SIZE);
  EXPECT_EQ(why["classes"][0]["tier"], 4);
  EXPECT_EQ(why["classes"][1]["class"], 0);
  ASSERT_EQ(why["decisions"].size(), 1u);
  EXPECT_EQ(why["decisions"][0]["class"], 6);
}

TEST_F(AppTest, WhatIsNotYetReadPageByPageStaysWhereOthersAre) {
  config_.mode = Mode::manage;
  start();
  hmk_record unread = region(2 * kMiB, 3, 3.0), cold = region(0, 3, 0.0);
  unread.leaf_shift = cold.leaf_shift = 12;
  unread.flags = HMK_RECORD_STALE;
  cold.flags = 1 << HMK_RECORD_CLASS_SHIFT;
  kernel_.publish(interval(1, {cold, unread}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  unread.flags = 0;
  kernel_.publish(interval(2, {cold, unread}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u) << "its pages are alike";
}

TEST_F(AppTest, WhatWasNotSampledMovesWhereNothingIsReadPageByPage) {
  config_.mode = Mode::manage;
  start();
  hmk_record unread = region(0, 3, 3.0);
  unread.flags = HMK_RECORD_STALE;
  kernel_.publish(interval(1, {unread}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST_F(AppTest, MovesAreMadeAsTheConfigSays) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.at(0).how.flags, 0u);
  EXPECT_EQ(kernel_.tickets.at(0).how.copy_threads, 0u);
  kernel_.finish(test::all_clean);
  data("set", {{"key", "move"}, {"value", "sync"}});
  data("set", {{"key", "shared"}, {"value", "yes"}});
  data("set", {{"key", "move_bound"}, {"value", "yes"}});
  data("set", {{"key", "copy_threads"}, {"value", "3"}});
  run();
  kernel_.publish(interval(2, {region(8 * kMiB, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.at(0).how.flags, HMK_MOVE_SYNC_COPY | HMK_MOVE_SHARED | HMK_MOVE_BOUND);
  EXPECT_EQ(kernel_.tickets.at(0).how.copy_threads, 3u);
}

TEST_F(AppTest, AModuleThatKnowsNoCopyThreadsIsToldOfOnceAndMovesAllTheSame) {
  std::vector<std::string> said;
  const auto warned = hear_warnings([&](std::string_view text) { said.emplace_back(text); });
  config_.mode = Mode::manage;
  config_.copy_threads = 2;
  info_.features &= ~(1ull << HMK_FEAT_COPY_THREADS);
  start();
  for (std::uint64_t seq = 1; seq < 4; ++seq) {
    kernel_.publish(interval(seq, {region(seq * 8 * kMiB, 3, 3.0)}));
    run();
    ASSERT_EQ(kernel_.tickets.size(), 1u);
    kernel_.finish(test::all_clean);
    run();
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("copy_threads is ignored"), std::string::npos) << said[0];
}

TEST_F(AppTest, WhatHasNothingToGainIsProfiledForLess) {
  config_.mode = Mode::manage;
  start();
  const auto rest = [this](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t seq = first; seq <= last; ++seq) {
      kernel_.publish(interval(seq, {region(0, 0, 0.0)}));
      run();
    }
  };
  rest(1, 8);
  EXPECT_EQ(kernel_.params.mask, HMK_PARAM_BUDGET);
  EXPECT_EQ(kernel_.params.budget_bp, 250u);
  data("set", {{"key", "overhead"}, {"value", "8%"}});
  EXPECT_EQ(kernel_.params.budget_bp, 400u) << "half of what it may be now";
  data("set", {{"key", "governor"}, {"value", "off"}});
  rest(9, 9);
  EXPECT_EQ(kernel_.params.budget_bp, 800u);
}

TEST_F(AppTest, AParameterTheModuleRefusesIsNotKept) {
  start();
  kernel_.refuse_set = EINVAL;
  const json reply = verb("set", {{"key", "interval"}, {"value", "500ms"}});
  EXPECT_EQ(reply["error"]["kind"], "failed");
  EXPECT_EQ(app_->config().interval, Config{}.interval);
}

TEST_F(AppTest, ReloadTakesOverWhatTheFileSaysNow) {
  start();
  file_.config = config_;
  file_.config.interval = std::chrono::milliseconds(500);
  file_.config.mode = Mode::manage;
  file_.config.socket = "/elsewhere";
  const json changed = data("reload")["changed"];
  ASSERT_EQ(changed.size(), 3u) << changed;
  EXPECT_EQ(changed[0], json::parse(R"({"key": "mode", "old": "track-only", "value": "manage",
                                        "takes_effect": "now", "saved": null})"));
  EXPECT_EQ(changed[2]["takes_effect"], "at restart");
  EXPECT_EQ(kernel_.params.mask, HMK_PARAM_INTERVAL);
  EXPECT_EQ(app_->config().interval, std::chrono::milliseconds(500));
  EXPECT_EQ(app_->config().socket, config_.socket) << "read at start only";
  EXPECT_EQ(data("reload")["changed"].size(), 1u) << "the socket alone is left";
}

TEST_F(AppTest, ReloadOfABrokenFileSaysAllAndChangesNothing) {
  start();
  file_.config.mode = Mode::manage;
  file_.problems = {"f.yaml:2: intervall: unknown key", "f.yaml:3: overhead: wrong"};
  const json error = verb("reload")["error"];
  EXPECT_EQ(error["kind"], "failed");
  EXPECT_EQ(error["what"],
            "f.yaml:2: intervall: unknown key\nf.yaml:3: overhead: wrong\nnothing has changed");
  EXPECT_EQ(app_->config().mode, Mode::track_only);
}

TEST_F(AppTest, ReloadThatTheModuleRefusesChangesNothing) {
  start();
  file_.config = config_;
  file_.config.interval = std::chrono::milliseconds(500);
  file_.config.mode = Mode::manage;
  kernel_.refuse_set = EINVAL;
  EXPECT_EQ(verb("reload")["ok"], false);
  EXPECT_EQ(app_->config().mode, Mode::track_only);
  EXPECT_EQ(app_->config().interval, Config{}.interval);
}

TEST_F(AppTest, SighupReloadsAndDoesNotEnd) {
  start();
  file_.config = config_;
  file_.config.mode = Mode::manage;
  std::raise(SIGHUP);
  run();
  EXPECT_FALSE(loop_.stopped());
  EXPECT_EQ(app_->config().mode, Mode::manage);
  file_.problems = {"f.yaml:1: broken"};
  std::raise(SIGHUP);
  run();
  EXPECT_FALSE(loop_.stopped());
  EXPECT_EQ(app_->config().mode, Mode::manage);
}

TEST_F(AppTest, PauseStopsTheClockUntilResumed) {
  config_.mode = Mode::manage;
  start();
  EXPECT_EQ(data("pause")["daemon"]["paused"], true);
  EXPECT_FALSE(kernel_.runs);
  EXPECT_EQ(target("status")["mode"], "paused");
  data("pause");
  EXPECT_EQ(data("resume")["daemon"]["paused"], false);
  EXPECT_TRUE(kernel_.runs);
  EXPECT_EQ(target("status")["mode"], "manage");
}

TEST_F(AppTest, WhatIsAttachedWhilePausedWaitsToo) {
  start();
  data("pause");
  kernel_.runs = true;  // as a new session is
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_.size(), 2u) << "an exec: attached anew";
  EXPECT_FALSE(kernel_.runs);
}

TEST_F(AppTest, ADryRunAsksTheModuleAndMovesNothing) {
  config_.mode = Mode::dry_run;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.nr_checked, 1u);
  EXPECT_TRUE(kernel_.tickets.empty());
  const json status = target("status");
  EXPECT_EQ(status["mode"], "dry-run");
  EXPECT_EQ(status["last_interval"]["planned_promote_bytes"], 2 * kMiB);
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.nr_checked, 2u) << "nothing is in flight";
}

TEST_F(AppTest, TheOrderOfTheTiersIsChangedWhileItRuns) {
  start();
  data("set", {{"key", "tiers"}, {"value", "1,0"}});
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  const json tiers = target("status")["tiers"];
  ASSERT_EQ(tiers.size(), 2u);
  EXPECT_EQ(tiers[0]["nodes"], json({1}));
}

TEST_F(AppTest, MisusedVerbsSayWhatWasMeant) {
  start();
  const auto error = [&](const std::string& name, const json& args) {
    const json reply = verb(name, args);
    EXPECT_EQ(reply["ok"], false) << reply;
    return reply["error"]["kind"].get<std::string>() + ": " +
           reply["error"]["what"].get<std::string>() + "; " +
           reply["error"]["remedy"].get<std::string>();
  };
  EXPECT_EQ(error("statsu", {}), "usage: unknown verb 'statsu'; did you mean 'status'?");
  EXPECT_EQ(error("set", {{"key", "intervall"}, {"value", "1s"}}),
            "usage: unknown key 'intervall'; did you mean 'interval'?");
  EXPECT_EQ(error("set", {{"key", "interval"}, {"value", "10"}}),
            "usage: interval: '10' is a number without unit; write for example 10s, 500ms or 2min");
  EXPECT_EQ(error("set", {{"key", "socket"}, {"value", "/x"}}),
            "usage: key 'socket' is read at start only; change it in hmkd.yaml and restart hmkd");
  EXPECT_EQ(error("detach", {{"pid", 99}}), "failed: PID 99 is not managed; see 'hmkctl status'");
  EXPECT_EQ(error("regions", {{"pid", 99}}),
            "failed: PID 99 is not managed; attach it with 'hmkctl attach 99'");
  for (const json& args : {json{{"key", 1}}, json{{"key", "mode"}}, json{{"value", "manage"}},
                           json{{"key", "mode"}, {"value", {1}}}})
    EXPECT_EQ(verb("set", args)["error"]["kind"], "usage") << args;
  for (const json& args : {json{{"pid", "1"}}, json{{"pid", -1}}, json{{"pid", 1.5}},
                           json{{"pid", 18446744073709551615ull}}, json::object()})
    EXPECT_EQ(verb("attach", args)["error"]["kind"], "usage") << args;
  EXPECT_EQ(verb("regions", {{"limit", "x"}})["error"]["kind"], "usage");
}

TEST_F(AppTest, ReadersMayNotChange) {
  config_.admin_group = "wheel";
  start();
  for (const std::string name : {"set", "attach", "detach", "reload", "pause", "resume"})
    EXPECT_EQ(verb(name, {{"pid", kPid}}, false)["error"],
              json({{"kind", "failed"},
                    {"what", "'" + name + "' changes hmkd and this user may only read"},
                    {"remedy", "run it as root or as a member of the group wheel"}}));
  for (const char* const name : {"status", "tiers", "regions", "stats", "version"})
    EXPECT_EQ(verb(name, json::object(), false)["ok"], true) << name;
}

/// The recorded /proc is of the user who runs the tests.
TEST_F(AppTest, ReadersSeeAddressesOfTheirOwnProcessesOnly) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  const auto as = [&](uid_t user, const std::string& name, const json& args) {
    return run_verb(*app_, {name, args, {user, false}});
  };
  const json at{{"start", 0U}, {"end", 4096U}};
  json at_pid = at;
  at_pid["pid"] = kPid;
  const uid_t owner = ::geteuid(), other = owner + 1;
  EXPECT_EQ(as(owner, "regions", {})["data"]["targets"][0]["regions"].size(), 1u);
  EXPECT_EQ(as(owner, "why", at)["ok"], true);
  EXPECT_EQ(as(other, "regions", json::object())["data"]["targets"], json::array());
  EXPECT_EQ(as(other, "why", at)["ok"], false);
  for (const auto& [name, args] : {std::pair{"regions", json{{"pid", kPid}}}, {"why", at_pid}})
    EXPECT_EQ(as(other, name, args)["error"]["what"],
              "the addresses of PID 4711 are shown to its owner and to those who may change hmkd")
        << name;
  tree_.remove("proc/4711");
  EXPECT_EQ(as(owner, "regions", {{"pid", kPid}})["ok"], false) << "whose it was is not known";
}

TEST_F(AppTest, EndsWhenItsOneTargetEnds) {
  start();
  tree_.remove("proc/" + std::to_string(kPid));
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_TRUE(loop_.stopped());
  EXPECT_FALSE(kernel_.is_open);
}

TEST_F(AppTest, StopsOnSigtermAndLeavesNothingBehind) {
  start();
  ASSERT_TRUE(std::filesystem::exists(config_.socket));
  std::raise(SIGTERM);
  run();
  EXPECT_TRUE(loop_.stopped());
  EXPECT_FALSE(kernel_.is_open);
  app_.reset();
  EXPECT_FALSE(std::filesystem::exists(config_.socket));
}

TEST_F(AppTest, FollowsTheProcessThroughExec) {
  start();
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_, (std::vector<std::int32_t>{kPid, kPid}));
  EXPECT_TRUE(kernel_.is_open);
  EXPECT_FALSE(loop_.stopped());
}

TEST_F(AppTest, AReusedPidIsNotTheSameProcess) {
  start();
  tree_.remove("proc/" + std::to_string(kPid));
  tree_.put("proc/" + std::to_string(kPid) + "/stat",
            "4711 (other) S 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 99 1 1\n");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_.size(), 1u);
  EXPECT_TRUE(loop_.stopped());
}

TEST_F(AppTest, DetachingClosesTheSession) {
  start();
  data("detach", {{"pid", kPid}});
  EXPECT_FALSE(kernel_.is_open);
}

TEST_F(AppTest, OnAKernelThatCannotMoveItOnlyTracks) {
  info_.features = 1ull << HMK_FEAT_SCAN;
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(target("status")["mode"], "track-only");
}

TEST_F(AppTest, WhereNoSecurityModuleCanBeAskedItOnlyTracks) {
  info_.features = 1ull << HMK_FEAT_SCAN | 1ull << HMK_FEAT_MOVE_OWN;
  config_.mode = Mode::manage;
  start();
  EXPECT_EQ(target("status")["mode"], "track-only");
}

TEST_F(AppTest, OfARegionOnlyThePartThatFailedIsLeftAlone) {
  config_.mode = Mode::manage;
  start();
  hmk_record large = region(0, 3, 3.0);
  large.length = 16 * kMiB;
  large.resident_pages = 4096;
  kernel_.publish(interval(1, {large}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  hmk_range_result cancelled{};
  cancelled.error = -ECANCELED;
  kernel_.finish([&](const hmk_range& range) {
    return range.start == 4 * kMiB ? all_pinned(range) : cancelled;
  });
  run();
  kernel_.publish(interval(2, {large}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  std::uint64_t bytes = 0;
  for (const hmk_range& range : kernel_.tickets[0].ranges) {
    bytes += range.length;
    EXPECT_TRUE(range.start + range.length <= 4 * kMiB || range.start >= 8 * kMiB) << range.start;
  }
  EXPECT_EQ(bytes, 12 * kMiB);
  EXPECT_EQ(app_->find(kPid)->stayed().at(3).backed_off_bytes, 4 * kMiB);
}

TEST_F(AppTest, WhatALargeProcessHasIsNotReadFromItsPageTables) {
  tree_.put("proc/4711/numa_maps", "7f00 default N0=256 N3=512 kernelpagesize_kB=4\n");
  start();
  Snapshot large = interval(1, {region(0, 3, 3.0)});
  large.interval.resident_pages = (8ull << 30) / HMK_PAGE_SIZE;
  kernel_.publish(large);
  run();
  EXPECT_EQ(target("status")["tiers"][0]["resident_bytes"], kMiB);
  ++large.interval.seq;
  ++large.interval.resident_pages;
  kernel_.publish(large);
  run();
  EXPECT_EQ(target("status")["tiers"][0]["resident_bytes"], 0);
  EXPECT_EQ(target("status")["tiers"][3]["resident_bytes"], 2 * kMiB);
}

TEST_F(AppTest, StatusShowsTiersAsTheProcessSeesThem) {
  tree_.put("proc/4711/numa_maps", "7f00 default N0=256 N3=512 kernelpagesize_kB=4\n");
  start();
  hmk_record often = region(0, 3, 3.0), seldom = region(4 * kMiB, 0, 1.0);
  often.rate_q8 = 512;  // four times as often
  seldom.rate_q8 = 0;
  kernel_.publish(interval(1, {often, seldom}));
  run();
  const json status = target("status");
  ASSERT_EQ(status["tiers"].size(), 4u);
  EXPECT_EQ(status["tiers"][0]["resident_bytes"], kMiB);
  EXPECT_EQ(status["tiers"][3]["resident_bytes"], 2 * kMiB);
  EXPECT_EQ(status["tiers"][3]["hot_share_percent"], 80.0);
  EXPECT_EQ(status["tiers"][3]["latency_ns"], 340);
  EXPECT_EQ(status["last_interval"]["profiling_percent"], 3.0);
  EXPECT_EQ(status["last_interval"]["budget_percent"], 5.0);
  EXPECT_EQ(data("tiers")["order"]["source"], "hmat");
}

TEST_F(AppTest, RegionsComeHottestFirstAndAsManyAsAsked) {
  start();
  kernel_.publish(
      interval(1, {region(0, 3, 1.0), region(4 * kMiB, 0, 3.0), region(8 * kMiB, 1, 2.0)}));
  run();
  const json rows = data("regions", {{"limit", 2}})["targets"][0]["regions"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["start"], 4 * kMiB);
  EXPECT_EQ(rows[0]["whi"], 3.0);
  EXPECT_EQ(rows[0]["tier"], 1);
  EXPECT_EQ(rows[1]["start"], 8 * kMiB);
  EXPECT_EQ(data("regions", {{"limit", 0}})["targets"][0]["regions"].size(), 3u);
}

TEST_F(AppTest, RegionsComeInTheOrderThatIsAskedFor) {
  start();
  kernel_.publish(
      interval(1, {region(0, 3, 1.0), region(4 * kMiB, 0, 3.0), region(8 * kMiB, 1, 3.0)}));
  run();
  const auto first = [&](const char* order) {
    return data("regions", {{"limit", 1}, {"order", order}})["targets"][0]["regions"][0];
  };
  EXPECT_EQ(first("hotness")["start"], 4 * kMiB);
  EXPECT_EQ(first("hotness")["hot_slow_bytes"], 0) << "it is in tier 1";
  EXPECT_EQ(first("address")["start"], 0);
  EXPECT_EQ(first("tier")["start"], 0);
  EXPECT_EQ(first("hot-slow")["start"], 8 * kMiB);
  EXPECT_EQ(first("hot-slow")["hot_slow_bytes"], 2 * kMiB);
  EXPECT_EQ(verb("regions", {{"order", "heat"}})["error"]["what"],
            "order is none of hotness, hot-slow, size, rate, address, tier");
  EXPECT_EQ(verb("regions", {{"order", 1}})["error"]["kind"], "usage");
}

TEST_F(AppTest, HistoryTellsEachIntervalItsDecisionsAndItsRegions) {
  config_.mode = Mode::manage;
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(8 * kMiB, 0, 0.0)}));
  run();
  kernel_.finish(test::all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 0, 3.0), region(8 * kMiB, 0, 0.0)}));
  run();
  const json history = data("history", {{"pid", kPid}})["target"];
  ASSERT_EQ(history["moments"].size(), 2u);
  const json &before = history["moments"][0], &after = history["moments"][1];
  EXPECT_EQ(before["managed"], true);
  EXPECT_GT(before["tiers"][3]["accesses"], 0.0);
  EXPECT_EQ(before["tiers"][0]["accesses"], 0.0);
  EXPECT_EQ(after["tiers"][0]["accesses"], before["tiers"][3]["accesses"]);
  EXPECT_EQ(after["promoted_bytes"], 2 * kMiB);
  EXPECT_EQ(after["tiers"][0]["resident_bytes"], 4 * kMiB);
  EXPECT_EQ(history["nr_decisions"], 1);
  EXPECT_EQ(history["decisions"][0]["outcome"], "moved");

  const json first = data("history", {{"pid", kPid}, {"age", 1}})["target"];
  EXPECT_EQ(first["seq"], 1);
  EXPECT_EQ(first["regions"][0]["node"], 3);
  EXPECT_EQ(first["regions"][0]["rate"], 8.0) << "4096 accesses of a leaf of 2 MiB, by page";
  EXPECT_TRUE(data("history", {{"pid", kPid}, {"age", 2}})["target"].is_null());
  EXPECT_EQ(verb("history")["error"]["kind"], "usage");
}

TEST_F(AppTest, AManagedPidIsNotAttachedTwice) {
  start();
  EXPECT_EQ(verb("attach", {{"pid", kPid}})["error"]["what"], "PID 4711 is managed already");
}

TEST_F(AppTest, TheOneTargetThatCannotBeAttachedIsAnError) {
  attach_error_ = EPERM;
  app_ = std::make_unique<App>(
      loop_, config_,
      App::Options{.attach = [](std::int32_t, const hmk_params&) -> Result<Session> {
                     return Error{"refused", "", EPERM};
                   },
                   .root = tree_.root(),
                   .ends_with_last_target = true});
  EXPECT_FALSE(app_->start());
}

}  // namespace
}  // namespace hmk
