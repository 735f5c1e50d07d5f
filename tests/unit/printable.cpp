// SPDX-License-Identifier: MIT
#include "util/printable.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

TEST(Printable, LeavesOrdinaryTextAsItIs) {
  for (const char* const text : {"", "redis-server", "a b=\"c\" \\x0a", "größer", "日本", "😀"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, NoNameForgesALogLineOrATerminalSequence) {
  EXPECT_EQ(printable("\n<0>forged\x1b[2J"), "\\x0a<0>forged\\x1b[2J");
  EXPECT_EQ(printable("\r\t\x7f"), "\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "the one-byte CSI, as UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J")
      << "and as it is";
  EXPECT_EQ(printable("\u2028\u202e\u2066"), "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6");
}

TEST(Printable, WhatIsNoUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a newline written too long";
  EXPECT_EQ(printable("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable("\xc3\n"), "\\xc3\\x0a") << "a byte that does not belong to it is not lost";
}

TEST(Printable, AWordOfALogLineStaysOneWord) {
  EXPECT_EQ(printable_word("redis-server"), "redis-server");
  EXPECT_EQ(printable_word(""), "\"\"");
  EXPECT_EQ(printable_word("a mode=manage"), "\"a mode=manage\"");
  EXPECT_EQ(printable_word("a\" b"), "\"a\\\" b\"");
  EXPECT_EQ(printable_word("a\nb"), "a\\x0ab");
}

}  // namespace
}  // namespace hmk
