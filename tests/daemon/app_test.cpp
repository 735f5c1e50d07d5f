// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <sstream>
#include <thread>

#include "control/protocol.hpp"
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
class SharingAppTest : public AppTest {
 protected:
  static constexpr int kOther = 4712;

  void SetUp() override {
    AppTest::SetUp();
    test::put_process(tree_, kOther, "batch");
    test::put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
    config_.attach = {rule_of_pid(kPid), rule_of_pid(kOther)};
    config_.mode = Mode::manage;
    config_.reserve = 0;
  }
  void publish(std::uint64_t seq) {
    kernel_.publish(interval(seq, {region(0, 3, 3.0)}));
    run();
  }
  void publish_other(std::uint64_t seq) {
    others_[kOther].publish(interval(seq, {region(0, 0, 3.0), region(2 * kMiB, 0, 3.0)}));
    run();
  }
};

TEST_F(SharingAppTest, OneTakesOfTheOtherWhatItsWeightGivesIt) {
  start();
  publish(1);
  EXPECT_TRUE(kernel_.tickets.empty()) << "waits to hear of the other";
  publish_other(1);
  ASSERT_EQ(others_[kOther].tickets.size(), 1u);
  ASSERT_EQ(others_[kOther].tickets[0].ranges.size(), 1u);
  EXPECT_EQ(others_[kOther].tickets[0].ranges[0].node, 1);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
}

TEST_F(SharingAppTest, PagesOfARegionThatLieAwayCountWhereTheyLie) {
  start();
  hmk_record mine = region(0, 3, 3.0), fast = region(0, 0, 3.0), slow = region(2 * kMiB, 3, 3.0);
  mine.leaf_shift = fast.leaf_shift = 12;
  slow.away_pages = 256;  // of its 512
  slow.away_node = 0;
  kernel_.publish(interval(1, {mine}));
  run();
  others_[kOther].publish(interval(1, {fast, slow}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].length, kMiB + kMiB / 2) << "half of 3 MiB, not of 2";
}

TEST_F(SharingAppTest, WeightsCapsAndFloorsCountWhileItRuns) {
  start();
  data("set", {{"key", "weights"}, {"value", "batch=9999"}});
  publish(1);
  publish_other(1);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  data("set", {{"key", "weights"}, {"value", "equal"}});
  data("set", {{"key", "floors"}, {"value", "batch/1=4MiB"}});
  publish(2);
  publish_other(2);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  data("set", {{"key", "floors"}, {"value", "none"}});
  data("set", {{"key", "caps"}, {"value", "4711/1=0B"}});
  publish(3);
  publish_other(3);
  EXPECT_TRUE(others_[kOther].tickets.empty());
}

TEST_F(SharingAppTest, WhoLagsIsWaitedForOnce) {
  start();
  publish(1);
  publish_other(1);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  kernel_.finish([](const hmk_range&) { return hmk_range_result{}; });
  run();
  publish(2);
  publish(3);  // its second since: decided without the other
  EXPECT_EQ(target("stats")["planned_promote_bytes"], 4 * kMiB);
}

/// A thread of it: at any time as many ticks behind it as `ticks` says.
void put_thread(test::Tree& tree, int thread, int cpu, int ticks) {
  std::string stat = std::to_string(thread) + " (t) S";
  for (int field = 4; field <= 52; ++field)
    stat += " " + std::to_string(field == 14 ? ticks : field == 39 ? cpu : 0);
  tree.put("proc/4711/task/" + std::to_string(thread) + "/stat", stat + "\n");
}

/// Two sockets, each with DRAM (0, 1) and slow memory (2, 3) of its own.
class TwoSocketsAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    constexpr std::uint64_t kTotalKb = 262144, kFreeKb = 131072;
    tree_.remove("sys/devices/system/node");
    tree_.put("sys/devices/system/node/online", "0-3\n");
    test::put_node(tree_, {0, "0", "10 16 31 38", kTotalKb, kFreeKb, 90, 95000, 0});
    test::put_node(tree_, {1, "1", "16 10 38 31", kTotalKb, kFreeKb, 90, 95000, 1});
    test::put_node(tree_, {2, "", "31 38 10 38", kTotalKb, kFreeKb, 275, 35000, 0});
    test::put_node(tree_, {3, "", "38 31 38 10", kTotalKb, kFreeKb, 275, 35000, 1});
    config_.mode = Mode::manage;
  }
  void ran(int on_0, int on_1) {
    put_thread(tree_, kPid, 0, ticks_[0] += on_0);
    put_thread(tree_, kPid + 1, 1, ticks_[1] += on_1);
  }
  void publish(std::vector<hmk_record> records) {
    kernel_.publish(interval(++seq_, std::move(records)));
    run();
  }
  json tier_nodes() {
    const json status = target("status");
    json nodes = json::array();
    for (const json& tier : status["tiers"]) nodes.push_back(tier["nodes"]);
    return nodes;
  }

  std::array<int, 2> ticks_{};
  std::uint64_t seq_ = 0;
};

