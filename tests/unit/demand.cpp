// SPDX-License-Identifier: MIT
#include "demand.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "as_recorded.hpp"
#include "support/random.hpp"
#include "support/recorded.hpp"

using namespace hmkctl;
using hmk::RecordedFrame;
using hmk::RecordedTier;
using hmk::policy::schedule;
using hmk::test::frames_of;
using hmk::test::Heat;
using hmk::test::heat_of;
using hmk::test::kMiB;
using hmk::test::Random;

namespace {

const std::vector<RecordedTier> kTwo{{{0}, 100}, {{1}, 300}};

AsRecorded as_recorded(const std::vector<RecordedFrame>& frames,
                       const std::vector<RecordedTier>& tiers) {
  AsRecorded lay(tiers);
  for (const RecordedFrame& one : frames) lay.add(one);
  return lay;
}

TEST(AsRecorded, AccessesCountForTheTierOfTheirNode) {
  const auto lay =
      as_recorded(frames_of({{{10, 0}, {8, 1}, {6, 7}}, {{10, 1}, {8, 0}, {6, 1}}}), kTwo);
  const double page = 2048;  // accesses of a region at one a second and page
  EXPECT_EQ(lay.accesses(), (std::vector{page * (1024 + 256), page * (256 + 1024 + 64)}));
  EXPECT_EQ(lay.unknown(), page * 64) << "node 7 is in no tier";
  EXPECT_EQ(lay.peak(), (std::vector<double>{8 * kMiB, 16 * kMiB}));
}

TEST(Demand, ThreeTiersTakeWhatIsHottestFirst) {
  const auto heat = heat_of(frames_of({{{10, 0}, {9, 0}, {8, 0}}}));
  const Demand demand(heat, {100, 200, 400}, 2000);
  EXPECT_EQ(demand.bytes(), 24 * kMiB);
  EXPECT_EQ(demand.accesses(), 2048.0 * (1024 + 512 + 256));
  const auto best = schedule(demand.forecast({8 * kMiB, 8 * kMiB, kNoLimit}));
  const Outcome outcome = demand.outcome(best);
  EXPECT_NEAR(outcome.latency_ns, (4 * 100 + 2 * 200 + 1 * 400) / 7.0, 1e-6);
  EXPECT_NEAR(outcome.shares[0], 4 / 7.0, 1e-9);
  EXPECT_NEAR(outcome.shares[2], 1 / 7.0, 1e-9);
  EXPECT_EQ(outcome.moved_bytes, 0);
  EXPECT_THROW(schedule(demand.forecast({8 * kMiB, 8 * kMiB, 4 * kMiB})), std::invalid_argument);
}

TEST(Demand, NoPlacementThatWasRecordedBeatsTheBound) {
  const std::vector<RecordedTier> tiers{{{0, 2}, 100}, {{1}, 180}, {{3}, 400}};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::vector<Heat>> seconds(1 + random.below(8), std::vector<Heat>(10, Heat(0)));
    for (auto& second : seconds)
      for (Heat& heat : second)
        heat = Heat(static_cast<int>(random.below(12)) - 2, static_cast<int>(random.below(4)));
    const auto frames = frames_of(seconds);
    const auto lay = as_recorded(frames, tiers);
    const Demand demand(heat_of(frames), {100, 180, 400}, 0);
    const auto best = schedule(demand.forecast(lay.peak()));
    const double took = std::inner_product(lay.accesses().begin(), lay.accesses().end(),
                                           std::vector<double>{100, 180, 400}.begin(), 0.0);
    EXPECT_GE(took / demand.accesses(), demand.bound_ns(best) * (1 - 1e-9));
    EXPECT_GE(demand.outcome(best).latency_ns, demand.bound_ns(best) * (1 - 1e-9));
    EXPECT_NEAR(std::accumulate(lay.accesses().begin(), lay.accesses().end(), 0.0),
                demand.accesses(), 1e-6 * demand.accesses());
  }
}

}  // namespace
