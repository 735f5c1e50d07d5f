// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "topology/homes.hpp"
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

/// Of tiers of one node each.
std::vector<int> nodes_of(const std::vector<Tier>& tiers) {
  std::vector<int> nodes;
  for (const Tier& tier : tiers) {
    EXPECT_EQ(tier.nodes.size(), 1u);
    nodes.push_back(tier.nodes.front());
  }
  return nodes;
}

using Sets = std::vector<std::vector<int>>;

Sets sets_of(const std::vector<Tier>& tiers) {
  Sets sets;
  for (const Tier& tier : tiers) sets.push_back(tier.nodes);
  return sets;
}

using Nodes = std::vector<int>;

TEST(IdList, ReadsTheKernelsFormat) {
  EXPECT_EQ(parse_id_list("0-2,7\n"), (std::set<int>{0, 1, 2, 7}));
  EXPECT_EQ(parse_id_list("\n"), std::set<int>{});
  EXPECT_EQ(parse_id_list("3-1,x,-5,0-99999999"), std::set<int>{});
}

TEST(Machine, ANodeHasRoomAboveItsWatermarksOrLacksIt) {
  Node node;
  node.watermark_bytes = 8192;
  for (const std::uint64_t free : {0, 4096, 8192, 12288}) {
    node.free_bytes = free;
    EXPECT_EQ(usable_free(node), free > 8192 ? 4096u : 0u);
    EXPECT_EQ(below_watermarks(node), 8192 - std::min<std::uint64_t>(free, 8192));
  }
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
  EXPECT_EQ(usable_free(node), node.free_bytes - 100ull * 4096);
  EXPECT_EQ(below_watermarks(node), 0u);
  EXPECT_EQ(node.distance.at(0), 30);
  ASSERT_TRUE(node.access);
  EXPECT_EQ(node.access->latency_ns, 275u);
  EXPECT_EQ(node.access->bandwidth_mib, 35000u);
  EXPECT_EQ(machine.node_of_cpu(1), 0);
  EXPECT_EQ(machine.node_of_cpu(9), -1);
}

// Node 0 as a machine of 256 GiB shows it, in MiB: of its 2,700 below 4 GiB the kernel keeps 1,008
// from movable pages, of the 15 below 16 MiB all. No zone without memory counts, though it has
// watermarks.
TEST(Machine, WhatZonesKeepForOthersIsNoRoom) {
  const auto zone = [](const char* name, std::uint64_t free, std::uint64_t high,
                       std::uint64_t managed, std::uint64_t last) {
    const auto pages = [](std::uint64_t mib) { return std::to_string(mib * 256); };
    return std::string("Node 0, zone ") + name + "\n  pages free     " + pages(free) +
           "\n        boost    0\n        min      0\n        low      0\n        high     " +
           pages(high) + "\n        present  9\n        managed  " + pages(managed) +
           "\n        protection: (0, 0, 7, " + pages(last) + ", " + pages(last) +
           ")\n              high:  186\n";
  };
  Tree tree;
  put_four_tiers(tree);
  tree.put("proc/zoneinfo", zone("DMA", 15, 0, 15, 3000) + zone("DMA32", 1900, 4, 2700, 1008) +
                                zone("Normal", 200, 250, 258048, 0) + zone("Movable", 0, 1, 0, 0));
  EXPECT_EQ(read_machine(tree.root()).nodes.at(0).watermark_bytes, (15 + 4 + 1008 + 250) << 20);
}

// As kswapd and fallbacks of pages from one kind to another raise and lower them.
TEST(Machine, WatermarksAreReadAnewAlone) {
  Tree tree;
  put_four_tiers(tree);
  Machine machine = read_machine(tree.root());
  for (const unsigned high : {100, 612, 100}) {
    tree.put("proc/zoneinfo",
             "Node 2, zone   Normal\n        high     " + std::to_string(high) + "\n");
    put_node(tree, {2, "", "30 40 10 20", 262144, high, 275, 35000});
    renew_watermarks(machine, tree.root());
    EXPECT_EQ(machine.nodes.at(2).watermark_bytes, high * 4096);
    EXPECT_EQ(machine.nodes.at(2).free_bytes, 131072ull * 1024);
  }
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
  EXPECT_EQ(nodes_of(order_tiers(machine, {.homes = {0}})), (Nodes{1, 2, 0}));
  EXPECT_EQ(tier_source(machine, {}), "hmat");
}

