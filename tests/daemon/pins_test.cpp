// SPDX-License-Identifier: MIT
#include "config/pins.hpp"

#include "app_fixture.hpp"
#include "misplaced.hpp"
#include "pinned.hpp"

namespace hmk::test {
namespace {

using policy::Wanted;

const Pin kHeap{.process = "redis*", .mapping = "[heap]", .tier = 0};
const Pin kRange{.process = "4711", .start = 0x1000, .end = 0x3000, .tier = 1};

std::string problem_of(const std::string& text) {
  const auto pins = parse_pins(text);
  return pins ? "" : pins.error().line();
}

TEST(Pins, AreReadAndWrittenAlike) {
  const std::string text = "redis*/[heap]=1,4711/0x1000-0x3000=2,a//dev/shm/x=y*=64,b/[anon]=3";
  const auto pins = parse_pins(text);
  ASSERT_TRUE(pins) << pins.error().line();
  ASSERT_EQ((*pins).size(), 4u);
  EXPECT_EQ((*pins)[0], kHeap);
  EXPECT_EQ((*pins)[1], kRange);
  EXPECT_EQ((*pins)[2].mapping, "/dev/shm/x=y*");
  EXPECT_EQ((*pins)[2].tier, 63);
  EXPECT_EQ(pins_text(*pins), text);
  EXPECT_TRUE((*parse_pins("none")).empty());
  EXPECT_TRUE((*parse_pins("")).empty());
  EXPECT_EQ(pins_text({}), "none");
}

TEST(Pins, RefuseWhatNamesNoMemoryAndNoTier) {
  const std::string how =
      "' is not understood; write each as in redis-server/[heap]=1 or 4711/0x7f00000-0x7f80000=1";
  for (const std::string word : {"redis", "redis=1", "/[heap]=1", "redis/=1", "redis/[heap]"})
    EXPECT_EQ(problem_of(word), std::string("'").append(word).append(how));
  for (const std::string word :
       {"redis/[heap]=0", "redis/[heap]=65", "redis/[heap]=", "redis/[heap]=fast"})
    EXPECT_EQ(problem_of(word), "'" + word + "' names no tier; tiers count from 1, the fastest");
}

TEST(Pins, RefuseARangeThatIsNone) {
  for (const std::string range :
       {"0x1000", "0x1000-", "0x1000-0x1000", "0x3000-0x1000", "0x1-0x1000", "0x1000-2000",
        "0x1000-0x2001", "0x-0x1000", "0x1000-0xgg000", "0x1000-0x10000000000000000000",
        "0x1000-0x200000000001000"})
    EXPECT_EQ(problem_of("4711/" + range + "=1"),
              "'" + range +
                  "' is no range of addresses; write START-END in hex, multiples of 0x1000, as in "
                  "0x7f00000-0x7f80000");
  EXPECT_EQ(problem_of("redis/0x1000-0x2000=1"),
            "'redis' is no PID, and addresses are of one process; write the PID, or name the "
            "mapping");
}

TEST(Pins, RefuseTwoThatNameTheSameMemory) {
  EXPECT_EQ(problem_of("redis*/[heap]=1,redis-server/[heap]=2"),
            "'redis*/[heap]=1' and 'redis-server/[heap]=2' name the same memory; remove one of "
            "them");
  for (const char* const text :
       {"a/[heap]=1,a/[heap]=1", "a/[heap]=1,*/[h*=2", "7/0x1000-0x3000=1,7/0x2000-0x4000=2"})
    EXPECT_NE(problem_of(text), "") << text;
  for (const char* const text :
       {"a/[heap]=1,b/[heap]=2", "a/[heap]=1,a/[stack]=2", "7/0x1000-0x3000=1,7/0x3000-0x4000=2",
        "7/0x1000-0x3000=1,8/0x1000-0x3000=2"})
    EXPECT_EQ(problem_of(text), "") << text;
  std::string many;
  for (int i = 0; i < 257; ++i)
    many += std::string(i == 0 ? "" : ",") + "p/m" + std::to_string(i) + "x=1";
  EXPECT_EQ(problem_of(many), "names 257 pins; use at most 256");
}

TEST(Pins, NameProcessesByPidAndCommand) {
  EXPECT_TRUE(is_pin_of(kHeap, 1, "redis-server"));
  EXPECT_FALSE(is_pin_of(kHeap, 1, "valkey"));
  EXPECT_TRUE(is_pin_of(kRange, 4711, "x"));
  EXPECT_FALSE(is_pin_of(kRange, 471, "4711")) << "a number is a PID";
}

TEST(Pins, AreFoundInTheMappingsOfAProcess) {
  const std::vector<RecordedMapping> mappings{
      {0x1000, 0x5000, "[heap]"}, {0x8000, 0x9000, "anonymous"}, {0xa000, 0xb000, "anonymous"}};
  const Pin unnamed{.process = "*", .mapping = "[anon]", .tier = 2};
  const std::vector<Pin> pins{kRange, kHeap, unnamed};
  EXPECT_EQ(pinned_in(pins, 4711, "redis-server", mappings),
            (std::vector<Wanted>{{0x1000, 0x3000, 1, 0},
                                 {0x3000, 0x5000, 0, 1},
                                 {0x8000, 0x9000, 2, 2},
                                 {0xa000, 0xb000, 2, 2}}))
      << "of two that meet the first counts";
  EXPECT_TRUE(pinned_in({&kHeap, 1}, 4711, "java", mappings).empty());
}

TEST(Misplaced, TellsWhatIsThereAndWhatLiesElsewhere) {
  const TierNodes tiers{{0}, {1, 2}};
  const auto record = [](std::uint64_t mib, int node, std::uint32_t pages) {
    hmk_record one{};
    one.start = mib * kMiB;
    one.length = 4 * kMiB;
    one.resident_pages = pages;
    one.node = node;
    one.away_node = -1;
    return one;
  };
  const std::vector records{record(0, 1, 1024), record(4, 0, 512), record(8, 2, 1024)};
  const std::vector<Wanted> wanted{{2 * kMiB, 8 * kMiB, 0, 1}, {8 * kMiB, 12 * kMiB, 1, 0}};
  const auto there = presence_of(records, wanted, tiers, 3);
  ASSERT_EQ(there.size(), 3u);
  EXPECT_EQ(there[0].bytes, 4 * kMiB);
  EXPECT_EQ(there[0].elsewhere_bytes, 0u) << "any node of the tier will do";
  EXPECT_EQ(there[1].bytes, 4 * kMiB);
  EXPECT_EQ(there[1].elsewhere_bytes, 2 * kMiB);
  EXPECT_EQ(there[2].bytes, 0u);
  const std::vector<Wanted> nowhere{{0, 4 * kMiB, 9, 0}};
  EXPECT_EQ(presence_of(records, nowhere, tiers, 1)[0].elsewhere_bytes, 4 * kMiB);
  EXPECT_TRUE(misplaced(records, nowhere, tiers, 1ull << 40).extents.empty());
}

class PinsAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    tree_.put("proc/4711/maps",
              "0-200000 rw-p 0 00:00 0 [heap]\n200000-800000 rw-p 0 00:00 0 [stack]\n");
  }
  void pin(const char* text) { config_.pins = *parse_pins(text); }
  json set(const std::string& text) { return verb("set", {{"key", "pins"}, {"value", text}}); }
  json pins() { return target("status")["pins"]; }
};

