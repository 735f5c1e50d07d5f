// SPDX-License-Identifier: MIT
#include "record/tier_plan.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

using namespace hmk;

namespace {

using hmk::test::kMiB;

TierPlan some_plan() {
  TierPlan plan{
      .made_from = {4711, "redis-server"},
      .machine = {{{{0, 1}, 90, 90, 95'000, 64ull << 30}, {{2}, 230}}, "hmat", 2000, "config"},
      .windows = 4,
      .window_ns = 30'000'000'000,
      .access_ps = 120'500,
      .bound_ps = 119'000};
  plan.mappings = {
      {"[heap]", 0, 64 * kMiB, {{0, 2 * kMiB, {1, 1, 0, 0}}, {8 * kMiB, 4096, {0, 0, 0, 0}}}},
      {"anonymous", 3, 8 * kMiB, {{4096, 4096, {0, 1, 0, 1}}}}};
  return plan;
}

std::string said(std::string_view bytes) {
  const auto plan = decode_plan(bytes, "p");
  return plan ? "" : plan.error().line();
}

TEST(TierPlan, GivesBackWhatWasWritten) {
  const auto plan = decode_plan(encode(some_plan()), "p");
  ASSERT_TRUE(plan) << plan.error().line();
  EXPECT_EQ(*plan, some_plan());
}

TEST(TierPlan, CutAnywhereOrWithAnyByteChangedIsAnErrorAndNothingWorse) {
  const std::string whole = encode(some_plan());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(said(std::string_view(whole).substr(0, size)), "") << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EXPECT_EQ(said(changed).find("p: is "), 0u) << at << ": " << said(changed);
  }
}

TEST(TierPlan, SaysWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(said("hmkrec\r\n\3\0\0\0"),
            "p: is no plan; make one with 'hmkctl plan schedule RECORDING -o FILE'");
  std::string newer = encode(some_plan());
  newer[8] = 2;
  EXPECT_EQ(said(newer),
            "p: is a plan of format 2, this version reads 1; use the version that wrote it");
  const std::string whole = encode(some_plan());
  EXPECT_EQ(
      said(std::string_view(whole).substr(0, 40)),
      "p: is cut short at byte 40; copy it anew, or make it again with 'hmkctl plan schedule'");
  EXPECT_EQ(read_plan("/nonexistent/x").error().line(),
            "/nonexistent/x: cannot be read: No such file or directory; check the path");
}

TEST(TierPlan, RefusesTiersThatItsMachineHasNot) {
  TierPlan plan = some_plan();
  plan.mappings[0].pieces[0].tier[3] = 2;
  EXPECT_NE(said(encode(plan)).find("its block 'O' makes no sense"), std::string::npos);
  plan = some_plan();
  plan.mappings[0].pieces[1].offset = 64 * kMiB;
  EXPECT_NE(said(encode(plan)).find("its block 'O' makes no sense"), std::string::npos)
      << "nor memory behind the end of its mapping";
}

}  // namespace
