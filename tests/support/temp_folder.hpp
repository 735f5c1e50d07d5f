// SPDX-License-Identifier: MIT
//
// A folder of this test alone: tests run side by side, and of one name each.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace hmk::test {

class TempFolder {
 public:
  TempFolder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr) << path_; }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = testing::TempDir() + "hmk-test-XXXXXX";
};

}  // namespace hmk::test
