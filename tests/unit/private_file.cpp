// SPDX-License-Identifier: MIT
#include "util/private_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "util/file.hpp"

namespace hmk {
namespace {

class PrivateFileTest : public ::testing::Test {
 protected:
  void SetUp() override { old_mask_ = ::umask(0); }  // the widest
  void TearDown() override {
    ::umask(old_mask_);
    std::filesystem::remove(path_);
  }
  mode_t mode() const {
    struct stat st {};
    return ::stat(path_.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
  }
  void write(const char* text) {
    auto file = PrivateFile::create(path_);
    ASSERT_TRUE(file) << file.error().line();
    file->write(text);
    ASSERT_TRUE(file->flush());
  }

  const std::string path_ = testing::TempDir() + "hmk-private-" + std::to_string(::getpid());
  mode_t old_mask_ = 0;
};

TEST_F(PrivateFileTest, IsItsOwnersAloneWhateverTheUmask) {
  write("secret");
  EXPECT_EQ(mode(), 0600u);
  EXPECT_EQ(read_text(path_), "secret");
}

TEST_F(PrivateFileTest, AWiderOneThatWasThereIsClosedAndReplaced) {
  std::ofstream(path_) << "something longer";
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  write("short");
  EXPECT_EQ(mode(), 0600u);
  EXPECT_EQ(read_text(path_), "short");
}

TEST_F(PrivateFileTest, SaysWhatCouldNotBeWritten) {
  EXPECT_EQ(PrivateFile::create("/nonexistent/x").error().err, ENOENT);
  auto full = PrivateFile::create("/dev/full");
  ASSERT_TRUE(full);
  full->write("x");
  EXPECT_EQ(full->flush().error().err, ENOSPC);
}

}  // namespace
}  // namespace hmk