TEST_F(PinsAppTest, ColdMemoryRisesBeforeWhatIsHot) {
  pin("redis-server/[heap]=1");
  config_.promote_limit = 2 * kMiB;
  start();
  kernel_.publish(interval(1, {region(0, 3, 0.0), region(2 * kMiB, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u) << "within promote_limit";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 0u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_EQ(pins(), json::array({{{"pin", "redis-server/[heap]=1"},
                                  {"tier", 1},
                                  {"bytes", 2 * kMiB},
                                  {"elsewhere_bytes", 2 * kMiB},
                                  {"no_room_bytes", 0}}}));
  kernel_.finish(all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 0, 0.0), region(2 * kMiB, 3, 3.0)}));
  run();
  EXPECT_EQ(pins()[0]["elsewhere_bytes"], 0);
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "now the others";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 2 * kMiB);
  const json why = data("why", {{"start", 0U}, {"end", 4096U}})["targets"][0];
  EXPECT_EQ(why["decisions"].back()["reason"], "pinned to that tier");
  EXPECT_EQ(why["region"]["pin"], "redis-server/[heap]=1");
  EXPECT_EQ(why["region"]["state"], json::array({"pinned"}));
  const json other = data("why", {{"start", 2 * kMiB}, {"end", 2 * kMiB + 4096}})["targets"][0];
  EXPECT_EQ(other["region"]["pin"], nullptr);
  EXPECT_EQ(target("stats")["pairs"][0]["moved_bytes_by_reason"]["pin"], 2 * kMiB);
}

