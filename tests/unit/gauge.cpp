// SPDX-License-Identifier: MIT
#include "gauge.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <set>

namespace hmkctl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBytes = 4ul << 20, kLine = 64;

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
  lay_chain(*area);
  EXPECT_GT(chase_ns(*area, ::sched_getcpu(), kBytes / kLine, Chase::write), 0);
  std::set<const char*> seen;
  const char* at = area->data();
  do {
    seen.insert(at);
    EXPECT_EQ(reinterpret_cast<char* const*>(at)[1], *reinterpret_cast<char* const*>(at)) << "written";
    at = *reinterpret_cast<char* const*>(at);
  } while (at != area->data());
  EXPECT_EQ(seen.size(), kBytes / kLine);
  EXPECT_GT(chase_ns(*area, ::sched_getcpu(), 1000, Chase::read), 0);
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