TEST(TierOrder, EqualLatencyIsDecidedByBandwidth) {
  Tree tree;
  tree.put("sys/devices/system/node/online", "0-2\n");
  put_node(tree, {0, "0-3", "10 20 20", 100, 50, 90, 1000});
  put_node(tree, {1, "", "20 10 30", 100, 50, 200, 1000});
  put_node(tree, {2, "", "20 30 10", 100, 50, 200, 9000});
  EXPECT_EQ(nodes_of(order_tiers(read_machine(tree.root()), {.homes = {0}})), (Nodes{0, 2, 1}));
}

TEST(TierOrder, FollowsDistanceWhenANodeHasNoHmat) {
  Tree tree;
  put_four_tiers(tree);
  tree.remove("sys/devices/system/node/node3/access0");
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(nodes_of(order_tiers(machine, {.homes = {1}})), (Nodes{1, 0, 3, 2}));
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
  EXPECT_EQ(nodes_of(order_tiers(machine, {.homes = {0}})), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(nodes_of(order_tiers(machine, {.homes = {1}})), (Nodes{1, 0, 3, 2}));
  EXPECT_EQ(order_tiers(machine, {.homes = {0}})[1].latency_ns, 180u) << "90 ns, twice as far";
  EXPECT_EQ(order_tiers(machine, {.homes = {0}})[1].write_latency_ns, 200u);
  EXPECT_EQ(order_tiers(machine, {.homes = {0}})[0].write_latency_ns, 0u) << "not told";
}

TEST(TierOrder, LeavesOutNodesTheProcessMayNotUseAndThoseWithoutMemory) {
  Tree tree;
  put_four_tiers(tree);
  put_node(tree, {2, "", "30 40 10 20", 0, 0});
  EXPECT_EQ(
      nodes_of(order_tiers(read_machine(tree.root()), {.homes = {0}, .mems_allowed = {0, 2, 3}})),
      (Nodes{0, 3}));
}

TEST(TierOrder, TheUsersOrderComesFirstButOnlyNodesThatExist) {
  Tree tree;
  put_four_tiers(tree);
  const Machine machine = read_machine(tree.root());
  const TierQuestion question{.homes = {0}, .mems_allowed = {}, .fixed = {{{3}}, {{9}}, {{0}}}};
  EXPECT_EQ(nodes_of(order_tiers(machine, question)), (Nodes{3, 0}));
  EXPECT_EQ(tier_source(machine, question), "config");
}

TEST(TierOrder, FreeBytesLieAboveTheWatermarks) {
  Tree tree;
  put_four_tiers(tree, 1000, 100);
  tree.put("proc/zoneinfo", "Node 0, zone Normal\n high 5\nNode 1, zone Normal\n high 50\n");
  const auto tiers = order_tiers(read_machine(tree.root()), {.homes = {0}});
  EXPECT_EQ(tiers[0].free_bytes, 80u * 1024);
  EXPECT_EQ(tiers[1].free_bytes, 0u);
}

/// Two sockets with DRAM (0, 1) and slow memory beside each (2, 3), as configs/lab/four-tier.yaml.
void put_two_sockets(Tree& tree) {
  tree.put("sys/devices/system/node/online", "0-3\n");
  put_node(tree, {0, "0", "10 16 31 38", 100, 50, 90, 95000, 0});
  put_node(tree, {1, "1", "16 10 38 31", 100, 40, 90, 95000, 1, 100});
  put_node(tree, {2, "", "31 38 10 38", 300, 50, 275, 35000, 0});
  put_node(tree, {3, "", "38 31 38 10", 300, 50, 275, 35000, 1});
}

TEST(TierSets, FromOneSocketThereAreFourFromBothTwo) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  EXPECT_EQ(sets_of(order_tiers(machine, {.homes = {0}})), (Sets{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(sets_of(order_tiers(machine, {.homes = {1}})), (Sets{{1}, {0}, {3}, {2}}));
  const std::vector<Tier> both = order_tiers(machine, {.homes = {0, 1}});
  ASSERT_EQ(sets_of(both), (Sets{{0, 1}, {2, 3}}));
  EXPECT_EQ(both[0].latency_ns, (90u + 90 * 16 / 10) / 2);
  EXPECT_EQ(both[0].bandwidth_mib, 2 * 95000u);
  EXPECT_EQ(both[0].total_bytes, 200u * 1024);
  EXPECT_EQ(both[0].free_bytes, 90u * 1024);
  EXPECT_EQ(tier_of_node(both, 3), 1);
  EXPECT_EQ(tier_of_node(both, 4), -1);
}

TEST(TierSets, AllNodesAreInExactlyOneTierAndItsFiguresAreTheirSums) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  for (const std::set<int>& homes : {std::set<int>{}, {0}, {1}, {0, 1}}) {
    std::set<int> nodes;
    std::uint64_t total = 0, free = 0;
    for (const Tier& tier : order_tiers(machine, {.homes = homes})) {
      for (const int node : tier.nodes) EXPECT_TRUE(nodes.insert(node).second);
      total += tier.total_bytes;
      free += tier.free_bytes;
    }
    EXPECT_EQ(nodes, (std::set<int>{0, 1, 2, 3}));
    EXPECT_EQ(total, 800u * 1024);
    EXPECT_EQ(free, 190u * 1024);
  }
}

TEST(TierSets, AClassEndsAFifthAboveItsFastest) {
  for (const unsigned latency : {120u, 121u}) {
    Tree tree;
    tree.put("sys/devices/system/node/online", "0-2\n");
    put_node(tree, {0, "0", "10 20 20", 100, 50, 100, 1000});
    put_node(tree, {1, "", "20 10 20", 100, 50, latency, 1000});
    put_node(tree, {2, "", "20 20 10", 100, 50, 144, 1000});  // a fifth above the second
    EXPECT_EQ(sets_of(order_tiers(read_machine(tree.root()), {.homes = {0}})),
              latency == 120 ? (Sets{{0, 1}, {2}}) : (Sets{{0}, {1, 2}}));
  }
}

TEST(TierSets, AlikeInLatencyButNotInBandwidthIsNotOneClass) {
  for (const unsigned bandwidth : {2000u, 2001u}) {
    Tree tree;
    tree.put("sys/devices/system/node/online", "0-1\n");
    put_node(tree, {0, "0", "10 20", 100, 50, 100, 1000});
    put_node(tree, {1, "", "20 10", 100, 50, 105, bandwidth});
    EXPECT_EQ(order_tiers(read_machine(tree.root()), {.homes = {0}}).size(),
              bandwidth == 2000 ? 1u : 2u);
  }
}

TEST(TierSets, ClustersOfASocketAreOneTierWithAndWithoutHmat) {
  for (const unsigned latency : {90u, 0u}) {
    Tree tree;  // two clusters on each of two sockets, and a CPU-less node on each
    tree.put("sys/devices/system/node/online", "0-5\n");
    put_node(tree, {0, "0", "10 12 21 21 12 31", 100, 50, latency, 1000, 0});
    put_node(tree, {1, "1", "12 10 21 21 12 31", 100, 50, latency, 1000, 1});
    put_node(tree, {2, "2", "21 21 10 12 31 12", 100, 50, latency, 1000, 2});
    put_node(tree, {3, "3", "21 21 12 10 31 12", 100, 50, latency, 1000, 3});
    put_node(tree, {4, "", "12 12 31 31 10 40", 100, 50, latency * 3, 1000, 0});
    put_node(tree, {5, "", "31 31 12 12 40 10", 100, 50, latency * 3, 1000, 2});
    const Machine machine = read_machine(tree.root());
    EXPECT_EQ(tier_source(machine, {}), latency != 0 ? "hmat" : "distance");
    const std::vector<Tier> near = order_tiers(machine, {.homes = {0}});
    EXPECT_EQ(near.front().nodes, (std::vector<int>{0, 1})) << "a node 20 % further is alike";
    EXPECT_EQ(sets_of(near),
              latency != 0 ? (Sets{{0, 1}, {2, 3}, {4}, {5}}) : (Sets{{0, 1}, {4}, {2, 3}, {5}}));
    const std::vector<Tier> both = order_tiers(machine, {.homes = {0, 1, 2, 3}});
    EXPECT_EQ(sets_of(both), (Sets{{0, 1, 2, 3}, {4, 5}})) << "without CPUs is no class with CPUs";
  }
}

TEST(TierSets, WithoutHmatTheClassEndsAFifthAboveTheNearest) {
  for (const char* const row : {"10 12", "10 13"}) {
    Tree tree;
    tree.put("sys/devices/system/node/online", "0-1\n");
    put_node(tree, {0, "0", row, 100, 50});
    put_node(tree, {1, "1", "12 10", 100, 50});
    EXPECT_EQ(order_tiers(read_machine(tree.root()), {.homes = {0}}).size(),
              row == std::string("10 12") ? 1u : 2u);
  }
}

TEST(TierSets, TheUsersSetsAndFiguresReplaceTheMachines) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  const std::vector<Tier> tiers =
      order_tiers(machine, {.homes = {0}, .fixed = {{{2, 1}}, {{0}, 95, 120, 5000}, {{3}, 400}}});
  ASSERT_EQ(sets_of(tiers), (Sets{{1, 2}, {0}, {3}}));
  EXPECT_EQ(tiers[0].latency_ns, (275u + 144) / 2);
  EXPECT_EQ(tiers[1].latency_ns, 95u);
  EXPECT_EQ(tiers[1].write_latency_ns, 120u);
  EXPECT_EQ(tiers[1].bandwidth_mib, 5000u);
  EXPECT_EQ(tiers[2].latency_ns, 400u);
  EXPECT_EQ(tiers[2].write_latency_ns, 0u) << "as a read's";
}

TEST(TierSets, ANodeThatTheMachineLacksIsNamed) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  EXPECT_TRUE(check_tiers(machine, {}));
  EXPECT_TRUE(check_tiers(machine, {{{0, 1}}, {{3}}}));
  EXPECT_EQ(check_tiers(machine, {{{0, 1}}, {{2, 4}}}).error().line(),
            "tiers: this machine has no node 4; name nodes of 0, 1, 2, 3");
}

