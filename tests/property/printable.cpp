// SPDX-License-Identifier: MIT
#include "util/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/random.hpp"

namespace hmk {
namespace {

/// Any bytes, many of them ones that mean something to a terminal, a journal or UTF-8.
std::string some_text(test::Random& random) {
  static const std::string_view kPieces[]{
      "\n",   "<0>",      "\x1b", "[2J",          "\xc2",
      "\x9b", "\xe2\x80", "\xae", "\xed\xa0\x80", "\xf0\x9f\x98\x80",
      "ö",    "a",        "\""};
  std::string text;
  for (std::uint64_t n = random.below(24); n > 0; --n) {
    if (random.one_in(2))
      text += static_cast<char>(random.below(256));
    else
      text += kPieces[random.below(std::size(kPieces))];
  }
  return text;
}

/// Decoded by another's hands: throws at what is no UTF-8, and has every character as a number.
std::u32string characters_of(const std::string& text) {
  const std::string ascii = nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true);
  std::u32string all;
  for (std::size_t at = 1; at + 1 < ascii.size(); ++at) {
    if (ascii[at] != '\\') {
      all += static_cast<unsigned char>(ascii[at]);
    } else if (ascii[++at] != 'u') {
      all += ascii[at] == '"' || ascii[at] == '\\' ? static_cast<unsigned char>(ascii[at]) : U'\n';
    } else {
      all += static_cast<char32_t>(std::stoul(ascii.substr(at + 1, 4), nullptr, 16));
      at += 4;
    }
  }
  return all;
}

TEST(PrintableProperty, NothingActsOnAJournalOrATerminalWhateverTheBytes) {
  test::Random random(17);
  for (int round = 0; round < 100'000; ++round) {
    const std::string text = some_text(random), shown = printable(text);
    for (const char32_t c : characters_of(shown)) {
      ASSERT_GE(c, 0x20u) << testing::PrintToString(text);
      ASSERT_FALSE(c >= 0x7f && c < 0xa0) << testing::PrintToString(text);
      ASSERT_FALSE(c >= 0x2028 && c <= 0x202e) << testing::PrintToString(text);
    }
    ASSERT_EQ(printable(shown), shown) << "twice is once";
    ASSERT_GE(shown.size(), text.size()) << "nothing is left out";
    const std::string word = printable_word(text);
    ASSERT_TRUE(word.find_first_of(" =") == word.npos ||
                (word.front() == '"' && word.back() == '"'));
  }
}

}  // namespace
}  // namespace hmk
