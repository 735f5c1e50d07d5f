// SPDX-License-Identifier: MIT
//
// A table as the module writes it, in ordinary memory, with room to damage it.
#pragma once

#include <linux/hmk.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hmk::test {

class Table {
 public:
  explicit Table(std::uint32_t capacity, std::uint32_t record_size = sizeof(hmk_record),
                 std::uint32_t interval_size = sizeof(hmk_interval))
      : record_size_(record_size), interval_size_(interval_size) {
    const std::uint64_t buffer = interval_size + std::uint64_t{capacity} * record_size;
    words_.resize((4096 + 2 * buffer) / 8);
    hmk_table_header h{};
    h.magic = HMK_TABLE_MAGIC;
    h.layout = HMK_TABLE_LAYOUT;
    h.header_size = sizeof(h);
    h.interval_size = interval_size;
    h.record_size = record_size;
    h.capacity = capacity;
    h.table_bytes = bytes();
    h.buffer_offset[0] = 4096;
    h.buffer_offset[1] = 4096 + buffer;
    std::memcpy(words_.data(), &h, sizeof(h));
  }

  const void* base() const { return words_.data(); }
  std::size_t bytes() const { return words_.size() * 8; }
  hmk_table_header& header() { return *reinterpret_cast<hmk_table_header*>(words_.data()); }
  hmk_interval& interval(std::uint64_t seq) {
    return *reinterpret_cast<hmk_interval*>(at(header().buffer_offset[seq & 1]));
  }

  /// Fills the other buffer and publishes it, as the module does; safe beside readers.
  void publish(std::uint64_t seq, std::uint32_t nr_regions) {
    hmk_interval iv{};
    iv.seq = seq;
    iv.nr_regions = nr_regions;
    iv.resident_pages = seq * 3;
    char* buffer = at(header().buffer_offset[seq & 1]);
    store(buffer, &iv, sizeof(iv));
    for (std::uint32_t i = 0; i < nr_regions; ++i) {
      const hmk_record record = record_of(seq, i);
      store(buffer + interval_size_ + std::uint64_t{i} * record_size_, &record, sizeof(record));
    }
    __atomic_store_n(&header().seq, seq, __ATOMIC_RELEASE);
  }

  /// What record `i` of interval `seq` holds: every field depends on both.
  static hmk_record record_of(std::uint64_t seq, std::uint32_t i) {
    hmk_record r{};
    r.start = (std::uint64_t{i} << 21) + (seq << 48);
    r.length = 1u << 21;
    r.hi_q16 = static_cast<std::uint32_t>(seq * 7 + i);
    r.whi_q16 = static_cast<std::uint32_t>(seq * 5 + i);
    r.generation = static_cast<std::uint32_t>(seq);
    r.node = static_cast<std::int32_t>(i % 4);
    return r;
  }

 private:
  char* at(std::uint64_t offset) { return reinterpret_cast<char*>(words_.data()) + offset; }

  // Release, word by word: the counterpart of the reader's acquire.
  static void store(char* to, const void* from, std::size_t size) {
    for (std::size_t i = 0; i < size; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, static_cast<const char*>(from) + i, 8);
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(to + i), word, __ATOMIC_RELEASE);
    }
  }

  std::uint32_t record_size_, interval_size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace hmk::test