using Time = std::map<int, std::uint64_t>;

TEST(Homes, OneNodeHasFourFifthsOfTheTimeOrAllThatHaveATwentiethAreHome) {
  const auto of = [](const Time& time) {
    Homes homes;
    homes.ran(time);
    return homes.nodes();
  };
  EXPECT_EQ(of({}), std::set<int>{});
  EXPECT_EQ(of({{0, 0}}), std::set<int>{});
  EXPECT_EQ(of({{0, 80}, {1, 20}}), std::set<int>{0});
  EXPECT_EQ(of({{0, 799}, {1, 201}}), (std::set<int>{0, 1}));
  EXPECT_EQ(of({{0, 75}, {1, 20}, {2, 5}}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(of({{0, 750}, {1, 201}, {2, 49}}), (std::set<int>{0, 1}));
  Time many;
  for (int node = 0; node < 21; ++node) many[node] = 1;
  EXPECT_EQ(of(many).size(), 21u);
}

TEST(Homes, WidenAtOnceAndChangeOtherwiseAfterSomeIntervals) {
  Homes homes;
  homes.ran({{0, 10}});
  homes.ran({{0, 5}, {1, 5}});
  EXPECT_EQ(homes.nodes(), (std::set<int>{0, 1}));
  for (unsigned n = 1; n < Homes::kIntervals; ++n) homes.ran({{1, 10}});
  homes.ran({{0, 5}, {1, 5}});  // not in a row
  for (unsigned n = 1; n < Homes::kIntervals; ++n) homes.ran({{n % 2 == 0 ? 0 : 1, 10}});
  EXPECT_EQ(homes.nodes(), (std::set<int>{0, 1}));
  homes.ran({});  // it slept: this says nothing
  EXPECT_EQ(homes.nodes(), (std::set<int>{0, 1}));
  homes.ran({{1, 10}});
  EXPECT_EQ(homes.nodes(), (std::set<int>{1}));
}

void put_thread(Tree& tree, int pid, int thread, int cpu, unsigned ticks) {
  std::string stat = std::to_string(thread) + " (t) S";
  for (int field = 4; field <= 52; ++field)
    stat += " " + std::to_string(field == 14 ? static_cast<int>(ticks) : field == 39 ? cpu : 0);
  tree.put("proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/stat",
           stat + "\n");
}

TEST(Homes, WeighThreadsByTheirCpuTimeOfTheInterval) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  Homes homes;
  homes.look(tree.root(), 10, machine);
  EXPECT_TRUE(homes.nodes().empty());
  for (int thread = 10; thread < 20; ++thread) put_thread(tree, 10, thread, 1, 0);
  put_thread(tree, 10, 9, 0, 500);
  homes.look(tree.root(), 10, machine);
  EXPECT_EQ(homes.nodes(), std::set<int>{0}) << "ten that sleep weigh nothing";
  put_thread(tree, 10, 10, 1, 100);
  put_thread(tree, 10, 9, 0, 600);
  homes.look(tree.root(), 10, machine);
  EXPECT_EQ(homes.nodes(), (std::set<int>{0, 1})) << "100 ticks each";
}

TEST(Homes, AreWhereItsThreadsAreBeforeAnyHasRun) {
  Tree tree;
  put_two_sockets(tree);
  put_thread(tree, 10, 10, 1, 0);
  Homes homes;
  homes.look(tree.root(), 10, read_machine(tree.root()));
  EXPECT_EQ(homes.nodes(), std::set<int>{1});
}

TEST(Homes, OfManyThreadsASampleIsReadAndKept) {
  Tree tree;
  put_two_sockets(tree);
  const Machine machine = read_machine(tree.root());
  const int most = static_cast<int>(Homes::kMostThreads);
  // Of every four one is on socket 1: the sample must not be the first ones.
  for (int thread = 0; thread < 4 * most; ++thread)
    put_thread(tree, 10, 1000 + thread, thread < 3 * most ? 0 : 1, 100);
  Homes homes;
  homes.look(tree.root(), 10, machine);
  EXPECT_EQ(homes.nodes(), (std::set<int>{0, 1}));
  // Another begins, with much time behind it from where nobody looked.
  put_thread(tree, 10, 5000, 1, 1'000'000);
  for (unsigned n = 0; n < Homes::kIntervals; ++n) {
    for (int thread = 0; thread < 3 * most; ++thread)
      put_thread(tree, 10, 1000 + thread, 0, 200 + 100 * n);
    homes.look(tree.root(), 10, machine);
  }
  EXPECT_EQ(homes.nodes(), std::set<int>{0});
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

TEST(Process, IsRenewedByItsNameAndItsCpuTimeAndKeepsAllWhenItHasEnded) {
  Tree tree;
  put_process(tree, 10, "redis");
  ProcessInfo process = *read_process(tree.root(), 10);
  process.cpu_ns = 0;
  process.mems_allowed = {1};
  put_process(tree, 10, "another");
  renew(process, tree.root(), 10);
  EXPECT_EQ(process.comm, "another");
  EXPECT_EQ(process.cpu_ns, (14 + 15) * cpu_tick_ns());
  EXPECT_EQ(process.mems_allowed, std::set<int>{1});
  for (const bool is_there : {true, false}) {
    if (is_there)
      put_process(tree, 10, "zombie", 0, 0, 'Z');
    else
      tree.remove("proc/10");
    renew(process, tree.root(), 10);
    EXPECT_EQ(process.comm, "another");
  }
  put_process(tree, 10, "another");
  EXPECT_EQ(read_mems_allowed(tree.root(), 10), (std::set<int>{0, 1, 2, 3}));
}

TEST(Machine, IsRenewedAsLongAsItsNodesHaveTheSameMemory) {
  Tree tree;
  put_four_tiers(tree);
  Machine machine = read_machine(tree.root());
  machine.nodes.at(2).watermark_bytes = 7;
  put_node(tree, {2, "", "30 40 10 20", 262144, 1024, 275, 35000});
  EXPECT_TRUE(renew_free(machine, tree.root()));
  EXPECT_EQ(machine.nodes.at(2).free_bytes, 1u << 20);
  EXPECT_EQ(machine.nodes.at(2).watermark_bytes, 7u);
  put_node(tree, {2, "", "30 40 10 20", 131072, 1024, 275, 35000});
  EXPECT_FALSE(renew_free(machine, tree.root())) << "less memory";
  machine = read_machine(tree.root());
  tree.put("sys/devices/system/node/online", "0-2\n");
  EXPECT_FALSE(renew_free(machine, tree.root())) << "a node less";
  Machine none;
  EXPECT_FALSE(renew_free(none, tree.root()));
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
