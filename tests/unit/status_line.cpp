// SPDX-License-Identifier: MIT
#include "status_line.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace {

/// What a process that does `work` writes to its terminal.
template <class Work>
std::string on_a_terminal(Work work) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    work();
    std::fflush(stderr);
    _exit(0);
  }
  std::string said;
  char buffer[256];
  for (ssize_t n = 0; (n = read(terminal, buffer, sizeof(buffer))) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  close(terminal);
  waitpid(child, nullptr, 0);
  return said;
}

TEST(StatusLine, IsShownFiveTimesASecondAtMostAndErasedInTheEnd) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  const std::string said = on_a_terminal([] {
    hmkctl::StatusLine line;
    for (int i = 1; i <= 1000; ++i) line.show("%d of 1000 runs", i);
  });
  const auto fifths = (Clock::now() - began) / std::chrono::milliseconds(200);
  EXPECT_TRUE(said.starts_with("\r1 of 1000 runs\033[K")) << said;
  EXPECT_TRUE(said.ends_with("\033[K\r\033[K")) << said;
  EXPECT_LE(std::ranges::count(said, '\r'), fifths + 2);
}

TEST(StatusLine, WhatIsPrintedAfterEraseStandsOnALineOfItsOwn) {
  const std::string said = on_a_terminal([] {
    hmkctl::StatusLine line;
    line.show("at work");
    line.erase();
    std::fputs("done", stderr);
  });
  EXPECT_EQ(said, "\rat work\033[K\r\033[Kdone");
}

TEST(StatusLine, WithoutATerminalNothingIsSaid) {
  testing::internal::CaptureStderr();
  { hmkctl::StatusLine().show("%d of 16 runs", 16); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
