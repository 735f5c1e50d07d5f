// SPDX-License-Identifier: MIT
#include "device/table.hpp"

#include <hmk/table_reader.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hmk {
namespace {

Error explain(int err) {
  if (err == EAGAIN) return {"nothing has been published yet", "wait for the first interval", err};
  if (err == ESTALE) return {"the table has grown", "map it again", err};
  if (err == EPROTO)
    return {"the table of hmk.ko is not in the expected layout",
            "install module and daemon of the same release and reload the module", err};
  return {std::string("the table cannot be read: ") + std::strerror(err), "", err};
}

}  // namespace

Table::~Table() {
  if (base_ != nullptr) ::munmap(const_cast<std::byte*>(base_), bytes_);
}

Table::Table(Table&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Table& Table::operator=(Table&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<Table> Table::map(int device_fd, std::size_t bytes) {
  void* const base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, device_fd, 0);
  if (base == MAP_FAILED)
    return Error{std::string("the table cannot be mapped: ") + std::strerror(errno),
                 kUnexpected, errno};
  Table table;
  table.base_ = static_cast<const std::byte*>(base);
  table.bytes_ = bytes;
  return table;
}

bool Table::has_moved() const {
  hmk_table_header header{};
  return hmk_table_check(base_, bytes_, &header) == -ESTALE;
}

Result<void> Table::read(Snapshot& into) const {
  std::size_t count = 0;
  for (;;) {
    const int status = hmk_table_read(base_, bytes_, &into.interval, into.records.data(),
                                      into.records.size(), &count);
    // The number of regions is told with the refusal; the next interval may have more.
    if (status == -ENOSPC) {
      into.records.resize(count + count / 8);
      continue;
    }
    if (status != 0) return explain(-status);
    into.records.resize(count);
    into.counted_ns = into.interval.start_ns;  // the module counts first, then it samples
    return {};
  }
}

}  // namespace hmk
