// SPDX-License-Identifier: MIT
#include "machine/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "machine.hpp"
#include "machine/against.hpp"

using namespace hmk::sim;
using hmk::test::shipped;
using nlohmann::ordered_json;

namespace {

SweepPlan small_sweep(unsigned jobs) {
  Question question = shipped("fits", 12);
  question.config.interval = std::chrono::seconds(3);
  Workload needle = read_workload(workload_path("needle"));
  return {.question = question,
          .workloads = {question.workload, needle},
          .axes = {{"horizon", {"20", "60"}}, {"gain_margin", {"0", "1"}}},
          .seeds = 2,
          .jobs = jobs};
}

TEST(MachineSweep, RunsEveryCombinationWhateverTheNumberOfJobs) {
  testing::internal::CaptureStderr();
  const ordered_json list = sweep_machine(small_sweep(2));
  EXPECT_EQ(list.dump(), sweep_machine(small_sweep(1)).dump());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("16 of 16 runs"), std::string::npos);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[1]["settings"], (ordered_json{{"horizon", "20"}, {"gain_margin", "1"}}));
  for (const auto& row : list) {
    EXPECT_EQ(row["runs"], 4);
    const double fits = row["by_scenario"]["fits"], needle = row["by_scenario"]["needle"];
    EXPECT_NEAR(row["time_vs_first_touch"].get<double>(), std::sqrt(fits * needle), 2e-5);
    EXPECT_GE(row["worst"].get<double>(), row["time_vs_first_touch"].get<double>() - 1e-5);
  }
}

TEST(MachineSweep, TakesOnlyWhatHmkdWouldTake) {
  EXPECT_EQ(parse_axis("horizon=20,60").values, (std::vector<std::string>{"20", "60"}));
  for (const char* const bad :
       {"horizon", "=1", "horizon=", "horizon=20,", "horizon=0", "gain_margin=1025",
        "promote_limit=200", "horizn=20", "attach=1", "no_such=1"})
    EXPECT_THROW(parse_axis(bad), std::invalid_argument) << bad;
  EXPECT_NO_THROW(parse_axis("gain_margin=1024"));
}

ordered_json simulated(double ns, double share) {
  return {{{"scenario", "a"},
           {"system", "first-touch"},
           {"ns_per_operation", ns},
           {"settled_tier_share", {share, 1 - share}}}};
}

TEST(MachineAgainst, AgreesWithinATenthAndNotBeyond) {
  const std::vector<GuestFigure> guest = {{"a", "first-touch", 100, 0.5}};
  testing::internal::CaptureStdout();
  EXPECT_TRUE(lay_beside(guest, simulated(109.9, 0.5)));
  EXPECT_TRUE(lay_beside(guest, simulated(90.1, 0.451)));
  EXPECT_FALSE(lay_beside(guest, simulated(110.1, 0.5)));
  EXPECT_FALSE(lay_beside(guest, simulated(100, 0.551)));
  EXPECT_FALSE(lay_beside({{"b", "first-touch", 100, 0.5}}, simulated(100, 0.5)))
      << "nothing was compared";
  EXPECT_NE(testing::internal::GetCapturedStdout().find("0 of 1 compared"), std::string::npos);
}

TEST(MachineAgainst, RefusesWhatIsNoListOfFigures) {
  const std::string path = testing::TempDir() + "guest.json";
  for (const char* const text :
       {"", "{}", "[1]", R"([{"workload": "a", "system": "b", "ns_per_op": 0, "tier1_share": 1}])",
        R"([{"workload": "a", "system": "b", "ns_per_op": 5}])"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(read_guest_figures(path), std::invalid_argument) << text;
  }
  std::ofstream(path)
      << R"([{"workload": "a", "system": "b", "ns_per_op": 5, "tier1_share": 0.5}])";
  EXPECT_EQ(read_guest_figures(path).at(0).ns_per_op, 5);
  std::remove(path.c_str());
}

}  // namespace
