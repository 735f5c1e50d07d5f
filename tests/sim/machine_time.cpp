// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>

#include "machine.hpp"
#include "machine/watcher.hpp"

using namespace hmk::sim;
using hmk::test::even_program;
using hmk::test::kMiB;
using hmk::test::small_machine;

namespace {

/// 100 * 0.33 + (8 * 100 + 4 * 300) / 12 / 2 + (8 * 5 + 4 * 15) / 12, a line being AHEAD by 20.
constexpr double kEvenNs = 33 + 2000.0 / 12 / 2 + 100.0 / 12;

Question small_question() {
  return {.workload = even_program(12 * kMiB), .machine = small_machine(), .taken = 0};
}

/// 12 MiB of one phase: 8 MiB on node 0, 4 on node 1.
struct Small {
  LabMachine machine = small_machine();
  std::vector<int> order = {0, 1};
  Memory memory{12 * kMiB, {8 * kMiB, 16 * kMiB}, order, 1};
  WorkPlan plan = plan_work(even_program(12 * kMiB), 60, 1, machine, memory);
};

hmk_range pages(std::uint64_t first, std::uint64_t nr, int node) {
  return {.start = Watcher::kStart + first * 4096,
          .length = nr * 4096,
          .node = node,
          .flags = 0,
          .status = 0};
}

TEST(MachineTime, FirstTouchIsTheFormulaWorkedOutByHand) {
  const Answer answer = place(small_question(), System::kFirstTouch);
  EXPECT_NEAR(answer.ns_per_operation, kEvenNs, 1e-4);
  EXPECT_NEAR(answer.settled_ns_per_operation, kEvenNs, 1e-4);
  EXPECT_NEAR(answer.ns, 60e9, 10) << "the scenario's seconds are of first touch";
  EXPECT_NEAR(answer.share[0], 2.0 / 3, 1e-6);
  EXPECT_EQ(answer.resident, (std::vector<Bytes>{8 * kMiB, 4 * kMiB}));
}

TEST(MachineTime, ACountedProgramIsTheFormulaWorkedOutByHand) {
  Workload load{.name = "counted", .memory = 12 * kMiB};
  const std::vector<std::uint32_t> none(3072);
  Counted counted{.misses = none, .streamed = none, .written = none, .visits = none};
  counted.misses[0] = 300, counted.misses[3071] = 100;  // nodes 0 and 1
  counted.streamed[0] = 50, counted.streamed[3071] = 90;
  counted.written[0] = 100, counted.written[1] = 20, counted.written[3071] = 80;
  load.phases = {{.operations = 100,
                  .execution = {.instructions = 100, .other_ns = 7},
                  .counted = std::make_shared<Counted>(counted)}};
  Question question = small_question();
  question.workload = load;
  const Answer answer = place(question, System::kFirstTouch);
  // A streamed line: 5 and 15 ns, AHEAD by 20; another: 50 and 150. A line written back: 5 and 15.
  constexpr double kNs = 33 + 7 + 2.5 * 50 + 0.5 * 5 + 0.1 * 150 + 0.9 * 15 + 1.2 * 5 + 0.8 * 15;
  EXPECT_NEAR(answer.ns_per_operation, kNs, 1e-4);
  EXPECT_EQ(answer.operations, 100);
  EXPECT_NEAR(answer.share[0], 0.75, 1e-6);
  question.work = 2;
  const Answer twice = place(question, System::kFirstTouch);
  EXPECT_EQ(twice.operations, 200);
  EXPECT_NEAR(twice.ns_per_operation, kNs, 1e-4);
}

TEST(MachineTime, ABandwidthBelowTheLatencyPricesStreamsAndWriteBacks) {
  LabMachine machine = small_machine();
  machine.nodes[1].bandwidth_mbps = 1000;  // 64 ns a line
  machine.nodes[0].write_latency_ns = 400;
  for (const auto& [node, random, streamed, written] :
       {std::tuple(0, 50, 5, 20), {1, 150, 64, 64}}) {
    EXPECT_DOUBLE_EQ(machine.lines_ns(node, {.misses = 1}), random);
    EXPECT_DOUBLE_EQ(machine.lines_ns(node, {.misses = 1, .streamed = 1}), streamed);
    EXPECT_DOUBLE_EQ(machine.lines_ns(node, {.written = 1}), written);
    EXPECT_DOUBLE_EQ(machine.lines_ns(node, {.misses = 3, .streamed = 1, .written = 2}),
                     2 * random + streamed + 2 * written);
  }
}

TEST(MachineTime, OnlyThePartThatIsAskedForIsDone) {
  const std::vector<std::uint32_t> none(3072);
  Workload load{.name = "counted", .memory = 12 * kMiB};
  for (const double instructions : {100, 200, 300})
    load.phases.push_back(
        {.operations = 10,
         .execution = {.instructions = instructions},
         .counted = std::make_shared<Counted>(
             Counted{.misses = none, .streamed = none, .written = none, .visits = none})});
  Question question = small_question();
  question.workload = load;
  question.until = 0.5;
  const Answer half = place(question, System::kFirstTouch);
  EXPECT_DOUBLE_EQ(half.operations, 15);
  EXPECT_NEAR(half.ns, (10 * 100 + 5 * 200) * 0.33, 1e-6);
  EXPECT_NEAR(half.settled_ns_per_operation, 200 * 0.33, 1e-6)
      << "the last quarter of what is done";
  question.work = 2;
  EXPECT_NEAR(place(question, System::kFirstTouch).ns, (20 * 100 + 10 * 200) * 0.33, 1e-6);
}

TEST(MachineTime, TheLastQuarterIsOfTheInstructions) {
  std::vector<std::uint32_t> first(3072), last(3072);
  first[0] = last[3071] = 100;  // nodes 0 and 1
  const std::vector<std::uint32_t> none(3072);
  Question question = small_question();
  question.workload = {.name = "counted", .memory = 12 * kMiB};
  for (const auto& [misses, instructions] : {std::pair(first, 500), {last, 100}})
    question.workload.phases.push_back(
        {.operations = 10,
         .execution = {.instructions = static_cast<double>(instructions)},
         .counted = std::make_shared<Counted>(
             Counted{.misses = misses, .streamed = none, .written = none, .visits = none})});
  // 6,000 in all: of the last 1,500 the second phase has 1,000, and one operation of the first 500.
  const Answer answer = place(question, System::kFirstTouch);
  EXPECT_NEAR(answer.settled_share[0], 1.0 / 11, 1e-6);
  EXPECT_NEAR(answer.settled_ns_per_operation, (1500 * 0.33 + 10.0 * 50 + 10.0 * 10 * 150) / 11,
              1e-3);
}

TEST(MachineTime, WhatIsWaitedForIsPlacedBeforeWhatIsMissedMoreButStreamed) {
  const std::vector<std::uint32_t> none(3072);
  Counted counted{.misses = none, .streamed = none, .written = none, .visits = none};
  std::fill_n(counted.misses.begin(), 2048, 64);  // 8 MiB in streams
  std::fill_n(counted.streamed.begin(), 2048, 64);
  std::fill_n(counted.misses.begin() + 2048, 1024, 10);  // 4 MiB at random
  Question question = small_question();
  question.workload = {.name = "counted",
                       .memory = 12 * kMiB,
                       .phases = {{.operations = 1,
                                   .execution = {.instructions = 1},
                                   .counted = std::make_shared<Counted>(counted)}}};
  const Answer best = place(question, System::kStatic);
  constexpr double kMisses = 2048 * 64 + 1024 * 10;
  EXPECT_NEAR(best.share[0], (1024 * 64 + 1024 * 10) / kMisses, 1e-6);
  EXPECT_NEAR(best.ns, 1024 * 10 * 50 + 1024 * 64 * 5 + 1024 * 64 * 15, 1);
}

TEST(MachineTime, AMoveCostsWhatTheLabSaysOfAFolio) {
  const LabMachine machine = small_machine();
  EXPECT_NEAR(machine.move_ns(1, 0, 4096), 521.5 + 257.4 + 4096 / 10.924, 1e-6);
  LabMachine narrow = machine;
  narrow.nodes[1].bandwidth_mbps = 1000;
  EXPECT_NEAR(narrow.move_ns(1, 0, 2 * kMiB), 521.5 + 257.4 + 2 * kMiB, 1e-6);
}

TEST(MachineTime, AStallIsTimeWithoutOperations) {
  Small small;
  Program program(small.plan, small.machine, small.memory, 0);
  program.stall(500);
  program.run(500 + 10 * kEvenNs);
  EXPECT_NEAR(program.whole().operations, 10, 1e-4);
  EXPECT_NEAR(program.whole().ns, 500 + 10 * kEvenNs, 1e-6);
  EXPECT_EQ(program.whole().stall_ns, 500);
}

TEST(MachineTime, AGuestsClockCountsInstructionsOnly) {
  Small small;
  Program program(small.plan, small.machine, small.memory, 8);
  program.run(10 * 100 * 8);
  EXPECT_NEAR(program.whole().operations, 10, 1e-6);
  EXPECT_NEAR(program.whole().ns, 10 * kEvenNs, 1e-3);
}

TEST(MachineTime, AMovedPageIsPaidForWhereItLies) {
  Small small;
  Program program(small.plan, small.machine, small.memory, 0);
  const auto tell = [&](std::uint64_t page, int from) { program.moved(page, from); };
  const Memory::Moved moved = small.memory.move(0, 512, 1, tell);
  EXPECT_EQ(moved.pages, 512u);
  // 2 of 12 MiB are dearer by 200 / 2 of the miss and 10 of the write-back.
  EXPECT_NEAR(program.ns_per_operation(), kEvenNs + 2.0 / 12 * 110, 1e-4);
  EXPECT_NEAR(program.share(0), 0.5, 1e-6);
}

TEST(MachineTime, ATicketTakesItsPagesTimeAndHalfOfItInPairs) {
  for (const std::uint32_t flags : {0u, HMK_MOVE_PAIRED}) {
    Small small;
    Program program(small.plan, small.machine, small.memory, 0);
    Tickets tickets(small.machine, small.memory, program, {.page_ns = 1000, .exposed_ns = 7});
    const std::vector<hmk_range> ranges = {pages(0, 512, 1)};
    tickets.take(1, ranges, flags, 5000);
    EXPECT_EQ(tickets.ends_at(), 5000u + (flags ? 256'000 : 512'000) + 1);
    EXPECT_EQ(small.memory.node(0), 0) << "not before it has ended";
    EXPECT_EQ(tickets.end(), 1u);
    const auto results = tickets.result(1);
    ASSERT_TRUE(results);
    EXPECT_EQ((*results)[0].pages_clean, 512u);
    EXPECT_EQ((*results)[0].copy_ns, 512'000u);
    EXPECT_EQ((*results)[0].commit_ns, 512u * 7);
    EXPECT_EQ(tickets.fallen(), 2 * kMiB);
    EXPECT_EQ(tickets.risen(), 0u);
    EXPECT_FALSE(tickets.result(1)) << "fetched once";
  }
}

TEST(MachineTime, WhatFindsNoRoomStaysAndIsToldSo) {
  Small small;
  Program program(small.plan, small.machine, small.memory, 0);
  Tickets tickets(small.machine, small.memory, program, {.page_ns = 1000, .exposed_ns = 7});
  const std::vector<hmk_range> ranges = {pages(0, 1, 1), pages(2048, 3, 0)};
  tickets.take(1, ranges, 0, 0);
  tickets.end();
  const auto results = tickets.result(1);
  EXPECT_EQ((*results)[1].pages_clean, 1u) << "into the page that has gone";
  EXPECT_EQ((*results)[1].refused[HMK_REFUSED_NO_ROOM], 2u);
  EXPECT_EQ(small.memory.used(0), 8 * kMiB);
}

TEST(MachineTime, ACancelledTicketMovesNothing) {
  Small small;
  Program program(small.plan, small.machine, small.memory, 0);
  Tickets tickets(small.machine, small.memory, program, {});
  const std::vector<hmk_range> ranges = {pages(0, 512, 1)};
  tickets.take(1, ranges, 0, 0);
  tickets.cancel(1, 10);
  EXPECT_EQ(tickets.ends_at(), 11u);
  tickets.end();
  EXPECT_EQ((*tickets.result(1))[0].error, -ECANCELED);
  EXPECT_EQ(small.memory.used(0), 8 * kMiB);
}

TEST(MachineTime, AHugePageMovesWhole) {
  const std::vector<int> order = {0, 1};
  Memory memory(12 * kMiB, {8 * kMiB, 16 * kMiB}, order, 512);
  std::uint64_t told = 0;
  EXPECT_EQ(memory.move(1, 1, 1, [&](std::uint64_t, int) { ++told; }).pages, 512u);
  EXPECT_EQ(told, 512u);
  EXPECT_EQ(memory.used(1), 6 * kMiB);
}

TEST(MachineTime, PagesLieWhereTheyWereCountedAsFarAsThereIsRoom) {
  const std::vector<int> order = {0, 1};
  Memory memory(12 * kMiB, {8 * kMiB, 16 * kMiB}, order, 1);
  std::vector<std::uint32_t> nodes(3072, 0xffffffff);  // not known
  std::fill_n(nodes.begin(), 512, 1);
  std::fill_n(nodes.begin() + 1024, 2048, 0);
  memory.place_as(nodes, order);
  EXPECT_EQ(memory.node(0), 1);
  EXPECT_EQ(memory.node(512), 1) << "not known, and node 0 is full";
  EXPECT_EQ(memory.node(1024), 0);
  EXPECT_EQ(memory.node(3071), 0);
  EXPECT_EQ(memory.used(0), 8 * kMiB);
  EXPECT_EQ(memory.used(1), 4 * kMiB);
  std::fill_n(nodes.begin(), 3072, 0);
  memory.place_as(nodes, order);
  EXPECT_EQ(memory.node(2047), 0);
  EXPECT_EQ(memory.node(2048), 1) << "no room";
}

TEST(MachineTime, MemoryThatDoesNotFitIsRefused) {
  const std::vector<int> order = {0, 1};
  EXPECT_THROW(Memory(26 * kMiB, {8 * kMiB, 16 * kMiB}, order, 1), std::invalid_argument);
  EXPECT_NO_THROW(Memory(24 * kMiB, {8 * kMiB, 16 * kMiB}, order, 1));
}

TEST(MachineTime, PiecesLieWhereTheLoadOfTheLabPutsThem) {
  // gups-stable of the guests, seed 1: tier 1 served 45.6 % before anything moved.
  const Answer answer = place(hmk::test::shipped("gups-stable", 10), System::kFirstTouch);
  EXPECT_NEAR(answer.share[0], 0.456, 0.005);
  const Answer needle = place(hmk::test::shipped("needle", 10), System::kFirstTouch);
  EXPECT_NEAR(needle.share[0], 0.280, 0.005);
}

}  // namespace