TEST_F(TwoSocketsAppTest, MemoryOfAProcessOnBothStaysOnEachAndRisesToTheNearer) {
  ran(50, 50);
  start();
  publish({region(0, 0, 3.0), region(4 * kMiB, 1, 3.0), region(8 * kMiB, 3, 3.0)});
  EXPECT_EQ(tier_nodes(), json::parse("[[0, 1], [2, 3]]"));
  EXPECT_EQ(target("status")["home_nodes"], json({0, 1}));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 8 * kMiB);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
  const json fast = target("status")["tiers"][0];
  EXPECT_EQ(fast["total_bytes"], 512 * kMiB);
  EXPECT_EQ(fast["free_bytes"], 256 * kMiB);
  EXPECT_EQ(data("tiers", {{"pid", kPid}})["tiers"][0]["nodes"], json({0, 1}));
}

TEST_F(TwoSocketsAppTest, AThreadThatMovesChangesNothingBeforeItHasLasted) {
  ran(50, 0);
  start();
  const std::vector<hmk_record> records = {region(0, 0, 3.0), region(4 * kMiB, 0, 3.0)};
  for (unsigned n = 1; n < Homes::kIntervals; ++n) {
    ran(n % 2 == 0 ? 100 : 0, n % 2 == 0 ? 0 : 100);
    publish(records);
    EXPECT_EQ(tier_nodes(), json::parse("[[0], [1], [2], [3]]")) << n;
  }
  EXPECT_TRUE(kernel_.tickets.empty());
  for (unsigned n = 0; n < Homes::kIntervals; ++n) {
    ran(0, 100);
    publish(records);
  }
  EXPECT_EQ(tier_nodes(), json::parse("[[1], [0], [3], [2]]"));
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "and is followed at once, without a new ranking";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
}

TEST_F(TwoSocketsAppTest, SetsOfNodesThatTheMachineLacksChangeNothing) {
  ran(50, 0);
  start();
  data("set", {{"key", "tiers"}, {"value", "[[1, 0], [2, 3]]"}});
  EXPECT_EQ(data("tiers")["order"]["source"], "config");
  const json refused = verb("set", {{"key", "tiers"}, {"value", "[[0, 1], [2, 7]]"}});
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["error"]["what"], "tiers: this machine has no node 7");
  EXPECT_EQ(refused["error"]["remedy"], "name nodes of 0, 1, 2, 3");
  EXPECT_EQ(data("tiers")["tiers"][0]["nodes"], json({0, 1}));
  file_.config = config_;
  file_.config.tiers = {{{0, 9}}};
  EXPECT_EQ(verb("reload")["ok"], false);
  EXPECT_EQ(data("tiers")["tiers"].size(), 2u);
  app_.reset();
  config_.tiers = {{{9}}};
  App app(loop_, config_, {.attach = {}, .root = tree_.root()});
  EXPECT_EQ(app.start().error().line(),
            "tiers: this machine has no node 9; name nodes of 0, 1, 2, 3");
}

TEST_F(TwoSocketsAppTest, WhatMovedBetweenNodesOfOneTierIsOnePairOfTiers) {
  ran(50, 50);
  start();
  publish({region(0, 2, 3.0), region(8 * kMiB, 3, 3.0)});
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.size(), 2u);
  kernel_.finish(test::all_clean);
  run();
  publish({region(0, 0, 3.0), region(8 * kMiB, 1, 3.0)});
  const json pairs = target("stats")["pairs"];
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0]["moved_bytes"], 4 * kMiB);
  EXPECT_EQ(target("gain")["pairs"].size(), 1u);
  const json history = data("history", {{"pid", kPid}})["target"]["moments"];
  EXPECT_EQ(history.back()["tiers"][0]["resident_bytes"], 4 * kMiB);
}

