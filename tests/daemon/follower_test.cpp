// SPDX-License-Identifier: MIT
#include "follower.hpp"

#include "app_fixture.hpp"
#include "recorder.hpp"
#include "util/hex.hpp"

namespace hmk::test {
namespace {

using Displaced = policy::Ledger::Displaced;

const RecordedMachine kMachine{{{{0}, 90, 90, 0, 1ull << 30}, {{1, 2}, 230, 230, 0, 4ull << 30}}};
const TierNodes kTiers{{0}, {1, 2}};

/// The second of two mappings of one name: at first in slow memory, then in fast.
TierPlan second_rises() {
  TierPlan plan{{1, "x"}, kMachine, 2, 10'000, 0, 0};
  plan.mappings = {{"anonymous", 1, 8 * kMiB, {{2 * kMiB, 4 * kMiB, {1, 0}}}}};
  return plan;
}

const std::vector<RecordedMapping> kMappings{{64 * kMiB, 66 * kMiB, "anonymous"},
                                             {70 * kMiB, 71 * kMiB, "/usr/bin/x"},
                                             {128 * kMiB, 136 * kMiB, "anonymous"}};

hmk_record region(std::uint64_t mib, std::uint64_t length_mib, int node) {
  hmk_record record{};
  record.start = mib * kMiB;
  record.length = length_mib * kMiB;
  record.resident_pages = static_cast<__u32>(record.length / HMK_PAGE_SIZE);
  record.node = node;
  record.away_node = -1;
  return record;
}

std::vector<Displaced> ask(Follower& follower, std::vector<hmk_record> records,
                           std::uint64_t now_ns, std::uint64_t most = 1ull << 40) {
  const Misplaced found = misplaced(records, follower.wanted(kMappings, now_ns), kTiers, most);
  follower.found(found);
  return found.extents;
}

TEST(Follower, FindsMemoryByNameOrderAndOffset) {
  auto follower = Follower::make(second_rises(), kMachine, kMappings);
  ASSERT_TRUE(follower) << follower.error().line();
  EXPECT_EQ((*follower).found_percent(), 100);
  const auto found = ask(*follower, {region(64, 2, 0), region(128, 8, 0)}, 500);
  ASSERT_EQ(found.size(), 1u) << "of the first mapping of that name the plan says nothing";
  EXPECT_EQ(found[0].start, 130 * kMiB);
  EXPECT_EQ(found[0].length, 4 * kMiB);
  EXPECT_EQ(found[0].bytes, 4 * kMiB);
  EXPECT_EQ(found[0].now, 0);
  EXPECT_EQ(found[0].first, 1);
}

TEST(Follower, ItsClockBeginsWithTheFirstQuestionAndTheLastWindowLasts) {
  auto follower = Follower::make(second_rises(), kMachine, kMappings);
  const std::vector<hmk_record> slow{region(128, 8, 2)};
  EXPECT_TRUE(ask(*follower, slow, 1'000'000).empty()) << "any node of the tier will do";
  EXPECT_TRUE(ask(*follower, slow, 1'009'999).empty());
  EXPECT_EQ((*follower).window(), 0u);
  EXPECT_EQ(ask(*follower, slow, 1'010'000).size(), 1u);
  EXPECT_EQ((*follower).window(), 1u);
  EXPECT_EQ(ask(*follower, slow, 9'000'000).size(), 1u);
  EXPECT_EQ((*follower).misplaced_bytes(), 4 * kMiB);
  EXPECT_TRUE(ask(*follower, {region(128, 8, 0)}, 9'000'000).empty());
}

TEST(Follower, MovesAtMostSoMuchAtATimeInWholeHugePages) {
  auto follower = Follower::make(second_rises(), kMachine, kMappings);
  const auto found = ask(*follower, {region(128, 8, 0)}, 0, 3 * kMiB);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].length, 2 * kMiB);
  EXPECT_EQ(found[0].bytes, 2 * kMiB);
  EXPECT_EQ((*follower).misplaced_bytes(), 4 * kMiB) << "that is told all the same";
}

TEST(Follower, CountsPagesThatLieAway) {
  auto follower = Follower::make(second_rises(), kMachine, kMappings);
  hmk_record mixed = region(128, 8, 1);
  mixed.away_pages = 512;
  mixed.away_node = 0;
  const auto found = ask(*follower, {mixed}, 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, kMiB) << "half of 2 MiB";
  EXPECT_EQ(found[0].now, 0);
}

TEST(Follower, IsNoneForAnotherMachineOrOtherMemory) {
  const auto said = [](const RecordedMachine& machine,
                       const std::vector<RecordedMapping>& mappings) {
    const auto follower = Follower::make(second_rises(), machine, mappings);
    return follower ? "" : follower.error().what;
  };
  RecordedMachine other = kMachine;
  other.tiers[1].latency_ns = 300;
  EXPECT_EQ(said(other, kMappings),
            "the plan is for another machine: its tier 2 is node 1, 2 of 230 ns and 4096 MiB, here "
            "node 1, 2 of 300 ns and 4096 MiB");
  other = kMachine;
  other.tiers[1].total_bytes -= 100 * kMiB;
  EXPECT_EQ(said(other, kMappings), "") << "a boot more or less reserves other memory";
  other.tiers.pop_back();
  EXPECT_EQ(said(other, kMappings), "the plan is for another machine: it has 2 tiers, this one 1");
  EXPECT_EQ(said(kMachine, {{128 * kMiB, 136 * kMiB, "anonymous"}}),
            "the plan is for other memory: the mappings of this process have 0 % of it");
}

class FollowerAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    tree_.put("proc/4711/maps", "0-400000 rw-p 0 00:00 0 [heap]\n");
  }
  /// All of the heap in the slowest tier for a second, then in the fastest.
  std::string plan() {
    TierPlan plan{
        {1, "redis-server"}, machine_of(*app_->find(kPid), around()), 2, 1'000'000'000, 0, 0};
    plan.mappings = {{"[heap]", 0, 4 * kMiB, {{0, 4 * kMiB, {3, 0}}}}};
    return encode(plan);
  }
  Surroundings around() {
    root_ = tree_.root();
    machine_ = read_machine(root_);
    return {machine_, root_, pace_};
  }
  json ask(const std::string& name, const json& args, bool may_change = true) {
    return run_verb(*app_, {name, args, {0, may_change}, 7});
  }
  json load(const std::string& bytes) {
    const std::string hex = to_hex(bytes);
    const std::size_t half = hex.size() / 4 * 2;
    EXPECT_EQ(ask("plan-part", {{"hex", hex.substr(0, half)}})["ok"], true);
    EXPECT_EQ(ask("plan-part", {{"hex", hex.substr(half)}})["ok"], true);
    return ask("plan-load", {{"pid", kPid}});
  }

  Machine machine_;
  std::filesystem::path root_;
  Pace pace_;
};

