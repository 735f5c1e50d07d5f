// SPDX-License-Identifier: MIT
#include "stage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <regex>

namespace hmk::load {
namespace {

struct Said {
  std::string text;
  int code;
};

/// What a load prints that writes `wrong` values and stops after ten batches.
Said play(std::vector<const char*> words, std::uint64_t wrong) {
  words.insert(words.begin(), "load");
  Options options(static_cast<int>(words.size()), const_cast<char**>(words.data()), "");
  Stage stage(options, Truth::kKnown);
  options.finish();
  testing::internal::CaptureStdout();
  stage.ready({4096, 8192}, {{4096, 4096}}, kPage, {});
  while (stage.goes_on(64)) continue;
  const int code = stage.end(wrong);
  return {testing::internal::GetCapturedStdout(), code};
}

TEST(Stage, SaysReadyThenTheTruthThenTheEnd) {
  const Said said = play({"--ops", "640"}, 0);
  EXPECT_TRUE(std::regex_match(
      said.text,
      std::regex(
          R"(\{"verb": "ready", "pid": \d+, "start": 4096, "length": 8192\}\n)"
          R"(\{"verb": "truth", "pid": \d+, "start": 4096, "length": 8192, "at_ms": 0, "hot": )"
          R"(\[\[4096, 4096\]\]\}\n)"
          R"(\{"verb": "over", "ops": 640\}\n)"
          R"(\{"verb": "end", "ops": 640, "wrong_values": 0, "gap_p50_us": [\d.]+, )"
          R"("gap_p99_us": [\d.]+, "gap_max_us": [\d.]+, "gaps": 10\}\n)")))
      << said.text;
  EXPECT_EQ(said.code, 0);
}

TEST(Stage, KeepsToARate) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(play({"--ops", "6400", "--rate", "64000"}, 0).code, 0);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, std::chrono::milliseconds(99)) << "6400 operations, 64000 a second";
}

TEST(Stage, FailsWhenAValueWasWrong) {
  const Said said = play({"--ops", "64"}, 3);
  EXPECT_NE(said.text.find("\"wrong_values\": 3"), std::string::npos) << said.text;
  EXPECT_EQ(said.code, 1);
}

/// What it says while it jumps `most` times from the first page of `memory` to the second, or for
/// `longest` after the first jump.
std::string jump(std::vector<std::string> words, Range memory, int most,
                 std::chrono::milliseconds longest) {
  using Clock = std::chrono::steady_clock;
  words.insert(words.begin(), "load");
  words.insert(words.end(), {"--for", "30s"});
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  Options options(static_cast<int>(argv.size()), argv.data(), "");
  Stage stage(options, Truth::kKnown);
  const std::vector<Range> first{{memory.start, kPage}}, second{{memory.start + kPage, kPage}};
  testing::internal::CaptureStdout();
  stage.ready(memory, first, kPage, second);
  auto stop_at = Clock::time_point::max();
  for (int jumps = 0; jumps < most && Clock::now() < stop_at && stage.goes_on(64);) {
    if (!stage.jump_is_due()) continue;
    stage.jump(second);
    if (++jumps == 1) stop_at = Clock::now() + longest;
  }
  return testing::internal::GetCapturedStdout();
}

std::ptrdiff_t count(const std::string& text, const char* line) {
  const std::regex wanted(line);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), {});
}

TEST(Stage, JumpsOnceOrAgainAndAgain) {
  using namespace std::chrono_literals;
  const Range memory{4096, 8192};
  const char* const jumped = R"("at_ms": \d+, "hot": \[\[8192, 4096\]\])";
  EXPECT_EQ(count(jump({"--jump-after", "1ms"}, memory, 2, 100ms), jumped), 1);
  EXPECT_EQ(count(jump({"--jump-every", "1ms"}, memory, 3, 30s), jumped), 3);
}

TEST(Stage, PlacesWhatIsHotAfterItsOnlyJumpBeforeTheWork) {
  using namespace std::chrono_literals;
  Memory memory(2 * kPage, false);
  memory.touch();
  const auto placings = [&](const char* when, int most, std::chrono::milliseconds longest) {
    const std::string said =
        jump({"--place", "truth", "--nodes", "0", "--reserve", "1MiB", when, "1ms"}, memory.range(),
             most, longest);
    return count(said, R"("verb": "placed")");
  };
  EXPECT_EQ(placings("--jump-after", 1, 1s), 1);
  EXPECT_EQ(placings("--jump-every", 3, 30s), 1 + 3);
}

}  // namespace
}  // namespace hmk::load