TEST_F(SharingAppTest, BothSeeTheMachineAsItWasWhenTheyWereDecided) {
  start();
  publish(1);
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 1024, 275, 35000});
  publish_other(1);
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 2048, 275, 35000});
  const json status = data("status");
  for (const json& target : status["targets"]) EXPECT_EQ(target["tiers"][2]["free_bytes"], kMiB);
}

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

TEST_F(SharingAppTest, ANodeThatHasGoneForTheOtherTakesNothing) {
  test::put_four_tiers(tree_);
  start();
  publish(1);
  tree_.put("sys/devices/system/node/online", "1-3\n");
  tree_.remove("sys/devices/system/node/node0");
  publish_other(1);
  EXPECT_TRUE(kernel_.tickets.empty() || kernel_.tickets[0].ranges[0].node != 0);
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

class JoiningAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    tree_.put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    config_.mode = Mode::manage;
    config_.join_huge = true;
    config_.is_governed = false;  // by measuring: this process has no CPU time to save
    kernel_.place = [](std::uint64_t) { return 0; };
    collapse_ = [this](std::uint64_t start, std::uint64_t) {
      asked_.insert(start / kMiB);
      return 0;
    };
  }
  /// Hot on the fastest tier, mapped by small entries.
  static hmk_record small(std::uint64_t start) {
    hmk_record record = region(start, 0, 3.0);
    record.leaf_shift = 12;
    return record;
  }
  /// So many intervals, each after what the one before has begun.
  void publish(unsigned intervals, const std::vector<hmk_record>& records) {
    for (; intervals > 0; --intervals) {
      while (app_->find(kPid)->is_joining()) std::this_thread::yield();
      kernel_.publish(interval(++seq_, records));
      run();
    }
    while (app_->find(kPid)->is_joining()) std::this_thread::yield();
  }

  std::set<std::uint64_t> asked_;  ///< MiB
  std::uint64_t seq_ = 0;
};

constexpr std::uint64_t kHugePage = 2 * kMiB;
constexpr unsigned kJoinedAfter = policy::Joins::kSteady;

TEST_F(JoiningAppTest, WhatIsHotAllOverForLongBecomesAHugePageAgain) {
  start();
  publish(kJoinedAfter - 1, {small(0), small(2 * kMiB)});
  EXPECT_TRUE(asked_.empty());
  publish(1, {small(0), small(2 * kMiB)});
  EXPECT_EQ(asked_, (std::set<std::uint64_t>{0, 2}));
  publish(1, {small(0)});
  const json stats = target("stats");
  EXPECT_EQ(stats["huge_joined"], 2);
  EXPECT_EQ(stats["huge_not_joined"]["busy"], 0);
  EXPECT_GT(stats["join_max_ns"], 0);
}

