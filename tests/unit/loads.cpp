// SPDX-License-Identifier: MIT
//
// What `hmkctl measure` makes of a machine's files and of the records of its samples.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <array>
#include <vector>

#include "daemon/tree.hpp"
#include "load_event.hpp"
#include "load_tally.hpp"
#include "node_spans.hpp"
#include "sample_pace.hpp"

namespace hmkctl {
namespace {

const std::string kDevices = "sys/bus/event_source/devices/";

TEST(NodeSpans, AreReadFromZoneinfo) {
  hmk::test::Tree tree;
  tree.put(
      "proc/zoneinfo",
      "Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 1\n  pages free     3840\n"
      "        spanned  4095\n        present  3998\n        managed  3840\n  start_pfn:           "
      "1\n"
      "Node 0, zone   Normal\n  pages free     0\n        spanned  0\n        present  0\n  "
      "start_pfn: 0\n"
      "Node 2, zone  Movable\n  pages free     9\n        spanned  256\n        present  256\n"
      "  start_pfn:           1048576\n");
  const NodeSpans spans = read_node_spans(tree.root());
  EXPECT_EQ(spans.node_of(0xfff), -1) << "before the first page";
  EXPECT_EQ(spans.node_of(0x1000), 0);
  EXPECT_EQ(spans.node_of(0xffffff), 0);
  EXPECT_EQ(spans.node_of(0x1000000), -1) << "4095 pages end here";
  EXPECT_EQ(spans.node_of(0xffffffff), -1);
  EXPECT_EQ(spans.node_of(0x100000000), 2);
  EXPECT_EQ(spans.node_of(0x1000fffff), 2);
  EXPECT_EQ(spans.node_of(0x100100000), -1);
}

TEST(NodeSpans, OfSpansInEachOtherTheInnerOneCounts) {
  const NodeSpans spans({{0x1000, 0x9000, 0}, {0x3000, 0x5000, 1}});
  EXPECT_EQ(spans.node_of(0x2fff), 0);
  EXPECT_EQ(spans.node_of(0x3000), 1);
  EXPECT_EQ(spans.node_of(0x4fff), 1);
  EXPECT_EQ(spans.node_of(0x5000), 0);
}

TEST(NodeSpans, AreEmptyWhereNobodyTells) {
  const hmk::test::Tree tree;
  EXPECT_TRUE(read_node_spans(tree.root()).empty());
  EXPECT_EQ(read_node_spans(tree.root()).node_of(0x1000), -1);
}

/// An Intel server's files, as perf's own tool reads them.
struct Intel : hmk::test::Tree {
  Intel() {
    put("sys/devices/system/cpu/online", "0-3\n");
    put(kDevices + "cpu/type", "4\n");
    put(kDevices + "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    put(kDevices + "cpu/format/event", "config:0-7\n");
    put(kDevices + "cpu/format/umask", "config:8-15\n");
    put(kDevices + "cpu/format/ldlat", "config1:0-15\n");
  }
};

TEST(LoadEvent, OfIntelIsMemLoadsFromAShareOfTheLatencyOn) {
  const Intel tree;
  const auto event = find_load_event(tree.root());
  ASSERT_TRUE(event) << event.error().line();
  EXPECT_EQ(event->name, "cpu/mem-loads");
  EXPECT_EQ(event->type, 4u);
  EXPECT_EQ(event->config, 0x1cdu);
  EXPECT_EQ(event->config1, kLeastLatency);
  EXPECT_FALSE(event->leader);
  EXPECT_EQ(event->cpus, (std::set{0, 1, 2, 3}));
  EXPECT_TRUE(event->can_exclude);
}

TEST(LoadEvent, OfSapphireRapidsHasALeader) {
  Intel tree;
  tree.put(kDevices + "cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
  const auto event = find_load_event(tree.root());
  ASSERT_TRUE(event) << event.error().line();
  EXPECT_EQ(event->leader, 0x8203u);
}

TEST(LoadEvent, OfTwoKindsOfCoresIsThatOfTheFasterOnes) {
  Intel tree;
  for (const char* const file : {"format/event", "format/umask", "format/ldlat"})
    tree.put(kDevices + "cpu_core/" + file, std::string(file) == "format/ldlat" ? "config1:0-15\n"
                                            : std::string(file) == "format/event"
                                                ? "config:0-7\n"
                                                : "config:8-15\n");
  tree.remove(kDevices + "cpu");
  tree.put(kDevices + "cpu_core/type", "4\n");
  tree.put(kDevices + "cpu_core/cpus", "0-1\n");
  tree.put(kDevices + "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
  const auto event = find_load_event(tree.root());
  ASSERT_TRUE(event) << event.error().line();
  EXPECT_EQ(event->name, "cpu_core/mem-loads");
  EXPECT_EQ(event->cpus, (std::set{0, 1}));
}

TEST(LoadEvent, OfAmdIsByOperationsAndMissesOnlyWhereItCan) {
  hmk::test::Tree tree;
  tree.put("sys/devices/system/cpu/online", "0\n");
  tree.put(kDevices + "ibs_op/type", "9\n");
  tree.put(kDevices + "ibs_op/format/cnt_ctl", "config:19\n");
  const auto zen3 = find_load_event(tree.root());
  ASSERT_TRUE(zen3) << zen3.error().line();
  EXPECT_EQ(zen3->config, 1u << 19);
  EXPECT_EQ(zen3->first_period % zen3->granule, 0u);
  EXPECT_FALSE(zen3->can_exclude);
  tree.put(kDevices + "ibs_op/format/l3missonly", "config:16\n");
  EXPECT_EQ(find_load_event(tree.root())->config, (1u << 19) | (1u << 16));
}

TEST(LoadEvent, IsNoneWhereTheFilesAreMissingOrStrange) {
  hmk::test::Tree tree;
  const auto none = find_load_event(tree.root());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("neither the event mem-loads nor ibs_op"), std::string::npos);
  for (const char* const place :
       {"", "config", "config:", "config:9-3", "config:60-64", "config7:0-15", "config1:x-15"}) {
    Intel strange;
    strange.put(kDevices + "cpu/format/ldlat", place);
    EXPECT_FALSE(find_load_event(strange.root())) << place;
  }
}

std::uint64_t source_of(std::uint64_t op, std::uint64_t level, std::uint64_t bits = 0) {
  perf_mem_data_src told{.val = 0};
  told.mem_op = op & 0x1f;
  told.mem_lvl_num = level & 0xf;
  told.mem_lvl = bits & 0x3fff;
  return told.val;
}

const std::uint64_t kFromMemory = source_of(PERF_MEM_OP_LOAD, PERF_MEM_LVLNUM_RAM);

/// Records as the kernel writes them.
class Ring {
 public:
  struct Sample {
    std::uint32_t pid = 7;
    std::uint64_t address = 0, period = 100, cycles = 300, source = kFromMemory;
    std::uint16_t misc = PERF_RECORD_MISC_USER;
  };
  void add(const Sample& sample) {
    put(PERF_RECORD_SAMPLE, sample.misc,
        {sample.pid | std::uint64_t{8} << 32, sample.period, sample.cycles, sample.source,
         sample.address});
  }
  void add_lost(std::uint64_t samples) { put(PERF_RECORD_LOST, 0, {1, samples}); }
  void add_raw(std::uint32_t type, std::uint16_t size) {
    const perf_event_header header{type, 0, size};
    put_bytes(&header, sizeof(header));
  }
  void cut(std::size_t bytes) { bytes_.resize(bytes_.size() - bytes); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void put(std::uint32_t type, std::uint16_t misc, const std::vector<std::uint64_t>& values) {
    const perf_event_header header{
        type, misc, static_cast<std::uint16_t>(sizeof(perf_event_header) + 8 * values.size())};
    put_bytes(&header, sizeof(header));
    put_bytes(values.data(), 8 * values.size());
  }
  void put_bytes(const void* from, std::size_t size) {
    const auto* const at = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), at, at + size);
  }
  std::vector<std::byte> bytes_;
};

constexpr std::uint64_t kOnZero = 0x1000, kOnOne = 0x20000;

LoadTally tally_of(const Ring& ring, std::set<int> pids = {}) {
  LoadTally tally(NodeSpans({{0x1000, 0x10000, 0}, {0x20000, 0x30000, 1}}), std::move(pids));
  tally.take(ring.bytes());
  return tally;
}

TEST(LoadTally, WeighsEachSampleByItsPeriod) {
  Ring ring;
  ring.add({.address = kOnZero, .period = 100, .cycles = 300});
  ring.add({.address = kOnZero, .period = 300, .cycles = 500});
  ring.add({.address = kOnOne, .period = 50, .cycles = 900});
  const LoadTally tally = tally_of(ring);
  EXPECT_EQ(tally.samples(), 3u);
  EXPECT_EQ(tally.nodes().at(0).samples, 2u);
  EXPECT_DOUBLE_EQ(tally.nodes().at(0).loads, 400);
  EXPECT_DOUBLE_EQ(tally.nodes().at(0).cycles / tally.nodes().at(0).loads, 450);
  EXPECT_DOUBLE_EQ(tally.nodes().at(1).loads, 50);
  EXPECT_EQ(tally.broken(), 0u);
}

TEST(LoadTally, CountsWhatMemoryServedAndNothingElse) {
  Ring ring;
  for (const std::uint64_t level : {PERF_MEM_LVLNUM_L1, PERF_MEM_LVLNUM_L3, PERF_MEM_LVLNUM_LFB,
                                    PERF_MEM_LVLNUM_ANY_CACHE, PERF_MEM_LVLNUM_NA})
    ring.add({.address = kOnZero, .source = source_of(PERF_MEM_OP_LOAD, level)});
  ring.add({.address = kOnZero, .source = source_of(PERF_MEM_OP_STORE, PERF_MEM_LVLNUM_RAM)});
  ring.add({.address = kOnZero, .source = source_of(PERF_MEM_OP_LOAD, 0, PERF_MEM_LVL_REM_CCE1)});
  EXPECT_EQ(tally_of(ring).samples(), 0u);
  EXPECT_EQ(tally_of(ring).seen(), 7u) << "each was paid for";
  Ring memory;
  for (const std::uint64_t level : {PERF_MEM_LVLNUM_RAM, PERF_MEM_LVLNUM_PMEM, PERF_MEM_LVLNUM_CXL})
    memory.add({.address = kOnZero, .source = source_of(PERF_MEM_OP_LOAD, level)});
  for (const std::uint64_t bit :
       {PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVL_REM_RAM1, PERF_MEM_LVL_REM_RAM2})
    memory.add({.address = kOnZero,
                .source = source_of(PERF_MEM_OP_LOAD, PERF_MEM_LVLNUM_NA, bit | PERF_MEM_LVL_HIT)});
  EXPECT_EQ(tally_of(memory).samples(), 6u);
}

TEST(LoadTally, LeavesOutOtherProcessesAndTheKernel) {
  Ring ring;
  ring.add({.pid = 7, .address = kOnZero});
  ring.add({.pid = 9, .address = kOnOne});
  ring.add({.pid = 7, .address = kOnZero, .misc = PERF_RECORD_MISC_KERNEL});
  EXPECT_EQ(tally_of(ring, {7}).samples(), 1u);
  EXPECT_EQ(tally_of(ring, {7, 9}).samples(), 2u);
  EXPECT_EQ(tally_of(ring).samples(), 2u);
}

TEST(LoadTally, TellsWhatItCannotPlaceAndWhatWasLost) {
  Ring ring;
  ring.add({.address = 0});
  ring.add({.address = 0x15000});
  ring.add_lost(12);
  ring.add_lost(30);
  const LoadTally tally = tally_of(ring);
  EXPECT_EQ(tally.untold(), 2u);
  EXPECT_EQ(tally.lost(), 42u);
  EXPECT_EQ(tally.samples(), 0u);
}

TEST(LoadTally, PassesOverRecordsOfOtherKinds) {
  Ring ring;
  ring.add_raw(PERF_RECORD_THROTTLE, sizeof(perf_event_header));
  ring.add_raw(PERF_RECORD_SAMPLE, sizeof(perf_event_header));  // of other fields than ours
  ring.add({.address = kOnZero});
  EXPECT_EQ(tally_of(ring).samples(), 1u);
  EXPECT_EQ(tally_of(ring).broken(), 0u);
}

TEST(LoadTally, StopsAtARecordThatIsNone) {
  for (const std::uint16_t size : std::array<std::uint16_t, 3>{0, 7, 64}) {
    Ring ring;
    ring.add({.address = kOnZero});
    ring.add_raw(PERF_RECORD_SAMPLE, size);
    EXPECT_EQ(tally_of(ring).samples(), 1u) << size;
    EXPECT_EQ(tally_of(ring).broken(), 1u) << size;
  }
  Ring ring;
  ring.add({.address = kOnZero});
  ring.add({.address = kOnZero});
  ring.cut(1);
  EXPECT_EQ(tally_of(ring).samples(), 1u);
  EXPECT_EQ(tally_of(ring).broken(), 1u);
}

constexpr double kRound = 1e8;  // ns

TEST(SamplePace, ComesToTheBudgetWhateverTheRate) {
  for (const double loads_per_round : {2e3, 1e6, 1e9}) {
    SamplePace pace(0.005, 20'011, 1);
    double cost = 0;
    for (int round = 0; round < 40; ++round) {
      const auto samples =
          static_cast<std::uint64_t>(loads_per_round / static_cast<double>(pace.period()));
      cost = static_cast<double>(samples) * kSampleCost;
      pace.next(samples, 0, kRound);
    }
    EXPECT_LE(cost, 1.1 * 0.005 * kRound) << loads_per_round;
    if (loads_per_round > 1e6) {
      EXPECT_GE(cost, 0.8 * 0.005 * kRound) << loads_per_round;
    }
  }
}

TEST(SamplePace, ChargesItsOwnTimeAndChangesByFourAtMost) {
  SamplePace pace(0.005, 10'001, 1);
  EXPECT_EQ(pace.next(0, 0, kRound), 2'501u) << "a quarter, and odd";
  EXPECT_EQ(pace.next(1'000'000, 0, kRound), 10'005u) << "four times";
  EXPECT_EQ(pace.next(0, 0.005 * kRound, kRound), 10'005u) << "its own time is all of the budget";
  EXPECT_DOUBLE_EQ(pace.cost_ns(), 1e6 * kSampleCost + 0.005 * kRound);
  SamplePace ibs(0.005, 400'000, 16);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(ibs.next(0, 0, kRound) % 16, 0u);
  EXPECT_GE(ibs.period(), 900u) << "no lower than what a CPU can bear";
}

}  // namespace
}  // namespace hmkctl
