// SPDX-License-Identifier: MIT
#include "stage.hpp"

#include <gtest/gtest.h>

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
  int jumps = 0;
  do {
    if (stage.jump_is_due() && ++jumps) stage.jump({{8192, 4096}});
  } while (stage.goes_on(64));
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

TEST(Stage, FailsWhenAValueWasWrong) {
  const Said said = play({"--ops", "64"}, 3);
  EXPECT_NE(said.text.find("\"wrong_values\": 3"), std::string::npos) << said.text;
  EXPECT_EQ(said.code, 1);
}

TEST(Stage, JumpsOnceOrAgainAndAgain) {
  const auto jumps = [](const std::string& text) {
    const std::regex jump("\"hot\": \\[\\[8192, 4096\\]\\]");
    return std::distance(std::sregex_iterator(text.begin(), text.end(), jump), {});
  };
  EXPECT_EQ(jumps(play({"--for", "300ms", "--jump-after", "20ms"}, 0).text), 1);
  EXPECT_GE(jumps(play({"--for", "300ms", "--jump-every", "20ms"}, 0).text), 2);
}

}  // namespace
}  // namespace hmk::load