TEST_F(JoiningAppTest, OnlyPrivateMemoryWhosePagesAreAlikeAndKnown) {
  hmk_record shared = small(0), mixed = small(2 * kMiB), stale = small(4 * kMiB);
  shared.kind = HMK_KIND_SHMEM;
  mixed.flags = 3 << HMK_RECORD_CLASS_SHIFT;
  stale.flags = HMK_RECORD_STALE;
  start();
  publish(2 * kJoinedAfter, {shared, mixed, stale, small(6 * kMiB)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{6});
}

TEST_F(JoiningAppTest, WhatTheProgramHasGivenBackIsNotFilledAgain) {
  kernel_.place = [](std::uint64_t at) { return at == kHugePage - HMK_PAGE_SIZE ? -ENOENT : 0; };
  start();
  publish(kJoinedAfter, {small(0), small(2 * kMiB)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{2});
}

TEST_F(JoiningAppTest, NothingIsJoinedWhereNothingMovesOrNobodyWantsIt) {
  config_.mode = Mode::dry_run;
  start();
  publish(kJoinedAfter, {small(0)});
  data("set", {{"key", "mode"}, {"value", "manage"}});
  data("set", {{"key", "join_huge"}, {"value", "no"}});
  publish(kJoinedAfter, {small(0)});
  EXPECT_TRUE(asked_.empty());
  data("set", {{"key", "join_huge"}, {"value", "yes"}});
  publish(kJoinedAfter - 1, {small(0)});
  EXPECT_TRUE(asked_.empty()) << "what was seen before does not count";
  publish(1, {small(0)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{0});
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

/// Rules instead of the one PID; hmkd stays when nobody is managed.
/// A connection that holds a process in a mode, as `hmkctl try` does.
class HoldTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    ends_with_last_target_ = false;
    config_.mode = Mode::manage;
  }
  void connect() {
    fd_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    config_.socket.copy(address.sun_path, config_.socket.size());
    ASSERT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
  }
  void send(const json& request) {
    const std::string line = to_line(request);
    ASSERT_EQ(::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
  }
  void hold(int pid, const char* mode) {
    connect();
    say(pid, mode);
  }
  void say(int pid, const char* mode) { say(json{{"pid", pid}, {"mode", mode}}); }
  void say(const json& args) {
    send({{"verb", "hold"}, {"args", args}});
    run();
    std::array<char, 4096> answer{};
    const ssize_t got = ::recv(fd_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    ASSERT_GT(got, 0);
    answer_ = json::parse(std::string(answer.data(), static_cast<std::size_t>(got)));
  }
  void leave() {
    fd_ = Fd();
    run();
  }

  Fd fd_;
  json answer_;
};

class EventsTest : public HoldTest {
 protected:
  void follow() {
    start();
    connect();
    send({{"verb", "events"}});
    EXPECT_EQ(heard(), std::vector<std::string>{""});  // the answer
  }
  /// The kinds of the lines that have come.
  std::vector<std::string> heard() {
    run();
    std::array<char, 65536> part{};
    const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), MSG_DONTWAIT);
    std::istringstream lines(std::string(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    std::vector<std::string> kinds;
    for (std::string line; std::getline(lines, line);) {
      last_ = json::parse(line);
      kinds.push_back(last_.value("event", ""));
    }
    return kinds;
  }
  json last_;
};

using Kinds = std::vector<std::string>;

TEST_F(EventsTest, ComeAsTheyHappenAndOnceEach) {
  follow();
  data("pause");
  data("resume");
  data("set", {{"key", "mode"}, {"value", "dry-run"}});
  EXPECT_EQ(heard(), (Kinds{"paused", "resumed", "set"}));
  EXPECT_EQ(last_["was"], "manage");
  data("detach", {{"pid", kPid}});
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(heard(), (Kinds{"detached", "attached"}));
  EXPECT_EQ(last_["comm"], "redis-server");
  spdlog::warn("something is wrong\n");
  EXPECT_EQ(heard(), Kinds{"warning"});
  EXPECT_EQ(last_["text"], "something is wrong\\x0a");
  tree_.remove("proc/4711");
  kernel_.tell(HMK_EVENT_GONE, 0);
  EXPECT_EQ(heard(), Kinds{"ended"});
}

TEST_F(EventsTest, AnIntervalThatMovedSomethingIsOneEventAndOthersNone) {
  follow();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  EXPECT_EQ(heard(), Kinds{});
  ASSERT_FALSE(kernel_.tickets.empty());
  kernel_.finish(test::all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 0, 3.0)}));
  EXPECT_EQ(heard(), Kinds{"moved"});
  EXPECT_EQ(last_["promoted_bytes"], 2 * kMiB);
  kernel_.publish(interval(3, {region(0, 0, 3.0)}));
  EXPECT_EQ(heard(), Kinds{});
}

TEST_F(EventsTest, NeedAConnectionAndNoRightToChange) {
  start();
  EXPECT_EQ(verb("events", json::object(), false)["error"]["what"],
            "events come over a connection only");
}

TEST_F(HoldTest, AManagedProcessIsOnlyWatchedAndThenManagedAgain) {
  start();
  hold(kPid, "track-only");
  EXPECT_EQ(answer_["ok"], true) << answer_;
  EXPECT_EQ(target("status")["mode"], "track-only");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  leave();
  EXPECT_EQ(target("status")["mode"], "manage");
  EXPECT_TRUE(kernel_.is_open);
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST_F(HoldTest, WhatMovesWhenItBeginsIsStopped) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  hold(kPid, "track-only");
  EXPECT_EQ(kernel_.cancelled.size(), 1u);
}

TEST_F(HoldTest, OneThatWasNotManagedIsAttachedAndLetGo) {
  config_.attach = {};
  start();
  hold(kPid, "track-only");
  EXPECT_EQ(target("status")["pid"], kPid);
  leave();
  EXPECT_TRUE(data("status")["targets"].empty());
  EXPECT_FALSE(kernel_.is_open);
  config_.attach = {*parse_rule("comm=redis-server")};
  file_ = {config_, {}};
  data("reload");
  EXPECT_EQ(target("status")["pid"], kPid) << "it is not left alone as one detached by hand";
}

TEST_F(HoldTest, TheModeIsKeptOverAnExecAndChangedByTheSameConnection) {
  start();
  hold(kPid, "track-only");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_.size(), 2u);
  EXPECT_EQ(target("status")["mode"], "track-only");
  say(kPid, "dry-run");
  EXPECT_EQ(target("status")["mode"], "dry-run");
}

