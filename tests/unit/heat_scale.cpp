// SPDX-License-Identifier: MIT
#include "heat_scale.hpp"

#include <gtest/gtest.h>

using namespace hmkctl;

namespace {

std::vector<double> one_to(int last) {
  std::vector<double> values;
  for (int value = 1; value <= last; ++value) values.push_back(value);
  return values;
}

TEST(HeatScale, GoesFromTheFifthToTheNinetyFifthPercentile) {
  const HeatScale scale(one_to(101), HeatScale::Kind::linear);
  EXPECT_EQ(scale.low(), 6);
  EXPECT_EQ(scale.high(), 96);
  std::vector<double> values = one_to(101);
  values[100] = 1e9;  // one that is far out changes nothing
  EXPECT_EQ(HeatScale(values, HeatScale::Kind::linear).high(), 96);
}

TEST(HeatScale, StepsBeginWhereItSays) {
  const HeatScale scale(one_to(101), HeatScale::Kind::linear);  // 6, 28.5, 51, 73.5, 96
  for (std::size_t step = 1; step < 5; ++step) {
    EXPECT_EQ(scale.step(scale.from(step, 5), 5), step);
    EXPECT_EQ(scale.step(scale.from(step, 5) - 1e-6, 5), step - 1);
  }
  EXPECT_EQ(scale.step(0, 5), 0u);
  EXPECT_EQ(scale.step(1e9, 5), 4u);
}

TEST(HeatScale, OfRatesIsLogarithmic) {
  const HeatScale scale({1, 16, 256}, HeatScale::Kind::logarithmic);
  EXPECT_EQ(scale.low(), 1);
  EXPECT_EQ(scale.high(), 256);
  EXPECT_NEAR(scale.from(2, 5), 16, 1e-9);
  EXPECT_EQ(scale.step(16.01, 5), 2u);
  EXPECT_EQ(scale.step(15.99, 5), 1u);
}

TEST(HeatScale, LeavesOutWhatWasNotAccessed) {
  EXPECT_EQ(HeatScale({0, 0, 0, 0, 4, 8}, HeatScale::Kind::logarithmic).low(), 4);
  const HeatScale none({0, 0}, HeatScale::Kind::logarithmic);
  EXPECT_TRUE(none.is_empty());
  EXPECT_EQ(none.step(0, 5), 0u);
}

TEST(HeatScale, OfOneValueShowsItBright) {
  const HeatScale scale({8, 8, 0}, HeatScale::Kind::logarithmic);
  EXPECT_EQ(scale.step(8, 5), 4u);
  EXPECT_EQ(scale.step(0, 5), 0u);
}

}  // namespace
