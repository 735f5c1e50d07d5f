// SPDX-License-Identifier: GPL-2.0-only OR MIT
//
// libhmk for C++: memory of its own for what belongs together, so that hmkd places it as one.
//
//   hmk::pool_resource nodes("index");
//   std::pmr::unordered_map<Key, Value> index(&nodes);
//   nodes.will_use();                    before it is needed
//   nodes.archive();                     not for a while
//
// Safe between threads.
#pragma once

#include <hmk/hints.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace hmk {

/// Private anonymous blocks of 2 MiB and more, each an object of one label. What is given back is
/// unmapped. do_allocate() throws std::bad_alloc where the kernel gives no memory; where no object
/// is left the memory has no label, and is as good.
class labelled_blocks : public std::pmr::memory_resource {
 public:
  explicit labelled_blocks(std::string label) : label_(std::move(label)) {}
  labelled_blocks(const labelled_blocks&) = delete;
  labelled_blocks& operator=(const labelled_blocks&) = delete;
  ~labelled_blocks() override {
    for (const auto& [start, block] : blocks_) release(start, block);
  }

  /// What is said of each block.
  template <class Say>
  void each(Say say) {
    const std::scoped_lock guard(lock_);
    for (const auto& [start, block] : blocks_) say(block.object);
  }

 private:
  static constexpr std::size_t kHuge = std::size_t{2} << 20;
  struct Block {
    std::size_t bytes;
    hmk_object object;
  };

  static void release(void* start, const Block& block) {
    hmk_unregister(block.object);
    ::munmap(start, block.bytes);
  }

  /// Huge pages begin where addresses are multiples of 2 MiB: what lies before and behind is given
  /// back.
  static void* map(std::size_t bytes) {
    void* const wide =
        ::mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wide == MAP_FAILED) throw std::bad_alloc();
    char* const from = static_cast<char*>(wide);
    const std::size_t before = (kHuge - reinterpret_cast<std::uintptr_t>(from) % kHuge) % kHuge;
    if (before != 0) ::munmap(from, before);
    if (before != kHuge) ::munmap(from + before + bytes, kHuge - before);
    return from + before;
  }

  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (align > kHuge || bytes > SIZE_MAX - 2 * kHuge) throw std::bad_alloc();
    const std::size_t rounded = bytes == 0 ? kHuge : (bytes + kHuge - 1) / kHuge * kHuge;
    void* const start = map(rounded);
    const std::scoped_lock guard(lock_);
    blocks_[start] = {rounded, hmk_register(start, rounded, label_.c_str(), HMK_OBJECT_ANON)};
    return start;
  }
  void do_deallocate(void* start, std::size_t /*bytes*/, std::size_t /*align*/) override {
    const std::scoped_lock guard(lock_);
    const auto block = blocks_.extract(start);
    if (block) release(start, block.mapped());
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::string label_;
  std::mutex lock_;
  std::map<void*, Block> blocks_;
};

/// Allocations of any size out of such blocks: those of more than a MiB have blocks of their own
/// and give them back, smaller ones are reused and given back by release().
class pool_resource : public std::pmr::memory_resource {
 public:
  explicit pool_resource(std::string label)
      : blocks_(std::move(label)),
        small_(std::size_t{2} << 20, &blocks_),
        pool_({.max_blocks_per_chunk = 0, .largest_required_pool_block = kLarge}, &small_) {}

  void will_read() { blocks_.each(hmk_will_read); }
  void will_write() { blocks_.each(hmk_will_write); }
  void will_use() { blocks_.each(hmk_will_use); }
  void archive() { blocks_.each(hmk_archive); }
  /// Frees all that is small at once, whatever is still in use.
  void release() {
    const std::scoped_lock guard(lock_);
    pool_.release();
    small_.release();
  }

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;

  static bool is_large(std::size_t bytes, std::size_t align) {
    return bytes > kLarge || align > 4096;
  }
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (is_large(bytes, align)) return blocks_.allocate(bytes, align);
    const std::scoped_lock guard(lock_);
    return pool_.allocate(bytes, align);
  }
  void do_deallocate(void* start, std::size_t bytes, std::size_t align) override {
    if (is_large(bytes, align)) return blocks_.deallocate(start, bytes, align);
    const std::scoped_lock guard(lock_);
    pool_.deallocate(start, bytes, align);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  labelled_blocks blocks_;
  std::mutex lock_;  // of the two below
  std::pmr::monotonic_buffer_resource small_;
  std::pmr::unsynchronized_pool_resource pool_;
};

}  // namespace hmk
