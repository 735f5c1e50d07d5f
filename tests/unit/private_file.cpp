// SPDX-License-Identifier: MIT
#include "util/private_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

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
    ASSERT_TRUE(file->write(text));
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
  EXPECT_EQ(full->write("x").error().err, ENOSPC);
}

TEST_F(PrivateFileTest, ForgetsWhatIsCutOffAndGoesOnThere) {
  auto file = PrivateFile::create(path_);
  ASSERT_TRUE(file && file->write("whole, par") && file->cut(5) && file->write(" again"));
  EXPECT_EQ(read_text(path_), "whole again");
}

TEST_F(PrivateFileTest, ThatIsAPipeWithoutAReaderSaysSo) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  Fd reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK));
  auto pipe = PrivateFile::create(path_);
  ASSERT_TRUE(reader && pipe);
  reader = Fd();
  void (*const old)(int) = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(pipe->write("x").error().line(),
            path_ + ": cannot be written: Broken pipe; keep its reader running");
  std::signal(SIGPIPE, old);
}

/// No file of this process may be larger than `bytes` while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
    old_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_);
  }

 private:
  rlimit before_{};
  void (*old_)(int) = SIG_DFL;
};

class ReplacedFile : public PrivateFileTest {
 protected:
  void SetUp() override {
    PrivateFileTest::SetUp();
    std::filesystem::create_directory(dir_);
  }
  void TearDown() override {
    std::filesystem::remove_all(dir_);
    PrivateFileTest::TearDown();
  }
  std::size_t nr_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir_),
                                                  std::filesystem::directory_iterator()));
  }
  const std::string dir_ = path_ + ".d", file_ = dir_ + "/page";
};

TEST_F(ReplacedFile, HasAllAndIsItsOwnersAlone) {
  std::ofstream(file_) << "something longer";
  ASSERT_TRUE(replace_private_file(file_, "new"));
  EXPECT_EQ(read_text(file_), "new");
  struct stat st {};
  ASSERT_EQ(::stat(file_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
  EXPECT_EQ(nr_files(), 1u);
}

TEST_F(ReplacedFile, WithoutRoomItIsAsItWasAndNothingIsLeftBehind) {
  std::ofstream(file_) << "old";
  const FileLimit full(1000);
  EXPECT_EQ(replace_private_file(file_, std::string(5000, 'x')).error().err, EFBIG);
  EXPECT_EQ(read_text(file_), "old");
  EXPECT_EQ(replace_private_file(dir_ + "/other", std::string(5000, 'x')).error().err, EFBIG);
  EXPECT_EQ(nr_files(), 1u);
}

TEST_F(ReplacedFile, ALinkStaysOne) {
  std::ofstream(file_) << "old";
  std::filesystem::create_symlink("page", dir_ + "/link");
  ASSERT_TRUE(replace_private_file(dir_ + "/link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir_ + "/link"));
  EXPECT_EQ(read_text(file_), "new");
}

TEST_F(ReplacedFile, ADeviceIsWrittenAndAFolderIsRefused) {
  EXPECT_TRUE(replace_private_file("/dev/null", "x"));
  EXPECT_EQ(replace_private_file("/dev/full", "x").error().err, ENOSPC);
  EXPECT_EQ(replace_private_file(dir_, "x").error().err, EISDIR);
  EXPECT_EQ(replace_private_file("/nonexistent/x", "x").error().err, ENOENT);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(nr_files(), 0u);
}

}  // namespace
}  // namespace hmk
