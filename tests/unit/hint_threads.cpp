// SPDX-License-Identifier: MIT
//
// libhmk and the reader of hmkd on one table: threads move an object to and fro and say something
// of others, and what is read was so at some moment. Run under ThreadSanitizer as well.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hmk/hints.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "hints/hint_table.hpp"

using namespace hmk;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr int kMoves = 20'000;
constexpr unsigned kThreads = 4;

void* at(std::uint64_t mib) {
  return reinterpret_cast<void*>(mib * kMiB);
}

/// The table that this process's libhmk has made.
Fd own_table() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::filesystem::read_symlink(entry).string().starts_with("/memfd:hmk-hints"))
      return Fd(::fcntl(std::stoi(entry.path().filename()), F_DUPFD_CLOEXEC, 0));
  return {};
}

class HintsBesideThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HMK_HINTS_SOCKET", "/nonexistent/hints.sock", 1);
    const hmk_object first = hmk_register(at(1), kMiB, "first", 0);
    auto table = HintTable::adopt(own_table());
    hmk_unregister(first);
    ASSERT_TRUE(table) << table.error().line();
    table_.emplace(*std::move(table));
  }
  std::optional<HintTable> table_;
};

TEST_F(HintsBesideThreads, AnObjectThatMovesIsNeverReadHalfMoved) {
  const hmk_object object = hmk_register(at(16), kMiB, "moves", 0);
  std::atomic<bool> is_done = false;
  std::thread mover([&] {
    for (int i = 0; i < kMoves; ++i) {
      hmk_move_object(object, at(32), 2 * kMiB);
      hmk_move_object(object, at(16), kMiB);
    }
    is_done = true;
  });
  std::uint64_t nr_read = 0, nr_wrong = 0;
  while (!is_done || nr_read == 0)
    for (const Hint& hint : table_->read()) {
      ++nr_read;
      nr_wrong += (hint.end - hint.start) * 16 != hint.start || hint.label != "moves";
    }
  mover.join();
  hmk_unregister(object);
  EXPECT_EQ(nr_wrong, 0u);
}

TEST_F(HintsBesideThreads, TheLastWordOnEachObjectCounts) {
  std::vector<std::thread> threads;
  std::vector<hmk_object> objects(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) objects[i] = hmk_register(at(64 + 8 * i), kMiB, "one", 0);
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([object = objects[i], i] {
      for (int n = 0; n < kMoves; ++n) hmk_will_use(object);
      i % 2 == 0 ? hmk_archive(object) : hmk_will_write(object);
    });
  for (std::thread& thread : threads) thread.join();
  const std::vector<Hint> hints = table_->read();
  ASSERT_EQ(hints.size(), kThreads);
  for (const Hint& hint : hints) {
    const auto i = (hint.start / kMiB - 64) / 8;
    EXPECT_EQ(hint.says, i % 2 == 0 ? HMK_SAYS_ARCHIVE : HMK_SAYS_WRITE);
    EXPECT_EQ(hint.number, kMoves + 1u);
    hmk_unregister(objects[i]);
  }
}

TEST_F(HintsBesideThreads, ObjectsComeAndGoInAllThreads) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([i] {
      for (int n = 0; n < kMoves / 4; ++n) {
        const hmk_object object = hmk_register(at(64 + 8 * i), kMiB, "brief", 0);
        hmk_will_read(object);
        hmk_unregister(object);
      }
    });
  for (int n = 0; n < 200; ++n)
    for (const Hint& hint : table_->read()) EXPECT_EQ(hint.end - hint.start, kMiB);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(table_->read().empty());
}

}  // namespace
