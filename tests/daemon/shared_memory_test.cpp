// SPDX-License-Identifier: MIT
#include "shared_memory.hpp"

#include <cmath>

#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;
using policy::RegionView;

TEST(SharedMappings, AreReadFromMaps) {
  const std::vector<SharedMapping> all = parse_shared_mappings(
      "7f0000000000-7f0000200000 rw-s 00000000 00:01 1024    /dev/zero (deleted)\n"
      "7f0000200000-7f0000400000 rw-p 00000000 00:00 0 \n"
      "7f0000400000-7f0000600000 r--s 00200000 fd:01 77                         /a file\n"
      "7f0000600000-7f0000800000 rw-s 00000000 00:05 9\n");
  EXPECT_EQ(all, (std::vector<SharedMapping>{
                     {0x7f0000000000, 0x7f0000200000, 0, {1, 1024}},
                     {0x7f0000400000, 0x7f0000600000, 0x200000, {(0xfdull << 32) + 1, 77}},
                     {0x7f0000600000, 0x7f0000800000, 0, {5, 9}}}));
}

TEST(SharedMappings, WhatMakesNoSenseIsLeftOut) {
  for (const char* const line :
       {"", "\n", "7f00", "7f0000000000-7f0000200000", "7f0000000000-7f0000200000 rw-s",
        "7f0000000000-7f0000200000 rw-s 0 00:01", "7f0000200000-7f0000000000 rw-s 0 00:01 1",
        "7f0000000000-7f0000000000 rw-s 0 00:01 1", "7f0000000001-7f0000200000 rw-s 0 00:01 1",
        "7f0000000000-7f0000200000 rw-s 1 00:01 1", "7f0000000000-7f0000200000 rw-s 0 0001 1",
        "7f0000000000-7f0000200000 rw-s 0 00:01 x", "7f0000000000-7f0000200000 rws 0 00:01 1",
        "17f0000000000000000-17f0000000200000 rw-s 0 00:01 1"})
    EXPECT_TRUE(parse_shared_mappings(line).empty()) << line;
  EXPECT_EQ(parse_shared_mappings("2000-4000 rw-s 0 00:01 1\n1000-3000 rw-s 0 00:01 1\n").size(),
            1u)
      << "in address order and apart";
}

constexpr SharedObject kPool{1, 1024}, kOtherPool{1, 2048};

/// 2 MiB of huge or base pages, accessed so often a second each; 0: never.
RegionView part(std::uint64_t at_mib, double rate, Bytes resident_mib = 2) {
  RegionView view;
  view.start = at_mib * kMiB;
  view.length = 2 * kMiB;
  view.resident = resident_mib * kMiB;
  view.hi_q16 = view.whi_q16 = rate > 0 ? policy::kOneQ16 : 0;
  view.rate_q8 = static_cast<std::int16_t>(std::lround(256 * std::log2(std::max(rate, 0.01))));
  view.rate_dev_q8 = 64;
  return view;
}

class SharedMemoryTest : public ::testing::Test {
 protected:
  /// `pid` maps the pool, or `object`, at this address.
  void saw(int pid, std::uint64_t at_mib, const std::vector<RegionView>& regions, bool moves = true,
           SharedObject object = kPool, std::uint64_t offset_mib = 0) {
    const std::vector<SharedMapping> mappings = {
        {at_mib * kMiB, (at_mib + 64) * kMiB, offset_mib * kMiB, object}};
    shared_.saw(pid, {.mappings = mappings,
                      .regions = regions,
                      .hotness_max = 3,
                      .cpu = 1e9 * pid,
                      .moves = moves});
  }
  std::vector<RegionView> applied(int pid, std::vector<RegionView> regions) const {
    shared_.apply(pid, regions);
    return regions;
  }
  SharedMemory shared_;
};

TEST_F(SharedMemoryTest, WhatOneAloneMapsStaysAsItIs) {
  const std::vector<RegionView> mine = {part(64, 8)};
  saw(1, 64, mine);
  saw(2, 128, {part(128, 8)}, true, kOtherPool);
  const auto views = applied(1, mine);
  EXPECT_TRUE(views[0].movable);
  EXPECT_EQ(views[0].rate_q8, mine[0].rate_q8);
  EXPECT_FALSE(shared_.is_of_another(1, 64 * kMiB));
  EXPECT_EQ(shared_.cpu_of_others(1), 0);
}

TEST_F(SharedMemoryTest, TheOneThatHasTheMostStandsForAll) {
  const std::vector<RegionView> mine = {part(64, 8), part(66, 0)},
                                its = {part(4, 8, 1), part(6, 24)};
  saw(1, 64, mine);
  saw(2, 4, its);
  const auto views = applied(1, mine);
  EXPECT_TRUE(views[0].movable);
  EXPECT_NEAR(views[0].rate_q8, 256 * std::log2(16), 1) << "8 and 8";
  EXPECT_NEAR(views[1].rate_q8, 256 * std::log2(24), 1) << "seen by the other one only";
  EXPECT_EQ(views[1].whi_q16, policy::kOneQ16);
  EXPECT_NEAR(views[0].whi_q16, 3 * policy::kOneQ16 * (1 - 2 / 3. * 2 / 3.), 1)
      << "a look finds it accessed by either";
  EXPECT_NEAR(views[0].rate_dev_q8, 64 / std::sqrt(2), 1) << "errors of both are independent";
  EXPECT_NEAR(views[1].rate_dev_q8, 64, 1);
  EXPECT_FALSE(applied(2, its)[0].movable);
  EXPECT_FALSE(applied(2, its)[1].movable);
  EXPECT_TRUE(shared_.is_of_another(2, 5 * kMiB));
  EXPECT_FALSE(shared_.is_of_another(1, 65 * kMiB));
  EXPECT_FALSE(shared_.is_of_another(2, 3 * kMiB)) << "outside of it";
  EXPECT_EQ(shared_.cpu_of_others(1), 2e9);
  EXPECT_EQ(shared_.cpu_of_others(2), 0);
}

