// SPDX-License-Identifier: MIT
#include "gauge.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <set>

namespace hmkctl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBytes = 4ul << 20, kLine = 64, kWord = 8;

hmk::Result<NodeMemory> memory() {
  return NodeMemory::on(0, kBytes, Pages::base);
}

/// Twice the one that this runs on: two threads, whatever there is.
std::vector<int> two_cpus() {
  return {::sched_getcpu(), ::sched_getcpu()};
}

TEST(Gauge, TheChainGoesThroughEachLineOnce) {
  const auto area = memory();
  if (!area) GTEST_SKIP() << area.error().line();
  Chain chain(*area);
  EXPECT_GT(chain.step_ns(::sched_getcpu(), kBytes / kLine, Chain::Way::write), 0);
  std::set<const char*> seen;
  const char* at = area->data();
  do {
    seen.insert(at);
    EXPECT_EQ(reinterpret_cast<char* const*>(at)[1], *reinterpret_cast<char* const*>(at))
        << "written";
    at = *reinterpret_cast<char* const*>(at);
  } while (at != area->data());
  EXPECT_EQ(seen.size(), kBytes / kLine);
  EXPECT_GT(chain.step_ns(::sched_getcpu(), 1000, Chain::Way::read), 0);
}

// What was passed once is in a cache, which is not what is to be measured.
TEST(Gauge, TheChainIsFollowedFromWhereItEnded) {
  const auto area = memory();
  if (!area) GTEST_SKIP() << area.error().line();
  Chain chain(*area);
  const auto written = [&] {
    std::size_t lines = 0;
    for (std::size_t at = 0; at < kBytes; at += kLine)
      lines += std::memcmp(area->data() + at, area->data() + at + kWord, kWord) == 0;
    return lines;
  };
  for (std::size_t times = 1; times <= 4; ++times) {
    chain.step_ns(::sched_getcpu(), 1000, Chain::Way::write);
    EXPECT_EQ(written(), times * 1000);
  }
}

TEST(Gauge, EachThreadReadsAndCopiesAPartOfItsOwn) {
  const auto from = memory(), to = memory();
  if (!from || !to) GTEST_SKIP() << (from ? to : from).error().line();
  std::memset(from->data(), 7, kBytes);
  std::memset(to->data(), 0, kBytes);
  EXPECT_GT(read_bandwidth(*from, two_cpus(), 1ms), 0);
  EXPECT_GT(copy_bandwidth(*from, *to, two_cpus(), 1ms), 0);
  EXPECT_EQ(to->data()[0], 7) << "of the first thread's";
  EXPECT_EQ(to->data()[kBytes / 2], 7) << "of the second one's";
}

}  // namespace
}  // namespace hmkctl
