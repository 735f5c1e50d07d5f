// SPDX-License-Identifier: MIT
//
// libhmk's promises to a program, without hmkd.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hmk/hints.h>
#include <hmk/hints_abi.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hmk/pool.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096, kBytes = 1 << 20;

/// A page before and one behind keep it apart from its neighbours.
class Memory {
 public:
  explicit Memory(int fd = -1, int share = MAP_PRIVATE)
      : at_(static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                      share | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0))) {
    std::memset(at_, 7, kBytes);
  }
  ~Memory() { ::munmap(at_, kBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* at() const { return at_; }
  std::size_t zeros() const {
    return static_cast<std::size_t>(std::count(at_, at_ + kBytes, '\0'));
  }

 private:
  char* at_;
};

class HintsLibrary : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("HMK_HINTS_SOCKET", "/nonexistent/hints.sock", 1); }
};

TEST_F(HintsLibrary, SaysWhyThereIsNoHmkd) {
  EXPECT_EQ(hmk_hints_open(), -ENOENT);
  ::setenv("HMK_HINTS_SOCKET", std::string(200, 'x').c_str(), 1);
  EXPECT_EQ(hmk_hints_open(), -ENAMETOOLONG);
}

TEST_F(HintsLibrary, RefusesWhatIsNoMemory) {
  char byte = 0;
  const auto refused = [](void* start, std::size_t bytes, unsigned flags) {
    errno = 0;
    return hmk_register(start, bytes, "x", flags) == 0 && errno == EINVAL;
  };
  EXPECT_TRUE(refused(&byte, 0, 0));
  EXPECT_TRUE(refused(&byte, std::numeric_limits<std::size_t>::max(), 0)) << "wraps";
  EXPECT_TRUE(refused(reinterpret_cast<void*>(1ull << 56), 1, 0));
  EXPECT_TRUE(refused(&byte, 1, 2)) << "an unknown flag";
}

TEST_F(HintsLibrary, OnlyPrivateAnonymousMemoryIsGivenBack) {
  const int fd = ::memfd_create("file", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, kBytes), 0);
  const Memory own, shared(-1, MAP_SHARED), file(fd);
  EXPECT_EQ(hmk_register(shared.at(), kBytes, "x", HMK_OBJECT_ANON), 0u);
  EXPECT_EQ(hmk_register(file.at(), kBytes, "x", HMK_OBJECT_ANON), 0u);
  EXPECT_EQ(hmk_register(own.at() + kBytes - kPage, 1ull << 40, "x", HMK_OBJECT_ANON), 0u)
      << "not all of it is mapped";
  const hmk_object of_file = hmk_register(file.at(), kBytes, "x", 0);
  hmk_retire(of_file);
  EXPECT_EQ(file.zeros(), 0u);
  const hmk_object moved = hmk_register(own.at(), kBytes, "x", HMK_OBJECT_ANON);
  hmk_move_object(moved, file.at(), kBytes);
  hmk_retire(moved);
  EXPECT_EQ(file.zeros(), 0u) << "it is of a file now, and its written pages are all there is";
  hmk_unregister(of_file);
  hmk_unregister(moved);
  ::close(fd);
}

TEST_F(HintsLibrary, WhatIsDeadIsGivenBackInWholePages) {
  const Memory own;
  const hmk_object object = hmk_register(own.at() + 1, kBytes - 2, "x", HMK_OBJECT_ANON);
  ASSERT_NE(object, 0u);
  hmk_retire(object);
  EXPECT_EQ(own.zeros(), kBytes - 2 * kPage) << "not the pages at both ends";
  EXPECT_EQ(own.at()[0], 7);
  EXPECT_EQ(own.at()[kBytes - 1], 7);
  hmk_unregister(object);
}

TEST_F(HintsLibrary, GivesBackNothingSmall) {
  const Memory own;
  for (const std::size_t bytes : {(64ul << 10) - 1, 64ul << 10}) {
    const hmk_object object = hmk_register(own.at(), bytes, "x", HMK_OBJECT_ANON);
    hmk_retire(object);
    EXPECT_EQ(own.zeros(), bytes == 64ul << 10 ? bytes : 0u);
    hmk_unregister(object);
  }
}

TEST_F(HintsLibrary, HasRoomForSoManyObjectsAndUsesItAnew) {
  std::vector<hmk_object> objects;
  char* const at = reinterpret_cast<char*>(kBytes);
  for (unsigned i = 0; i < HMK_HINTS_SLOTS; ++i)
    objects.push_back(hmk_register(at + i * kPage, kPage, "x", 0));
  EXPECT_EQ(std::count(objects.begin(), objects.end(), 0u), 0);
  errno = 0;
  EXPECT_EQ(hmk_register(at, kPage, "x", 0), 0u);
  EXPECT_EQ(errno, ENOSPC);
  hmk_unregister(objects[4711]);
  hmk_unregister(objects[4711]);  // twice is once
  objects[4711] = hmk_register(at, kPage, "x", 0);
  EXPECT_NE(objects[4711], 0u);
  EXPECT_EQ(hmk_register(at, kPage, "x", 0), 0u);
  for (const hmk_object object : objects) hmk_unregister(object);
}

TEST_F(HintsLibrary, NothingHappensToWhatIsNoObject) {
  for (const hmk_object object : {0u, 16000u, ~0u}) {
    hmk_will_use(object);
    hmk_will(object, HMK_READ, 3);
    hmk_archive(object);
    hmk_retire(object);
    hmk_move_object(object, nullptr, 0);
    hmk_unregister(object);
  }
}

TEST_F(HintsLibrary, AChildHasNoneOfItsParentsObjects) {
  const Memory own;
  const hmk_object object = hmk_register(own.at(), kBytes, "x", HMK_OBJECT_ANON);
  const pid_t child = ::fork();
  if (child == 0) {
    hmk_retire(object);
    hmk_will_use(object);
    const bool is_whole = own.zeros() == 0;
    const hmk_object its_own = hmk_register(own.at(), kBytes, "x", HMK_OBJECT_ANON);
    hmk_retire(object);  // the same slot, of another epoch
    ::_exit(is_whole && own.zeros() == 0 && its_own != 0 && its_own != object ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  hmk_retire(object);
  EXPECT_EQ(own.zeros(), kBytes);
  hmk_unregister(object);
}

TEST_F(HintsLibrary, APoolGivesOutMemoryOfAnySize) {
  hmk::pool_resource pool("pool");
  std::pmr::vector<std::pmr::string> texts(&pool);
  for (int i = 0; i < 1000; ++i)
    texts.emplace_back(std::string(static_cast<std::size_t>(1) << i % 22, 'x'));
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(texts[static_cast<std::size_t>(i)].size(), std::size_t{1} << i % 22);
  pool.will_use();
  pool.archive();
  texts.clear();
  void* const large = pool.allocate(std::size_t{5} << 20, 4096);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % (2u << 20), 0u) << "for huge pages";
  std::memset(large, 1, std::size_t{5} << 20);
  pool.deallocate(large, std::size_t{5} << 20, 4096);
  EXPECT_THROW((void)pool.allocate(std::size_t{1} << 62, 8), std::bad_alloc);
}

}  // namespace
