// SPDX-License-Identifier: MIT
#include "window.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace hmkctl;

namespace {

std::size_t after(const std::vector<Step>& steps, std::size_t total, std::size_t height) {
  Window window;
  for (const Step step : steps) window.move(step, total, height);
  return window.first;
}

TEST(Window, GoesNoFurtherThanTheLastScreenful) {
  EXPECT_EQ(after({Step::down}, 30, 10), 1u);
  EXPECT_EQ(after({Step::end}, 30, 10), 20u);
  EXPECT_EQ(after({Step::end, Step::down, Step::page_down}, 30, 10), 20u);
  EXPECT_EQ(after({Step::page_down, Step::page_down}, 30, 10), 18u)
      << "a line of the page before stays";
  EXPECT_EQ(after({Step::page_down, Step::page_down, Step::page_down}, 30, 10), 20u);
}

TEST(Window, GoesNoFurtherThanTheFirstLine) {
  EXPECT_EQ(after({Step::up}, 30, 10), 0u);
  EXPECT_EQ(after({Step::page_up}, 30, 10), 0u);
  EXPECT_EQ(after({Step::end, Step::page_up}, 30, 10), 11u);
  EXPECT_EQ(after({Step::end, Step::up}, 30, 10), 19u);
  EXPECT_EQ(after({Step::end, Step::home}, 30, 10), 0u);
}

TEST(Window, OfWhatFitsStaysWhereItIs) {
  for (const Step step : {Step::down, Step::page_down, Step::end})
    EXPECT_EQ(after({step}, 10, 10), 0u);
  EXPECT_EQ(after({Step::end}, 11, 10), 1u);
  EXPECT_EQ(after({Step::end}, 0, 10), 0u);
}

TEST(Window, OnAScreenWithoutRoomEndsAtTheEnd) {
  EXPECT_EQ(after({Step::page_down}, 5, 0), 1u);
  EXPECT_EQ(after({Step::end}, 5, 0), 5u);
}

TEST(Window, FollowsWhenLinesGo) {
  Window window{.first = 20, .left = 0};
  window.clamp(15, 10);
  EXPECT_EQ(window.first, 5u);
  window.clamp(15, 20);
  EXPECT_EQ(window.first, 0u);
}

TEST(Window, GoesSidewaysToTheFirstColumnAtMost) {
  Window window;
  window.move(Step::left, 1, 1);
  EXPECT_EQ(window.left, 0u);
  window.move(Step::right, 1, 1);
  EXPECT_EQ(window.left, 8u);
  window.move(Step::left, 1, 1);
  EXPECT_EQ(window.left, 0u);
}

}  // namespace