TEST_F(HoldTest, AProcessThatEndsIsNoLongerHeld) {
  start();
  hold(kPid, "track-only");
  tree_.remove("proc/4711");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_TRUE(data("status")["targets"].empty());
  test::put_process(tree_, kPid, "another", 0, 4194304, 'S', 1, 99);
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(target("status")["mode"], "manage");
  leave();
  EXPECT_EQ(target("status")["mode"], "manage");
}

TEST_F(HoldTest, WhatWasMovedGoesBackWhereItLay) {
  start();
  hold(kPid, "manage");
  EXPECT_EQ(answer_["data"]["target"]["mode"], "manage");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.finish(test::all_clean);
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 2 * kMiB);

  const json back{{"pid", kPid}, {"mode", "track-only"}, {"put_back", true}};
  say(back);
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "at once";
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 3);
  kernel_.finish(test::all_pinned);  // nothing has moved
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 2 * kMiB);
  kernel_.publish(interval(2, {region(0, 0, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "once more at the next interval";
  kernel_.finish(test::all_clean);
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 0);
  kernel_.publish(interval(3, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty()) << "there is nothing left to put back";
  EXPECT_EQ(target("stats")["returned_bytes"], 0) << "that is no thrash";

  say(kPid, "manage");
  kernel_.publish(interval(20, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u) << "and it is promoted again";
}

TEST_F(HoldTest, WhatIsBeingPutBackIsStoppedByAnotherMode) {
  start();
  hold(kPid, "manage");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.finish(test::all_clean);
  run();
  say(json{{"pid", kPid}, {"mode", "track-only"}, {"put_back", true}});
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  leave();
  EXPECT_EQ(kernel_.cancelled.size(), 1u);
  EXPECT_EQ(target("status")["mode"], "manage");
}

TEST_F(HoldTest, OnlyWhatIsWatchedIsPutBack) {
  start();
  hold(kPid, "track-only");
  say(json{{"pid", kPid}, {"mode", "manage"}, {"put_back", true}});
  EXPECT_EQ(answer_["error"]["kind"], "usage");
  say(json{{"pid", kPid}, {"mode", "track-only"}, {"put_back", 1}});
  EXPECT_EQ(answer_["error"]["kind"], "usage");
}

TEST_F(HoldTest, RefusalsSayWhyAndChangeNothing) {
  start();
  hold(kPid, "track-only");
  Fd first = std::move(fd_);
  hold(kPid, "track-only");
  EXPECT_EQ(answer_["error"]["what"], "PID 4711 is being tried by another hmkctl");
  leave();
  EXPECT_EQ(target("status")["mode"], "track-only") << "the first one holds it";
  hold(77, "track-only");
  EXPECT_EQ(answer_["error"]["errno"], ESRCH);
  say(kPid, "fast");
  EXPECT_EQ(answer_["error"]["kind"], "usage");
  data("pause");
  say(kPid, "track-only");
  EXPECT_EQ(answer_["error"]["what"], "hmkd is paused");
}

TEST_F(SharingAppTest, WhatIsOnlyWatchedTakesNoRoomFromWhatIsManaged) {
  start();
  app_->find(kPid)->hold(Mode::track_only);
  publish(1);
  publish_other(1);
  EXPECT_TRUE(others_[kOther].tickets.empty()) << "see OneTakesOfTheOtherWhatItsWeightGivesIt";
}

TEST_F(AppRulesTest, ManagesWhoIsThereAndWhoAppears) {
  start();
  EXPECT_EQ(managed(), json({kPid}));
  EXPECT_EQ(target("status")["rule"], "comm=redis-server");
  test::put_process(tree_, 12, "other");
  test::put_process(tree_, 13, "redis-server");
  app_->find_processes();
  EXPECT_EQ(managed(), json({13, kPid}));
  EXPECT_EQ(attached_, (std::vector<std::int32_t>{kPid, 13}));
}

TEST_F(AppRulesTest, WhoWasDetachedByHandIsLeftAloneUntilItsPidIsAnothers) {
  start();
  data("detach", {{"pid", kPid}});
  app_->find_processes();
  EXPECT_EQ(managed(), json::array());
  test::put_process(tree_, kPid, "redis-server", 0, 4194304, 'S', 1, 99);
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(AppToldTest, LooksAtWhoItIsToldOfAndAtAllWhenSomeWereLost) {
  start();
  for (const int pid : {12, 13, 14}) test::put_process(tree_, pid, "redis-server");
  tell({{13, 99}});
  EXPECT_EQ(managed(), json({13, kPid}));
  tell({{14}});
  EXPECT_EQ(managed(), json({13, 14, kPid})) << "again and again";
  tell(std::nullopt);
  EXPECT_EQ(managed(), json({12, 13, 14, kPid}));
}

TEST_F(AppToldTest, WhoWasDetachedByHandIsLeftAloneUntilItsPidIsAnothers) {
  start();
  data("detach", {{"pid", kPid}});
  tell({{kPid}});
  EXPECT_EQ(managed(), json::array());
  tell({{99}});
  test::put_process(tree_, kPid, "redis-server", 0, 4194304, 'S', 1, 99);
  tell({{kPid}});
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(AppToldTest, WaitsForNobodyWithoutARuleThatNamesOthers) {
  config_.attach = {rule_of_pid(kPid)};
  test::put_process(tree_, 13, "redis-server");
  start();
  tell({{13}});
  EXPECT_TRUE(told_.take()->contains(13)) << "not taken";
  data("set", {{"key", "attach"}, {"value", "comm=redis-server"}});
  test::put_process(tree_, 14, "redis-server");
  tell({{14}});
  EXPECT_EQ(managed(), json({13, 14, kPid}));
}

TEST_F(AppRulesTest, WhoCannotBeAttachedIsTriedOnce) {
  attach_error_ = EPERM;
  start();
  attach_error_ = 0;
  app_->find_processes();
  EXPECT_EQ(managed(), json::array());
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(managed(), json({kPid})) << "by hand it is";
}

TEST_F(AppRulesTest, ChildrenFollowWhereAsked) {
  test::put_process(tree_, 20, "worker", 0, 4194304, 'S', kPid);
  start();
  EXPECT_EQ(managed(), json({kPid}));
  data("set", {{"key", "attach"}, {"value", "comm=redis-server+children"}});
  EXPECT_EQ(managed(), json({20, kPid}));
  test::put_process(tree_, 9, "worker", 0, 4194304, 'S', 20);
  app_->find_processes();
  EXPECT_EQ(managed(), json({9, 20, kPid})) << "and their children";
}

TEST_F(AppRulesTest, AChangedRuleLetsGoOfItsProcessesAndOfNobodyElse) {
  test::put_process(tree_, 12, "other");
  test::put_process(tree_, 13, "third");
  start();
  data("attach", {{"pid", 12}});
  data("set", {{"key", "attach"}, {"value", "comm=th?rd"}});
  EXPECT_EQ(managed(), json({12, 13}));
  data("set", {{"key", "attach"}, {"value", "13,comm=redis-*"}});
  EXPECT_EQ(managed(), json({12, 13, kPid}));
}

TEST_F(AppRulesTest, OneThatCanBeProfiledNoMoreIsLeftAlone) {
  start();
  ASSERT_EQ(managed(), json({kPid}));
  kernel_.tell(HMK_EVENT_STOPPED, HMK_STOPPED_NOTIFIER);
  run();
  EXPECT_EQ(managed(), json::array());
  app_->find_processes();
  EXPECT_EQ(managed(), json::array()) << "nor is it found again by its rule";
}

TEST_F(AppRulesTest, AnExecThatNoRuleNamesIsLetGo) {
  start();
  test::put_process(tree_, kPid, "other");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(managed(), json::array());
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