TEST_F(SharedMemoryTest, RegionsWithOtherBordersAreAveraged) {
  const std::vector<RegionView> mine = {part(64, 1), part(66, 1)};
  saw(1, 64, mine);
  saw(2, 5, {part(5, 12), part(7, 4, 1)}, true, kPool,
      1);  // from 1 MiB on: half of mine, then the rest
  const auto views = applied(1, mine);
  EXPECT_NEAR(views[0].rate_q8, 256 * std::log2(1 + 12 / 2.), 1);
  EXPECT_NEAR(views[1].rate_q8, 256 * std::log2(1 + (12 + 4) / 2.), 1);
}

TEST_F(SharedMemoryTest, NobodyTakesOverForALittleMore) {
  std::vector<RegionView> mine, its;
  for (unsigned i = 0; i < 4; ++i) {
    mine.push_back(part(64 + 2 * i, 1));
    its.push_back(part(4 + 2 * i, 1));
  }
  saw(1, 64, mine);
  saw(2, 4, its);
  its.push_back(part(12, 1));  // 10 and 8 MiB: a quarter more
  saw(2, 4, its);
  saw(1, 64, mine);
  EXPECT_TRUE(applied(1, mine)[0].movable);
  its.push_back(part(14, 1));
  saw(2, 4, its);
  EXPECT_FALSE(applied(1, mine)[0].movable);
  EXPECT_TRUE(applied(2, its)[0].movable);
  shared_.forget(2);
  EXPECT_TRUE(applied(1, mine)[0].movable) << "it has ended";
  EXPECT_FALSE(shared_.is_of_another(1, 64 * kMiB));
}

TEST_F(SharedMemoryTest, WhoOnlyWatchesStandsForNobodyThatMoves) {
  const std::vector<RegionView> mine = {part(64, 1, 1)}, its = {part(4, 7)};
  saw(2, 4, its, false);
  saw(1, 64, mine);
  const auto views = applied(1, mine);
  EXPECT_TRUE(views[0].movable);
  EXPECT_NEAR(views[0].rate_q8, 256 * 3, 1) << "its accesses count";
  EXPECT_FALSE(applied(2, its)[0].movable);
}

TEST_F(SharedMemoryTest, EachClassOfARegionIsAsMuchHotter) {
  std::vector<RegionView> mine = {part(64, 1), part(64, 7)};
  mine[0].page_class = 1;
  mine[1].page_class = 3;
  saw(1, 64, {part(64, 4)});
  saw(2, 4, {part(4, 1, 1)});
  const auto views = applied(1, mine);
  EXPECT_NEAR(views[0].rate_q8, 256 * 1, 1);
  EXPECT_NEAR(views[1].rate_q8, 256 * 3, 1);
}

class SharingOneAppTest : public AppTest {
 protected:
  static constexpr int kOther = 4712;

  void SetUp() override {
    AppTest::SetUp();
    test::put_process(tree_, kOther, "redis-server");
    test::put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 262144, 90, 95000});
    config_.attach = {rule_of_pid(kPid), rule_of_pid(kOther)};
    config_.mode = Mode::manage;
    config_.move_shared = true;
    map(kPid, "00:01 1024");
    map(kOther, "00:01 1024");
  }
  void map(int pid, const std::string& object) {
    tree_.put("proc/" + std::to_string(pid) + "/maps",
              "00000000-00400000 rw-s 00000000 " + object + " /dev/zero (deleted)\n");
  }
  static hmk_record shmem(std::uint64_t at, double whi, std::uint32_t pages = 512) {
    hmk_record record = region(at, 3, whi);
    record.kind = HMK_KIND_SHMEM;
    record.resident_pages = pages;
    return record;
  }
  void publish(std::uint64_t seq, double mine, double its) {
    kernel_.publish(interval(seq, {shmem(0, mine)}));
    run();
    others_[kOther].publish(interval(seq, {shmem(0, its, 64)}));
    run();
  }
};

TEST_F(SharingOneAppTest, OneProcessMovesWhatSeveralMap) {
  start();
  publish(1, 3.0, 3.0);
  publish(2, 3.0, 3.0);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  const json rows = data("why", {{"start", 0u}, {"end", 1u}})["targets"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["region"]["state"], json::array());
  EXPECT_EQ(rows[1]["region"]["state"], json::array({"shared"}));
}

TEST_F(SharingOneAppTest, WhatOnlyAnotherProcessAccessesRisesAllTheSame) {
  start();
  publish(1, 0, 3.0);
  EXPECT_TRUE(kernel_.tickets.empty()) << "nothing of the other one is known yet";
  publish(2, 0, 3.0);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_TRUE(others_[kOther].tickets.empty());
}

TEST_F(SharingOneAppTest, WhoIsLeftMovesIt) {
  start();
  publish(1, 0, 3.0);
  kernel_.tell(HMK_EVENT_GONE, 0);
  tree_.remove("proc/" + std::to_string(kPid));
  run();
  others_[kOther].publish(interval(2, {shmem(0, 3.0, 64)}));
  run();
  EXPECT_EQ(others_[kOther].tickets.size(), 1u);
}

TEST_F(SharingOneAppTest, OtherObjectsAndWithoutSharedEachMovesItsOwn) {
  map(kOther, "00:01 2048");
  start();
  publish(1, 3.0, 3.0);
  EXPECT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(others_[kOther].tickets.size(), 1u);
}

}  // namespace
}  // namespace hmk