TEST_F(PinsAppTest, NothingTakesThePlaceOfWhatIsPinned) {
  put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
  pin("4711/0x0-0x200000=1");
  start();
  kernel_.publish(interval(1, {region(0, 0, 0.0), region(2 * kMiB, 1, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty()) << "all that is there is pinned, however cold";
  ASSERT_EQ(set("none")["ok"], true);
  kernel_.publish(interval(2, {region(0, 0, 0.0), region(2 * kMiB, 1, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.size(), 2u) << "one down, one up";
  EXPECT_EQ(pins(), json::array());
}

TEST_F(PinsAppTest, WhatIsHotMakesRoomForThem) {
  put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
  pin("redis-server/[heap]=1");
  start();
  kernel_.publish(interval(1, {region(0, 1, 0.0), region(2 * kMiB, 0, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 2u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 2 * kMiB);
  EXPECT_EQ(kernel_.tickets[0].ranges[1].start, 0u);
  kernel_.finish(all_clean);
  run();
  const json why = data("why", {{"start", 2 * kMiB}, {"end", 2 * kMiB + 4096}})["targets"][0];
  EXPECT_EQ(why["decisions"].back()["reason"], "makes room for pinned memory");
}

TEST_F(PinsAppTest, WhatIsPinnedToASlowTierFallsAndStaysThere) {
  pin("redis-server/[heap]=4");
  start();
  kernel_.publish(interval(1, {region(0, 0, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 3);
  kernel_.finish(all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty()) << "hot, and yet it does not rise";
}

TEST_F(PinsAppTest, MoreThanFitsIsTold) {
  put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
  pin("redis-server/*=1");
  start();
  kernel_.publish(interval(1, {region(0, 0, 0.0), region(2 * kMiB, 3, 0.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(pins()[0]["bytes"], 4 * kMiB);
  EXPECT_EQ(pins()[0]["no_room_bytes"], 2 * kMiB);
  put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 131072, 90, 95000});
  kernel_.publish(interval(2, {region(0, 0, 0.0), region(2 * kMiB, 3, 0.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(pins()[0]["no_room_bytes"], 0);
}

TEST_F(PinsAppTest, CountAtOnceWhenTheyAreSetAndOnlyTrackedWhereNothingMoves) {
  config_.mode = Mode::track_only;
  start();
  kernel_.publish(interval(1, {region(0, 3, 0.0)}));
  run();
  EXPECT_EQ(pins(), json::array());
  ASSERT_EQ(set("redis*/[heap]=1")["ok"], true);
  EXPECT_EQ(pins()[0]["bytes"], 2 * kMiB) << "before the next interval";
  kernel_.publish(interval(2, {region(0, 3, 0.0)}));
  run();
  EXPECT_EQ(pins()[0]["elsewhere_bytes"], 2 * kMiB);
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(target("status")["last_interval"]["planned_promote_bytes"], 2 * kMiB);
}

TEST_F(PinsAppTest, RefuseATierThatIsNotThereAndChangeNothing) {
  pin("redis-server/[heap]=1");
  start();
  const json reply = set("redis-server/[heap]=5");
  EXPECT_EQ(reply["error"]["what"], "pins: 'redis-server/[heap]=5': this machine has 4 tiers");
  EXPECT_EQ(set("redis-server/[heap]")["ok"], false);
  EXPECT_EQ(data("get", {{"keys", {"pins"}}})["values"][0]["value"], "redis-server/[heap]=1");
  EXPECT_EQ(verb("set", {{"key", "tiers"}, {"value", "0,1"}})["ok"], true);
  EXPECT_EQ(set("redis-server/[heap]=3")["ok"], false) << "by the tiers in force";
}

TEST_F(PinsAppTest, CountBeforeALoadedPlan) {
  pin("redis-server/[heap]=1");
  start();
  TierPlan plan{{1, "redis-server"}, {}, 1, 1'000'000'000, 0, 0};
  const Machine machine = read_machine(tree_.root());
  const std::filesystem::path root = tree_.root();
  Pace pace;
  plan.machine = machine_of(*app_->find(kPid), {machine, root, pace});
  plan.mappings = {{"[heap]", 0, 2 * kMiB, {{0, 2 * kMiB, {3}}}},
                   {"[stack]", 0, 6 * kMiB, {{0, 2 * kMiB, {3}}}}};
  app_->find(kPid)->follow(*Follower::make(
      plan, plan.machine, {{0, 2 * kMiB, "[heap]"}, {2 * kMiB, 8 * kMiB, "[stack]"}}));
  kernel_.publish(interval(1, {region(0, 0, 0.0), region(2 * kMiB, 0, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 2 * kMiB) << "the heap stays";
}

}  // namespace
}  // namespace hmk::test
