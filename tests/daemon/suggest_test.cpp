// SPDX-License-Identifier: MIT
#include "util/suggest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hmk {
namespace {

constexpr std::array<std::string_view, 4> kWords{"status", "stats", "interval", "overhead"};

TEST(Suggest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("intervall", kWords), "interval");
  EXPECT_EQ(nearest("intreval", kWords), "interval");
  EXPECT_EQ(nearest("overhed", kWords), "overhead");
  EXPECT_EQ(nearest("statsu", kWords), "status");
  EXPECT_EQ(nearest("over", kWords), "overhead");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("promote", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kWords), "");
}

}  // namespace
}  // namespace hmk
