// SPDX-License-Identifier: MIT
//
// The shared table, mapped read-only and mapped again when the module says that
// it has grown. Reading is left to hmk/table_reader.h, its only reader.
#pragma once

#include <cstddef>

#include "device/device.hpp"

namespace hmk {

class Table {
 public:
  Table() = default;
  ~Table();
  Table(Table&& other) noexcept;
  Table& operator=(Table&& other) noexcept;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  static Result<Table> map(int device_fd, std::size_t bytes);

  /// True when the module has a larger table: map that one.
  bool has_moved() const;
  /// err EAGAIN: nothing published yet; after an error `into` means nothing.
  Result<void> read(Snapshot& into) const;

 private:
  const std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hmk
