// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "machine.hpp"
#include "machine/possible.hpp"
#include "machine/report.hpp"

using namespace hmk::sim;
using hmk::test::kMiB;
using hmk::test::shipped;

namespace {

std::string told(Question question, std::uint64_t seed) {
  question.seed = seed;
  const Answer alone = place(question, System::kFirstTouch);
  return to_json(question, {alone, alone, {}, {place(question, System::kReactive)}}).dump();
}

Bytes moved(const Answer& answer) {
  return answer.risen + answer.fallen;
}

TEST(MachinePlace, GivesTheSameForTheSameSeedToTheByte) {
  const Question question = shipped("needle", 60);
  EXPECT_EQ(told(question, 3), told(question, 3));
  EXPECT_NE(told(question, 3), told(question, 4));
}

TEST(MachinePlace, NothingMovesWhereAllFits) {
  const Answer answer = place(shipped("fits", 120), System::kReactive);
  EXPECT_EQ(moved(answer), 0u);
  EXPECT_EQ(answer.settled_share[0], 1);
}

TEST(MachinePlace, NothingMovesWhereAllIsUsedAlikeAndThatIsKnown) {
  Question question = shipped("even", 120);
  question.is_perfect = true;
  EXPECT_EQ(moved(place(question, System::kReactive)), 0u);
}

// The first plan goes by one interval, in which windows that were too long tell too low a rate: it
// may spend all of promote_limit. What is asserted is rest after that.
TEST(MachinePlace, NextToNothingMovesAtRestWhereAllIsUsedAlike) {
  const Answer answer = place(shipped("even", 150), System::kReactive);
  ASSERT_GT(answer.moments.size(), 12u);
  const Moment &first = answer.moments[5], &last = answer.moments.back();
  const Bytes at_rest = last.risen + last.fallen - first.risen - first.fallen;
  const auto intervals = answer.moments.size() - 6;
  EXPECT_LT(at_rest / intervals, 1280 * kMiB / 1000 * 2) << "0.1 % of the memory, there and back";
}

TEST(MachinePlace, FindsTheHotSetOfGupsAndPaysLittleForIt) {
  const Answer answer = place(shipped("gups-stable", 200), System::kReactive);
  EXPECT_GT(answer.settled_share[0], 0.90);
  EXPECT_GT(answer.risen, 50 * kMiB);
  EXPECT_GT(answer.exposed_ns, static_cast<double>(moved(answer)) / 4096 * 499);
}

class MachineStationary : public testing::TestWithParam<const char*> {};

TEST_P(MachineStationary, NothingBeatsTheBestStaticPlacement) {
  for (const std::uint64_t seed : {1, 2}) {
    Question question = shipped(GetParam(), 50);
    question.seed = seed;
    const Answer best = place(question, System::kStatic);
    EXPECT_GE(place(question, System::kReactive).ns, best.ns * (1 - 1e-9)) << seed;
    EXPECT_GE(place(question, System::kFirstTouch).ns, best.ns * (1 - 1e-9)) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, MachineStationary,
                         testing::Values("gups-stable", "needle", "even", "fits"));

class MachinePossible : public testing::TestWithParam<std::string> {};

TEST_P(MachinePossible, NothingBeatsTheBestThatIsPossible) {
  for (const std::uint64_t seed : {1, 2}) {
    Question question = shipped(GetParam(), 50);
    question.seed = seed;
    const Possible best = possible(question);
    EXPECT_LE(best.bound_ns, best.schedule_ns);
    EXPECT_GE(best.bound_ns, 0.98 * best.schedule_ns) << "within 2 % of it there is a placement";
    for (const System system : {System::kFirstTouch, System::kStatic, System::kReactive})
      EXPECT_GE(place(question, system).ns, best.bound_ns * (1 - 1e-9))
          << to_string(system) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, MachinePossible, testing::ValuesIn(workload_names()));

TEST(MachinePossibleWhereAllFits, IsTheTimeWithAllInTheFastestTier) {
  const Question question = shipped("fits", 50);
  EXPECT_NEAR(possible(question).bound_ns, place(question, System::kStatic).ns, 1);
}

class MachineConserves : public testing::TestWithParam<const char*> {};

TEST_P(MachineConserves, MemoryIsNeitherLostNorMadeUpAndNoTierOverflows) {
  const Question question = shipped(GetParam(), 40);
  for (const System system : {System::kFirstTouch, System::kStatic, System::kReactive}) {
    const Answer answer = place(question, system);
    EXPECT_EQ(std::accumulate(answer.resident.begin(), answer.resident.end(), Bytes{0}),
              question.workload.memory);
    EXPECT_LE(answer.resident[0], 472 * kMiB);
    EXPECT_LE(answer.resident[1], 472 * kMiB);
    EXPECT_EQ(moved(answer) > 0, system == System::kReactive);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, MachineConserves, testing::Values("gups-jump", "sort"));

TEST(MachinePlace, AllSystemsDoTheSameWork) {
  const Question question = shipped("phases", 150);
  const double operations = place(question, System::kFirstTouch).operations;
  EXPECT_NEAR(place(question, System::kReactive).operations, operations, operations * 1e-9);
  EXPECT_NEAR(place(question, System::kStatic).operations, operations, operations * 1e-9);
}

TEST(MachinePlace, AKeyOfHmkdReachesThePolicy) {
  Question question = shipped("gups-stable", 60);
  question.config.promote_limit = 2 * kMiB;
  const Answer answer = place(question, System::kReactive);
  EXPECT_LE(answer.risen, answer.moments.size() * 2 * kMiB);
  EXPECT_GT(answer.risen, 0u);
}

TEST(MachinePlace, TheBandwidthKeyHoldsMovesBack) {
  Question question = shipped("gups-stable", 60);
  question.config.bandwidth = {{{1, 0}, kMiB}, {{2, 0}, kMiB}};
  const Answer answer = place(question, System::kReactive);
  // 2 MiB a second, and a piece of each pair ahead.
  EXPECT_LE(answer.risen, static_cast<Bytes>(answer.ns / 1e9 + 1) * 2 * kMiB + 8 * kMiB);
  EXPECT_GT(answer.risen, 8 * kMiB);
}

TEST(MachinePlace, APeriodIsAskedOfACycleOnly) {
  Question question = shipped("gups-stable", 60);
  question.period = 10;
  EXPECT_THROW(place(question, System::kFirstTouch), std::invalid_argument);
}

}  // namespace
