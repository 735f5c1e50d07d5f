// SPDX-License-Identifier: MIT
#include "pin_choice.hpp"

#include <gtest/gtest.h>

#include "config/pins.hpp"
#include "support/sizes.hpp"

using namespace hmkctl;

namespace {

using hmk::RecordedMapping;
using hmk::test::kMiB;
using Piece = HeatPieces::Piece;

constexpr std::uint64_t kAt = 1ull << 40;
const std::vector<double> kLatency{100, 300};
const hmk::RecordedTarget kRedis{4711, "redis-server"};

Piece heat_at(std::uint64_t start_mib, std::uint64_t mib, double accesses, std::size_t first = 0) {
  return {static_cast<double>(mib * kMiB), {accesses}, kAt + start_mib * kMiB, mib * kMiB, first};
}

RecordedMapping mapping(std::uint64_t start_mib, std::uint64_t end_mib, const char* name) {
  return {kAt + start_mib * kMiB, kAt + end_mib * kMiB, name};
}

/// Each piece in one tier.
hmk::policy::Schedule best(const std::vector<std::uint8_t>& tiers) {
  hmk::policy::Schedule found;
  for (std::size_t i = 0; i < tiers.size(); ++i) found.parts.push_back({i, 1, {tiers[i]}});
  return found;
}

std::vector<double> room(std::uint64_t mib) {
  return {static_cast<double>(mib * kMiB), kNoLimit};
}

std::string text_of(const std::vector<ChosenPin>& pins) {
  std::vector<hmk::Pin> all;
  all.reserve(pins.size());
  for (const ChosenPin& one : pins) all.push_back(one.pin);
  return hmk::pins_text(all);
}

std::string range(std::uint64_t start_mib, std::uint64_t end_mib) {
  return hmk::to_string(
      hmk::Pin{.process = "4711", .start = kAt + start_mib * kMiB, .end = kAt + end_mib * kMiB});
}

TEST(PinChoice, NamesAMappingThatBelongsInATierAsAWhole) {
  const std::vector pieces{heat_at(0, 8, 80), heat_at(16, 8, 10), heat_at(24, 8, 0)};
  const auto placement = best({0, 0, 1});
  const std::vector mappings{mapping(0, 10, "[heap]"), mapping(16, 24, "anonymous"),
                             mapping(24, 32, "[stack]")};
  const auto pins = chosen_pins({pieces, placement, mappings, kRedis}, room(16), kLatency, 16);
  EXPECT_EQ(text_of(pins), "redis-server/[heap]=1,redis-server/[anon]=1");
  EXPECT_EQ(pins[0].bytes, 8 * kMiB);
  EXPECT_EQ(pins[0].accesses, 80);
  EXPECT_EQ(pins[0].saves_ns, 80 * 200);
}

TEST(PinChoice, NamesThePartsOfAMappingByAddress) {
  const std::vector pieces{heat_at(0, 8, 1), heat_at(8, 4, 50), heat_at(12, 8, 1),
                           heat_at(20, 4, 40)};
  const auto placement = best({1, 0, 1, 0});
  const std::vector mappings{mapping(0, 24, "[heap]")};
  const auto pins = chosen_pins({pieces, placement, mappings, kRedis}, room(8), kLatency, 16);
  EXPECT_EQ(text_of(pins), range(8, 12) + "," + range(20, 24));
  EXPECT_TRUE(hmk::parse_pins(text_of(pins)));
}

TEST(PinChoice, JoinsPartsOverWhatIsSmall) {
  const std::vector pieces{heat_at(0, 16, 50), heat_at(16, 1, 0), heat_at(17, 16, 40),
                           heat_at(40, 40, 0)};
  const auto placement = best({0, 1, 0, 1});
  const std::vector mappings{mapping(0, 80, "[heap]")};
  const auto pins = chosen_pins({pieces, placement, mappings, kRedis}, room(64), kLatency, 16);
  EXPECT_EQ(text_of(pins), range(0, 33));
  EXPECT_EQ(pins[0].bytes, 33 * kMiB);
}

TEST(PinChoice, TakesThePartsWhereTheWholeDoesNotFit) {
  const std::vector pieces{heat_at(0, 19, 50), heat_at(19, 1, 0)};
  const auto placement = best({0, 1});
  const std::vector mappings{mapping(0, 20, "[heap]")};
  const auto chosen = [&](std::uint64_t mib) {
    return text_of(chosen_pins({pieces, placement, mappings, kRedis}, room(mib), kLatency, 16));
  };
  EXPECT_EQ(chosen(20), "redis-server/[heap]=1");
  EXPECT_EQ(chosen(19), range(0, 19));
  EXPECT_EQ(chosen(18), "none");
}

/// Of the mappings a, b and c, which all belong in tier 1, by their accesses.
std::string chosen_of(double a, double b, double c, std::size_t most) {
  const std::vector pieces{heat_at(0, 4, a), heat_at(8, 4, b), heat_at(16, 4, c)};
  const auto placement = best({0, 0, 0});
  const std::vector mappings{mapping(0, 4, "a"), mapping(8, 12, "b"), mapping(16, 20, "c")};
  return text_of(chosen_pins({pieces, placement, mappings, kRedis}, room(12), kLatency, most));
}

TEST(PinChoice, TakesNoMoreThanAskedAndWhatSavesMost) {
  EXPECT_EQ(chosen_of(10, 30, 20, 2), "redis-server/b=1,redis-server/c=1");
}

TEST(PinChoice, LeavesOutWhatIsWorthNextToNothing) {
  EXPECT_EQ(chosen_of(1000, 4, 6, 16), "redis-server/a=1,redis-server/c=1");
}

TEST(PinChoice, WritesWhatHmkdReadsWhateverTheNames) {
  const hmk::RecordedTarget odd{4711, "12/3\n"}, digits{4711, "123"};
  const std::vector pieces{heat_at(0, 4, 10), heat_at(8, 4, 30)};
  const auto placement = best({0, 0});
  const std::vector mappings{mapping(0, 4,
                                     "/dev/shm/a,b 'c'\xff"
                                     " old"),
                             mapping(8, 12, "0xyz")};
  const auto pins = chosen_pins({pieces, placement, mappings, odd}, room(8), kLatency, 16);
  EXPECT_EQ(text_of(pins), "12?3?/?xyz=1,12?3?//dev/shm/a?b?'c'??old=1");
  const auto read = hmk::parse_pins(text_of(pins));
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_TRUE(hmk::is_pin_of((*read)[0], 1, "12/3\n"));
  EXPECT_EQ(yaml_item(pins[1].pin), "  - '12?3?//dev/shm/a?b?''c''??old=1'");
  EXPECT_EQ(chosen_pins({pieces, placement, mappings, digits}, room(8), kLatency, 1)[0].pin.process,
            "?23");
}

TEST(PinChoice, ThePinsAloneLeaveTheRestToFirstTouch) {
  // What came first is cold; of the rest the pin names one half.
  const std::vector pieces{heat_at(0, 8, 0, 0), heat_at(8, 8, 60, 1), heat_at(16, 8, 40, 2)};
  const auto placement = best({1, 0, 0});
  const std::vector mappings{mapping(0, 8, "a"), mapping(8, 16, "b"), mapping(16, 24, "c")};
  const PinSource source{pieces, placement, mappings, kRedis};
  const auto pins = chosen_pins(source, room(16), kLatency, 1);
  EXPECT_EQ(text_of(pins), "redis-server/b=1");
  const Outcome outcome = as_pinned(source, pins, room(16), kLatency);
  EXPECT_DOUBLE_EQ(outcome.shares[0], 0.6) << "the other half of the tier goes to what came first";
  EXPECT_DOUBLE_EQ(outcome.latency_ns, 180);
  EXPECT_DOUBLE_EQ(
      as_pinned(source, chosen_pins(source, room(16), kLatency, 2), room(16), kLatency).latency_ns,
      100);
}

}  // namespace
