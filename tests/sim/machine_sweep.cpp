// SPDX-License-Identifier: MIT
#include "machine/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "machine.hpp"
#include "machine/against.hpp"
#include "machine/tune.hpp"
#include "support/temp_folder.hpp"

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
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "progress is for terminals";
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

TEST(MachineTune, ByPairsOfSeedsASmallDifferenceIsSureAndNoiseOfBothIsNone) {
  const Racer slow{"a", {0.10, -0.20, 0.31}}, fast{"b", {0.09, -0.21, 0.30}},
      odd{"c", {0.3, -0.4, 0.2}};
  const Slower slower = slower_than(slow, fast);
  EXPECT_NEAR(slower.mean, 0.01, 1e-9);
  EXPECT_NEAR(slower.error, 0, 1e-9);
  EXPECT_TRUE(is_surely_slower(slow, fast));
  EXPECT_FALSE(is_surely_slower(fast, slow));
  EXPECT_FALSE(is_surely_slower(odd, fast));
  EXPECT_FALSE(is_surely_slower(fast, fast));
  EXPECT_FALSE(is_surely_slower({"d", {9}}, fast)) << "one seed says nothing";
  const Racer none{"n", {0, 0, 0, 0}};
  EXPECT_TRUE(is_surely_slower({"g", {8, 10, 10, 12}}, none)) << "12.2 errors; 10.2 are by chance";
  EXPECT_FALSE(is_surely_slower({"h", {7, 10, 10, 13}}, none)) << "8.2 errors";
  EXPECT_TRUE(is_surely_alike({"i", {9e-4, 9e-4}}, none));
  EXPECT_FALSE(is_surely_alike({"j", {11e-4, 11e-4}}, none));
  EXPECT_FALSE(is_surely_alike({"k", {-3e-3, 3e-3}}, none)) << "not known";
  EXPECT_NEAR(slower_than({"e", {1, 3}}, {"f", {0, 0, 5}}).error, 1, 1e-9)
      << "by the seeds both ran";
}

TEST(MachineTune, TheFastestIsOneOfThoseThatRanToTheEnd) {
  EXPECT_EQ(fastest({{"a", {-9}}, {"b", {0.2, 0.1}}, {"c", {0.1, 0.1}}}), 2u);
}

TEST(MachineTune, FindsTheBetterValueKeepsAShippedOneThatIsAsGoodAndSaysSoOnThePage) {
  SweepPlan plan = small_sweep(2);
  plan.workloads = {read_workload(workload_path("gups-stable"))};
  plan.question.seconds = 60;
  plan.seeds = 4;
  plan.axes = {{"promote_limit", {"1MiB"}}, {"horizon", {"61"}}};
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const ordered_json list = tune_machine(plan);
  testing::internal::GetCapturedStderr();
  const std::string said = testing::internal::GetCapturedStdout();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["shipped"], "200MiB");
  EXPECT_EQ(list[0]["best"], "200MiB") << "1 MiB an interval is too slow";
  EXPECT_EQ(list[1]["best"], "60");
  EXPECT_NE(said.find("promote_limit: 200MiB, as shipped"), std::string::npos) << said;
  const std::string page = tuning_page(plan, list, "abc");
  EXPECT_NE(page.find("Commit: abc."), std::string::npos);
  EXPECT_NE(page.find("Of 2 constants 2 ship"), std::string::npos);
  EXPECT_NE(page.find("| 200MiB (shipped), best | 4 |"), std::string::npos) << page;

  plan.question.config.promote_limit = std::uint64_t{1} << 20;
  plan.axes = {{"promote_limit", {"200MiB"}}};
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const ordered_json other = tune_machine(plan);
  testing::internal::GetCapturedStderr();
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(other[0]["best"], "200MiB");
  EXPECT_FALSE(other[0]["is_best"]);
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
  const hmk::test::TempFolder folder;
  const std::string path = folder / "guest.json";
  for (const char* const text :
       {"", "{}", "[1]", R"([{"workload": "a", "system": "b", "ns_per_op": 0, "tier1_share": 1}])",
        R"([{"workload": "a", "system": "b", "ns_per_op": 5}])"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(read_guest_figures(path), std::invalid_argument) << text;
  }
  std::ofstream(path)
      << R"([{"workload": "a", "system": "b", "ns_per_op": 5, "tier1_share": 0.5}])";
  EXPECT_EQ(read_guest_figures(path).at(0).ns_per_op, 5);
}

}  // namespace