TEST_F(FollowerAppTest, MovesByThePlanAndNotByThePolicyUntilItIsDropped) {
  start();
  const json loaded = load(plan());
  ASSERT_EQ(loaded["ok"], true) << loaded;
  EXPECT_EQ(loaded["data"]["plans"][0]["found_percent"], 100);
  kernel_.publish(interval(1, {region(0, 0, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "hot, and yet it falls";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 3);
  kernel_.finish(all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 3, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "cold, and yet it rises with the second window";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_EQ(ask("plan-status", json::object())["data"]["plans"][0]["window"], 2);
  EXPECT_EQ(target("stats")["promoted_bytes"], 0);
  kernel_.finish(all_clean);
  run();
  const json why = ask("why", {{"start", 0U}, {"end", 4096U}})["data"]["targets"][0]["decisions"];
  EXPECT_EQ(why.back()["reason"], "the plan that was loaded has it there now");
  EXPECT_EQ(ask("plan-drop", {{"pid", kPid}})["ok"], true);
  kernel_.publish(interval(3, {region(0, 0, 0.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(ask("plan-status", json::object())["data"]["plans"], json::array());
}

TEST_F(FollowerAppTest, RefusesWhatIsNoPlanOrNotForItAndChangesNothing) {
  start();
  EXPECT_EQ(load("nonsense of some length")["error"]["what"], "the plan: is no plan");
  tree_.put("proc/4711/maps", "0-400000 rw-p 0 00:00 0 [stack]\n");
  EXPECT_EQ(load(plan())["error"]["what"],
            "the plan is for other memory: the mappings of this process have 0 % of it");
  EXPECT_EQ(ask("plan-part", {{"hex", "0x"}})["error"]["kind"], "usage");
  EXPECT_EQ(ask("plan-load", {{"pid", 12}})["error"]["what"], "PID 12 is not managed");
  EXPECT_EQ(ask("plan-drop", {{"pid", kPid}})["error"]["what"], "PID 4711 follows no plan");
  EXPECT_EQ(ask("plan-load", {{"pid", kPid}}, false)["ok"], false) << "who may only read";
  EXPECT_EQ(verb("plan-part", {{"hex", "00"}})["ok"], false) << "without a connection";
  EXPECT_FALSE(app_->find(kPid)->follower());
}

TEST_F(FollowerAppTest, APlanEndsWithTheProgram) {
  start();
  ASSERT_EQ(load(plan())["ok"], true);
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  ASSERT_NE(app_->find(kPid), nullptr);
  EXPECT_FALSE(app_->find(kPid)->follower()) << "after exec it is another one";
}

TEST_F(FollowerAppTest, OnlyManagingMoves) {
  config_.mode = Mode::track_only;
  start();
  ASSERT_EQ(load(plan())["ok"], true);
  kernel_.publish(interval(1, {region(0, 0, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(ask("plan-status", json::object())["data"]["plans"][0]["misplaced_bytes"], 2 * kMiB);
}

class KeptPlanTest : public FollowerAppTest {
 protected:
  void SetUp() override {
    FollowerAppTest::SetUp();
    keep_state();
  }
  bool is_kept() const {
    return std::filesystem::exists(tree_.root() / "plans" / (std::to_string(kPid) + ".hmkplan"));
  }
};

TEST_F(KeptPlanTest, ARestartGoesOnWithItWhereItWas) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(load(plan())["ok"], true);
  EXPECT_TRUE(is_kept());
  const std::uint64_t begun = *app_->find(kPid)->follower()->begun_ns();
  restart();
  ASSERT_TRUE(app_->find(kPid)->follower());
  EXPECT_EQ(app_->find(kPid)->follower()->begun_ns(), begun);
  kernel_.publish(interval(2, {region(0, 3, 0.0)}));
  run();
  EXPECT_EQ(ask("plan-status", json::object())["data"]["plans"][0]["window"], 2)
      << "a second after it was loaded, though the first question since the restart";
}

TEST_F(KeptPlanTest, WhatWasDroppedOrIsAnotherProcessFollowsNone) {
  start();
  ASSERT_EQ(load(plan())["ok"], true);
  EXPECT_EQ(ask("plan-drop", {{"pid", kPid}})["ok"], true);
  EXPECT_FALSE(is_kept());
  restart();
  EXPECT_FALSE(app_->find(kPid)->follower());
  ASSERT_EQ(load(plan())["ok"], true);
  put_process(tree_, kPid, "another", 0, 4194304, 'S', 1, 23);
  restart();
  EXPECT_FALSE(app_->find(kPid)->follower()) << "its PID came again";
  EXPECT_FALSE(is_kept());
}

TEST_F(KeptPlanTest, AProgramThatTakesTheProcessOverFollowsNone) {
  start();
  ASSERT_EQ(load(plan())["ok"], true);
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_FALSE(is_kept());
  restart();
  EXPECT_FALSE(app_->find(kPid)->follower()) << "the same PID that began at the same time";
}

TEST_F(KeptPlanTest, WhatCannotBeResumedIsLeftToThePolicy) {
  start();
  ASSERT_EQ(load(plan())["ok"], true);
  tree_.put("plans/4711.hmkplan", "nonsense");
  restart();
  EXPECT_FALSE(app_->find(kPid)->follower());
  tree_.put("proc/sys/kernel/random/boot_id", "boot-2\n");
  restart();
  EXPECT_FALSE(is_kept()) << "the same PID at the same tick of another boot";
}

}  // namespace
}  // namespace hmk::test
