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
  stage.ready({4096, 8192}, {{4096, 4096}}, kPage);
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

/// What it says while it jumps `most` times, or for `longest` after the first jump.
std::string jump(std::vector<std::string> words, int most, std::chrono::milliseconds longest) {
  using Clock = std::chrono::steady_clock;
  words.insert(words.begin(), "load");
  words.insert(words.end(), {"--for", "30s"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Options options(static_cast<int>(argv.size()), argv.data(), "");
  Stage stage(options, Truth::kKnown);
  Memory memory(4 * kPage, false);
  memory.touch();
  const std::uint64_t start = memory.range().start;
  testing::internal::CaptureStdout();
  stage.ready(memory.range(), {{start, kPage}}, kPage, {{start + kPage, kPage}});
  auto stop_at = Clock::time_point::max();
  for (int jumps = 0; jumps < most && Clock::now() < stop_at && stage.goes_on(64);) {
    if (!stage.jump_is_due()) continue;
    stage.jump({{start + kPage, kPage}});
    if (++jumps == 1) stop_at = Clock::now() + longest;
  }
  return testing::internal::GetCapturedStdout();
}

std::ptrdiff_t count(const std::string& text, const char* verb) {
  const std::regex line(std::string(R"(\{"verb": ")") + verb + '"');
  return std::distance(std::sregex_iterator(text.begin(), text.end(), line), {});
}

TEST(Stage, JumpsOnceOrAgainAndAgain) {
  using namespace std::chrono_literals;
  EXPECT_EQ(count(jump({"--jump-after", "1ms"}, 2, 100ms), "truth"), 1 + 1);
  EXPECT_EQ(count(jump({"--jump-every", "1ms"}, 3, 30s), "truth"), 1 + 3);
}

TEST(Stage, PlacesWhatIsHotAfterItsOnlyJumpBeforeTheWork) {
  using namespace std::chrono_literals;
  const std::vector<std::string> place{"--place", "truth", "--nodes", "0", "--reserve", "1MiB"};
  auto with = [&](const char* when) {
    std::vector<std::string> words = place;
    words.insert(words.end(), {when, "1ms"});
    return words;
  };
  EXPECT_EQ(count(jump(with("--jump-after"), 1, 1s), "placed"), 1);
  EXPECT_EQ(count(jump(with("--jump-every"), 3, 30s), "placed"), 1 + 3);
}

}  // namespace
}  // namespace hmk::load
