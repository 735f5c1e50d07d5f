// SPDX-License-Identifier: MIT
#include "util/log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace hmk {
namespace {

/// What comes out while stderr is the journal's.
template <class Say>
std::string to_journal(Say say) {
  testing::internal::CaptureStderr();
  struct stat st {};
  EXPECT_EQ(::fstat(STDERR_FILENO, &st), 0);
  const std::string stream = std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
  ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
  open_log("info");
  say();
  ::unsetenv("JOURNAL_STREAM");
  std::string text = testing::internal::GetCapturedStderr();
  open_log("off");
  return text;
}

TEST(Log, TheNameOfAProcessForgesNoLineOfTheJournal) {
  const std::string name = "\n<0>forged\x1b[2J";
  EXPECT_EQ(to_journal([&] { spdlog::warn("target ended comm={}", name); }),
            "<4>target ended comm=\\x0a<0>forged\\x1b[2J\n");
  EXPECT_EQ(to_journal([&] {
              spdlog::info(
                  "a\xc2\x9b"
                  "b\xff");
            }),
            "<6>a\\xc2\\x9bb\\xff\n");
}

}  // namespace
}  // namespace hmk
