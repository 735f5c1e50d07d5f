// SPDX-License-Identifier: MIT
#include "place.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hmk::load {
namespace {

using Moves = std::vector<Move>;

TEST(PlanTruth, MovesNothingWhenTheHotPagesAreThere) {
  EXPECT_EQ(plan_truth({{0, 0, 1, 2}, {0, 1, 2}, {0, 0, 0}}, {true, false, false, false}), Moves{});
}

TEST(PlanTruth, LeavesColdPagesWhereTheyAreWhileThereIsRoom) {
  EXPECT_EQ(plan_truth({{0, 0, 1, 2}, {0, 1, 2}, {2, 0, 0}}, {false, false, true, true}),
            (Moves{{2, 0}, {3, 0}}));
}

TEST(PlanTruth, SendsJustEnoughColdPagesToTheSlowestNodeWithRoom) {
  EXPECT_EQ(plan_truth({{0, 0, 0, 1, 1, 1}, {0, 1, 2, 3}, {1, 9, 1, 0}},
                       {false, true, false, true, true, true}),
            (Moves{{0, 2}, {2, 1}, {3, 0}, {4, 0}, {5, 0}}));
}

TEST(PlanTruth, FollowsTheOrderOfNodesItIsGiven) {
  EXPECT_EQ(plan_truth({{0, 3}, {3, 0}, {0, 5}}, {true, false}), (Moves{{1, 0}, {0, 3}}));
}

TEST(PlanTruth, RefusesATruthThatDoesNotFit) {
  const Places places{{0, 1, 1, 1}, {0, 1}, {1, 9}};
  EXPECT_NO_THROW(plan_truth(places, {false, true, true, false}));
  EXPECT_THROW(plan_truth(places, {false, true, true, true}), std::runtime_error);
}

TEST(PlanTruth, RefusesWhenColdPagesHaveNowhereToGo) {
  EXPECT_THROW(plan_truth({{0, 0, 1, 1}, {0, 1}, {0, 1}}, {false, false, true, true}),
               std::runtime_error);
}

}  // namespace
}  // namespace hmk::load
