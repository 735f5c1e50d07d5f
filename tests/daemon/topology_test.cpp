// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "topology/machine.hpp"
#include "topology/numa_balancing.hpp"
#include "topology/process.hpp"
#include "topology/tiers.hpp"
#include "tree.hpp"

namespace hmk {
namespace {

using test::put_four_tiers;
using test::put_node;
using test::put_process;
using test::Tree;

std::vector<int> nodes_of(const std::vector<Tier>& tiers) {
  std::vector<int> nodes(tiers.size());
  std::ranges::transform(tiers, nodes.begin(), &Tier::node);
  return nodes;
}

using Nodes = std::vector<int>;

TEST(IdList, ReadsTheKernelsFormat) {
  EXPECT_EQ(parse_id_list("0-2,7\n"), (std::set<int>{0, 1, 2, 7}));
  EXPECT_EQ(parse_id_list("\n"), std::set<int>{});
  EXPECT_EQ(parse_id_list("3-1,x,-5,0-99999999"), std::set<int>{});
}

TEST(Machine, ReadsNodesMemoryAndHmat) {
  Tree tree;
  put_four_tiers(tree);
  tree.put("proc/zoneinfo",
           "Node 0, zone    DMA32\n  pages free     10\n        min      1\n        high     3\n"
           "Node 0, zone   Normal\n        high     4\n              high:  186\n"
           "Node 2, zone   Normal\n        high     100\n");
  const Machine machine = read_machine(tree.root());
  ASSERT_EQ(machine.nodes.size(), 4u);
  const Node& node = machine.nodes.at(2);
  EXPECT_EQ(node.total_bytes, 262144ull * 1024);
  EXPECT_EQ(node.free_bytes, 131072ull * 1024);
  EXPECT_EQ(node.watermark_bytes, 100u * 4096);
  EXPECT_EQ(machine.nodes.at(0).watermark_bytes, 7u * 4096);
  EXPECT_EQ(node.distance.at(0), 30);
  ASSERT_TRUE(node.access);
  EXPECT_EQ(node.access->latency_ns, 275u);
  EXPECT_EQ(node.access->bandwidth_mib, 35000u);
  EXPECT_EQ(machine.node_of_cpu(1), 0);
  EXPECT_EQ(machine.node_of_cpu(9), -1);
}

TEST(Machine, WithoutSysfsThereAreNoNodes) {
  const Tree tree;
  EXPECT_TRUE(read_machine(tree.root()).nodes.empty());
  EXPECT_TRUE(order_tiers(read_machine(tree.root()), {}).empty());
}

TEST(TierOrder, FollowsLatencyWhenHmatGivesIt) {
  Tree tree;
  tree.put("sys/devices/system/node/online", "0-2\n");
  put_node(tree, {0, "0-3", "10 20 15", 100, 50, 200, 1000});
  put_node(tree, {1, "", "20 10 30", 100, 50, 90, 1000});
  put_node(tree, {2, "", "15 30 10", 100, 50, 150, 1000});
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(nodes_of(order_tiers(machine, {.home = 0})), (Nodes{1, 2, 0}));
  EXPECT_EQ(tier_source(machine, {}), "hmat");
}

TEST(TierOrder, EqualLatencyIsDecidedByBandwidth) {
  Tree tree;
  tree.put("sys/devices/system/node/online", "0-2\n");
  put_node(tree, {0, "0-3", "10 20 20", 100, 50, 90, 1000});
  put_node(tree, {1, "", "20 10 30", 100, 50, 200, 1000});
  put_node(tree, {2, "", "20 30 10", 100, 50, 200, 9000});
  EXPECT_EQ(nodes_of(order_tiers(read_machine(tree.root()), {.home = 0})), (Nodes{0, 2, 1}));
}

TEST(TierOrder, FollowsDistanceWhenANodeHasNoHmat) {
  Tree tree;
  put_four_tiers(tree);
  tree.remove("sys/devices/system/node/node3/access0");
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(nodes_of(order_tiers(machine, {.home = 1})), (Nodes{1, 0, 3, 2}));
  EXPECT_EQ(tier_source(machine, {}), "distance");
}

TEST(TierOrder, IsSeenFromWhereTheProcessRuns) {
  Tree tree;  // two sockets with DRAM (0, 1) and slow memory beside each (2, 3)
  tree.put("sys/devices/system/node/online", "0-3\n");
  put_node(tree, {0, "0-1", "10 20 17 28", 100, 50, 90, 95000, 0});
  put_node(tree, {1, "2-3", "20 10 28 17", 100, 50, 90, 95000, 1, 100});
  put_node(tree, {2, "", "17 28 10 28", 100, 50, 275, 35000, 0});
  put_node(tree, {3, "", "28 17 28 10", 100, 50, 275, 35000, 1});
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(nodes_of(order_tiers(machine, {.home = 0})), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(nodes_of(order_tiers(machine, {.home = 1})), (Nodes{1, 0, 3, 2}));
  EXPECT_EQ(order_tiers(machine, {.home = 0})[1].latency_ns, 180u) << "90 ns, twice as far";
  EXPECT_EQ(order_tiers(machine, {.home = 0})[1].write_latency_ns, 200u);
  EXPECT_EQ(order_tiers(machine, {.home = 0})[0].write_latency_ns, 0u) << "not told";
}

TEST(TierOrder, LeavesOutNodesTheProcessMayNotUseAndThoseWithoutMemory) {
  Tree tree;
  put_four_tiers(tree);
  put_node(tree, {2, "", "30 40 10 20", 0, 0});
  EXPECT_EQ(
      nodes_of(order_tiers(read_machine(tree.root()), {.home = 0, .mems_allowed = {0, 2, 3}})),
      (Nodes{0, 3}));
}

TEST(TierOrder, TheUsersOrderComesFirstButOnlyNodesThatExist) {
  Tree tree;
  put_four_tiers(tree);
  const Machine machine = read_machine(tree.root());
  const TierQuestion question{.home = 0, .mems_allowed = {}, .fixed = {3, 9, 0}};
  EXPECT_EQ(nodes_of(order_tiers(machine, question)), (Nodes{3, 0}));
  EXPECT_EQ(tier_source(machine, question), "config");
}

TEST(TierOrder, FreeBytesLieAboveTheWatermarks) {
  Tree tree;
  put_four_tiers(tree, 1000, 100);
  tree.put("proc/zoneinfo", "Node 0, zone Normal\n high 5\nNode 1, zone Normal\n high 50\n");
  const auto tiers = order_tiers(read_machine(tree.root()), {.home = 0});
  EXPECT_EQ(tiers[0].free_bytes, 80u * 1024);
  EXPECT_EQ(tiers[1].free_bytes, 0u);
}

TEST(Process, KnowsWhoCannotBeManagedAndWhy) {
  Tree tree;
  put_process(tree, 10, "redis (x) server");
  put_process(tree, 11, "kthreadd", 0, 0x00200000);
  put_process(tree, 12, "dead", 0, 0, 'Z');
  EXPECT_EQ(read_process(tree.root(), 10)->comm, "redis (x) server");
  EXPECT_EQ(read_process(tree.root(), 10)->mems_allowed, (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(read_process(tree.root(), 10)->start_time, 22u);
  EXPECT_EQ(read_process(tree.root(), 10)->cpu_ns, (14 + 15) * cpu_tick_ns());
  EXPECT_EQ(read_process(tree.root(), 11).error().line(),
            "PID 11 is a kernel thread and has no memory of its own; give the PID of an "
            "application");
  EXPECT_EQ(read_process(tree.root(), 12).error().line(),
            "PID 12 has ended; give the PID of a running process");
  EXPECT_EQ(read_process(tree.root(), 13).error().line(),
            "PID 13 does not exist; give the PID of a running process (see ps)");
}

TEST(Process, IsAtHomeWhereMostOfItsThreadsRan) {
  Tree tree;
  tree.put("sys/devices/system/node/online", "0-1\n");
  put_node(tree, {0, "0-1", "10 20", 100, 50});
  put_node(tree, {1, "2-3", "20 10", 100, 50});
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(home_node(tree.root(), 10, machine), -1);
  put_process(tree, 10, "app", 0);
  EXPECT_EQ(home_node(tree.root(), 10, machine), 0);
  put_process(tree, 11, "t", 2);
  put_process(tree, 12, "t", 3);
  std::filesystem::copy(tree.root() / "proc/11/task/11", tree.root() / "proc/10/task/11");
  std::filesystem::copy(tree.root() / "proc/12/task/12", tree.root() / "proc/10/task/12");
  EXPECT_EQ(home_node(tree.root(), 10, machine), 1);
}

TEST(Resident, SumsNumaMapsWithEachMappingsPageSize) {
  Tree tree;
  tree.put("proc/10/numa_maps",
           "55d0 default file=/usr/bin/redis mapped=3 N0=3 kernelpagesize_kB=4\n"
           "7f00 default anon=1536 dirty=1536 N0=1024 N3=512 kernelpagesize_kB=4\n"
           "7f80 prefer:1 file=/dev/hugepages/N9=x huge dirty=2 N1=2 kernelpagesize_kB=2048\n"
           "7fff default\n");
  const auto resident = read_resident(tree.root(), 10);
  ASSERT_TRUE(resident);
  EXPECT_EQ(*resident, (std::map<int, std::uint64_t>{
                           {0, 1027 * 4096}, {1, 2ull * 2048 * 1024}, {3, 512 * 4096}}));
  EXPECT_FALSE(read_resident(tree.root(), 11));
}

TEST(Bindings, AreThoseOfTheMappingThatHoldsTheAddress) {
  Tree tree;
  tree.put("proc/10/numa_maps",
           "55d0 default file=/usr/bin/redis mapped=3 N0=3 kernelpagesize_kB=4\n"
           "7f00 bind:0,2-3 anon=1536 N0=1024 N3=512 kernelpagesize_kB=4\n"
           "7f80 prefer:1 anon=1 N1=1 kernelpagesize_kB=4\n"
           "7fa0 bind=static:80 anon=1 N80=1 kernelpagesize_kB=4\n"
           "7fff interleave:0-1\n");
  const auto bindings = read_bindings(tree.root(), 10);
  ASSERT_TRUE(bindings);
  for (const std::uint64_t free : {0x1ul, 0x55d0ul, 0x7efful, 0x7f80ul, 0x7f9ful, 0x7ffful, ~0ul})
    EXPECT_TRUE(may_lie_on(*bindings, free, 1)) << free;
  for (const std::uint64_t bound : {0x7f00ul, 0x7f7ful}) {
    EXPECT_FALSE(may_lie_on(*bindings, bound, 1));
    EXPECT_TRUE(may_lie_on(*bindings, bound, 0));
    EXPECT_TRUE(may_lie_on(*bindings, bound, 3));
  }
  EXPECT_FALSE(may_lie_on(*bindings, 0x7fa0, 8));
  EXPECT_TRUE(may_lie_on(*bindings, 0x7fa0, 80));
  EXPECT_FALSE(read_bindings(tree.root(), 11));
}

TEST(NumaBalancing, CountsSinceTheFirstLookOverThreadsThatComeAndGo) {
  Tree tree;
  const auto put = [&](int tid, unsigned scans, unsigned moved) {
    tree.put("proc/10/task/" + std::to_string(tid) + "/sched", test::sched_text(scans, moved));
  };
  tree.put("proc/sys/kernel/numa_balancing", "1\n");
  put(10, 5, 100);
  put(11, 5, 40);
  NumaBalancing rival;
  rival.look(tree.root(), 10);
  ASSERT_TRUE(rival.seen());
  EXPECT_EQ(rival.seen()->moved_pages, 0u) << "what was before is nobody's concern";
  put(10, 7, 130);
  put(12, 7, 3);
  tree.remove("proc/10/task/11");
  rival.look(tree.root(), 10);
  EXPECT_EQ(rival.seen()->moved_pages, 33u);
  EXPECT_EQ(rival.seen()->scans, 2u);
  EXPECT_TRUE(rival.seen()->is_on);
  tree.put("proc/sys/kernel/numa_balancing", "0\n");
  put(10, 8, 131);
  rival.look(tree.root(), 10);
  EXPECT_FALSE(rival.seen()->is_on);
  EXPECT_EQ(rival.seen()->moved_pages, 33u) << "what was counted stays";
  tree.put("proc/sys/kernel/numa_balancing", "2\n");
  rival.look(tree.root(), 10);
  EXPECT_EQ(rival.seen()->moved_pages, 34u);
  EXPECT_EQ(rival.seen()->scans, 3u);
}

TEST(NumaBalancing, SaysNothingWhereTheKernelDoesNot) {
  Tree tree;
  NumaBalancing rival;
  rival.look(tree.root(), 10);
  EXPECT_FALSE(rival.seen()) << "no NUMA balancing in this kernel";
  tree.put("proc/sys/kernel/numa_balancing", "1\n");
  rival.look(tree.root(), 10);
  EXPECT_FALSE(rival.seen()) << "no such process";
  for (const char* const text : {"", "numa_pages_migrated", "numa_pages_migrated :  x\n"}) {
    tree.put("proc/10/task/10/sched", text);
    rival.look(tree.root(), 10);
    EXPECT_FALSE(rival.seen()) << text;
  }
}

}  // namespace
}  // namespace hmk
