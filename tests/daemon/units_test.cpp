// SPDX-License-Identifier: MIT
#include "util/units.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

using namespace std::chrono_literals;

TEST(Units, ReadsEachUnitOfTime) {
  EXPECT_EQ(*parse_duration("10s"), 10s);
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("2min"), 2min);
  EXPECT_EQ(*parse_duration("1h"), 1h);
  EXPECT_EQ(*parse_duration("0s"), 0s);
}

TEST(Units, ReadsEachUnitOfSize) {
  EXPECT_EQ(*parse_size("200MiB"), 200ull << 20);
  EXPECT_EQ(*parse_size("200MB"), 200'000'000u);
  EXPECT_EQ(*parse_size("0.5GiB"), 1ull << 29);
  EXPECT_EQ(*parse_size("0B"), 0u);
  EXPECT_EQ(*parse_size("18446744073709551615B"), 18446744073709551615u);
}

TEST(Units, RefusesANumberThatNeedsAUnitAndHasNone) {
  for (const char* const text : {"10", "0", "1.5"}) {
    EXPECT_NE(parse_duration(text).error().what.find("without unit"), std::string::npos) << text;
    EXPECT_NE(parse_size(text).error().what.find("without unit"), std::string::npos) << text;
    EXPECT_NE(parse_percent_bp(text).error().what.find("without unit"), std::string::npos) << text;
  }
}

TEST(Units, RefusesWhatOnlyLooksLikeANumber) {
  for (const char* const text : {"",     "s",      ".5s",  "1.s",   "-1s",
                                 "+1s",  "1e3s",   "010s", "0x10s", ".nan",
                                 ".inf", "nan",    "inf",  " 1s",   "1s ",
                                 "1 s",  "1.5.5s", "1S",   "1m",    "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
    EXPECT_FALSE(parse_size(text)) << text;
    EXPECT_FALSE(parse_percent_bp(text)) << text;
    EXPECT_FALSE(parse_fraction_q16(text)) << text;
    EXPECT_FALSE(parse_count(text)) << text;
  }
}

TEST(Units, RefusesWhatOverflows) {
  EXPECT_FALSE(parse_size("18446744073709551616B"));
  EXPECT_FALSE(parse_size("16777216TiB"));
  EXPECT_FALSE(parse_duration("9223372037s"));
  EXPECT_FALSE(parse_duration("2562048h"));
}

TEST(Units, PercentsAreExactToTwoDecimalsAndEndAtHundred) {
  EXPECT_EQ(*parse_percent_bp("5%"), 500u);
  EXPECT_EQ(*parse_percent_bp("0.01%"), 1u);
  EXPECT_EQ(*parse_percent_bp("0.5%"), 50u);
  EXPECT_EQ(*parse_percent_bp("100%"), 10000u);
  EXPECT_FALSE(parse_percent_bp("100.01%"));
  EXPECT_EQ(*parse_percent_up_to("800%", 80000), 80000u);
  EXPECT_NE(parse_percent_up_to("800.01%", 80000).error().what.find("is above 800%"),
            std::string::npos);
  EXPECT_FALSE(parse_percent_bp("0.001%"));
}

TEST(Units, CountsAreDigitsOnly) {
  EXPECT_EQ(*parse_count("0"), 0u);
  EXPECT_EQ(*parse_count("64"), 64u);
  for (const char* const text : {"010", "1.0", "1 ", "-1", "0x1", "1k"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(Units, WhatIsWrittenReadsBackAsTheSame) {
  for (const Nanoseconds value : {Nanoseconds(0), Nanoseconds(50ms), Nanoseconds(10s),
                                  Nanoseconds(1500ms), Nanoseconds(10min), Nanoseconds(123456789)})
    EXPECT_EQ(*parse_duration(format_duration(value)), value);
  for (const std::uint64_t value : {0ull, 1ull, 4096ull, 200ull << 20, 1ull << 40, 1234567ull})
    EXPECT_EQ(*parse_size(format_size(value)), value);
  for (std::uint32_t bp = 0; bp <= 10'000; ++bp)
    EXPECT_EQ(*parse_percent_bp(format_percent_bp(bp)), bp);
  for (std::uint32_t q16 = 0; q16 <= 65536; q16 += 7)
    EXPECT_EQ(*parse_fraction_q16(format_fraction_q16(q16)), q16);
}

TEST(Units, WritesTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_duration(10s), "10s");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_size(200ull << 20), "200MiB");
  EXPECT_EQ(format_percent_bp(500), "5%");
  EXPECT_EQ(format_percent_bp(50), "0.5%");
  EXPECT_EQ(format_fraction_q16(32768), "0.5");
  EXPECT_EQ(format_fraction_q16(65536), "1");
}

}  // namespace
}  // namespace hmk
