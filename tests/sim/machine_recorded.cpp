// SPDX-License-Identifier: MIT
#include "machine/recorded.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/tune.hpp"
#include "support/recorded.hpp"
#include "support/recording_file.hpp"
#include "support/temp_folder.hpp"

using namespace hmk::sim;
using hmk::RecordedFrame;
using hmk::test::frames_of;
using hmk::test::kMiB;
using Heats = std::vector<hmk::test::Heat>;  // of a second, by region

namespace {

class MachineRecorded : public testing::Test {
 protected:
  /// 100 ns and 300 ns; a move of 4 KiB takes 1 us.
  const std::string& record(const std::vector<RecordedFrame>& frames) {
    hmk::test::RecordingFile file(path_, {4711, "program"});
    file.describe({.machine = {.tiers = {{.nodes = {0}, .latency_ns = 100},
                                         {.nodes = {1, 2}, .latency_ns = 300}},
                               .tier_source = "hmat",
                               .page_ns = 1000,
                               .page_source = "measured"}});
    for (const RecordedFrame& frame : frames) file.append(frame);
    file.finish();
    return path_;
  }
  Question question_of(const std::vector<RecordedFrame>& frames,
                       const hmkctl::TierOptions& options = {}) {
    Question question;
    question.config.mode = hmk::Mode::manage;
    question.config.interval = std::chrono::seconds(1);
    set_recorded(question, record(frames), options);
    return question;
  }
  std::string problem_of(const std::vector<RecordedFrame>& frames) {
    try {
      question_of(frames);
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
    return "";
  }

 private:
  const hmk::test::TempFolder folder_;
  const std::string path_ = folder_ / "run.hmkrec";
};

TEST_F(MachineRecorded, WhereItLayItTakesTheTimeThatWasRecorded) {
  // 2,048 pages, 1,024 and 256 accesses a second each: 0.21 s of 100 ns and 0.16 s of 300 ns.
  const Question question = question_of(frames_of(std::vector(4, Heats{{10, 0}, {8, 2}})));
  EXPECT_EQ(question.workload.name, "run");
  EXPECT_EQ(question.workload.memory, 16 * kMiB);
  EXPECT_EQ(question.prices.page_ns, 1000);
  const Answer answer = place(question, System::kFirstTouch);
  EXPECT_NEAR(answer.ns, 4e9, 100);
  EXPECT_NEAR(answer.operations, 4 * 2048 * (1024 + 256), 1e-3);
  EXPECT_NEAR(answer.share[0], 0.8, 1e-6);
  EXPECT_EQ(answer.resident, (std::vector<Bytes>{8 * kMiB, 8 * kMiB}));
}

TEST_F(MachineRecorded, WhatIsHotInTheSlowTierRises) {
  const Question question = question_of(frames_of(std::vector(60, Heats{{-2, 0}, {10, 1}})));
  const Answer stays = place(question, System::kFirstTouch);
  EXPECT_NEAR(stays.ns, 60e9, 1000);
  const double all_fast = 60e9 - 60 * 2048.0 * 1024 * 200;
  EXPECT_NEAR(place(question, System::kStatic).ns, all_fast, 60e9 / 1000);
  EXPECT_LT(place(question, System::kReactive).ns, (stays.ns + all_fast) / 2);
}

TEST_F(MachineRecorded, PhasesAreThoseOfTheRecording) {
  std::vector<Heats> seconds(6, {{10, 0}, {4, 1}});
  seconds.resize(10, {{4, 0}, {11, 1}});
  const Question question = question_of(frames_of(seconds));
  ASSERT_EQ(question.workload.phases.size(), 10u);
  EXPECT_NEAR(question.workload.phases[5].operations, 2048 * (1024 + 16), 1e-3);
  EXPECT_NEAR(question.workload.phases[6].operations, 2048 * (16 + 2048), 1e-3);
}

TEST_F(MachineRecorded, OfMuchMemoryAPageStandsForSeveralWithAllItsCosts) {
  constexpr std::uint64_t kBytes = 3ull << 30, kPages = kBytes / 4096;
  std::vector<RecordedFrame> frames;
  for (std::uint64_t second = 0; second < 8; ++second) {
    frames.push_back({second, second * 1'000'000'000, (second + 1) * 1'000'000'000, 3});
    frames.back().regions = {{kBytes, kBytes, 256, 256, 0, kPages, -32},
                             {2 * kBytes, kBytes, 256, 256, 1, kPages, 16}};
  }
  const Question question = question_of(frames);
  EXPECT_EQ(question.scale, 2u);
  EXPECT_EQ(question.workload.memory, kBytes);
  EXPECT_EQ(question.prices.page_ns, 2000);
  const Answer stays = place(question, System::kFirstTouch);
  EXPECT_NEAR(stays.ns, 8e9, 100);
  EXPECT_NEAR(stays.share[0], 1 / 9.0, 1e-6);
  EXPECT_EQ(stays.resident, (std::vector<Bytes>{kBytes, kBytes}));
  const Answer managed = place(question, System::kReactive);
  EXPECT_GT(managed.risen, 0u);
  EXPECT_LE(managed.risen, 8 * question.config.promote_limit);
}

/// Of what is recorded at 1 s: stays hot, changes places every 10 s, or is warm in steps.
std::vector<std::vector<Heats>> three_programs() {
  const Heats one{{-2, 0}, {2, 0}, {10, 1}, {4, 1}}, other{{10, 0}, {4, 0}, {-2, 1}, {2, 1}};
  std::vector<std::vector<Heats>> all{std::vector(30, one), {}, {}};
  for (int second = 0; second < 30; ++second) all[1].push_back(second / 10 % 2 == 0 ? one : other);
  all[2].assign(30, {{3, 0}, {5, 0}, {7, 1}, {9, 1}, {8, 1}, {6, 1}, {4, 1}, {2, 1}});
  return all;
}

TEST_F(MachineRecorded, TuningComesNearTheBestOfAllCombinations) {
  for (const auto& program : three_programs()) {
    const Question question = question_of(frames_of(program));
    const SweepPlan plan{
        .question = question,
        .workloads = {question.workload},
        .axes = {{"interval", {"1s", "5s"}}, {"promote_limit", {"1MiB", "200MiB"}}},
        .seeds = 2};
    double best = 1e9, worst = 0;
    for (const auto& row : sweep_machine(plan)) {
      best = std::min(best, row["time_vs_first_touch"].get<double>());
      worst = std::max(worst, row["time_vs_first_touch"].get<double>());
    }
    testing::internal::CaptureStdout();
    const auto tuned = tune_machine(plan).back();
    testing::internal::GetCapturedStdout();
    const auto found = std::ranges::find_if(
        tuned["values"], [&](const auto& value) { return value["value"] == tuned["best"]; });
    EXPECT_LE((*found)["time_vs_first_touch"].get<double>(), 1.05 * best) << tuned.dump();
    EXPECT_GT(worst, 1.05 * best) << "it matters";
  }
}

TEST_F(MachineRecorded, SaysWhatItCannotWorkWith) {
  EXPECT_NE(problem_of(frames_of({{{10, 1}}})).find("--tier 1=4GiB"), std::string::npos);
  EXPECT_EQ(problem_of(frames_of({{{10, 0}, {8, 1}}})), "");
}

}  // namespace
