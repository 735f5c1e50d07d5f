// SPDX-License-Identifier: MIT
#include "hints/hint_table.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace hmk {
namespace {

constexpr std::uint64_t kPage = 4096, kUserEnd = 1ull << 56, kMostBytes = 1ull << 40;
constexpr std::size_t kSlotsAt = HMK_HINTS_HEADER, kSlot = sizeof(hmk_hint_slot);
constexpr std::size_t kTableBytes = kSlotsAt + (HMK_HINTS_SLOTS + 1ull) * kSlot;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr int kLooks = 3;  // at a slot that changes

/// With acquire: nothing that is read later is older. (A fence would do, and ThreadSanitizer knows
/// none.)
template <class T>
T load(const T& member) {
  return __atomic_load_n(&member, __ATOMIC_ACQUIRE);
}

/// As it was at one moment; nothing where it changes all the time.
std::optional<hmk_hint_slot> copy_of(const hmk_hint_slot& slot) {
  for (int look = 0; look < kLooks; ++look) {
    hmk_hint_slot copy{};
    copy.seq = load(slot.seq);
    copy.start = load(slot.start);
    copy.bytes = load(slot.bytes);
    copy.said = load(slot.said);
    for (std::size_t at = 0; at < sizeof(slot.label); at += sizeof(std::uint64_t)) {
      const std::uint64_t word =
          load(*reinterpret_cast<const std::uint64_t*>(static_cast<const char*>(slot.label) + at));
      std::memcpy(static_cast<char*>(copy.label) + at, &word, sizeof(word));
    }
    if (copy.seq % 2 == 0 && load(slot.seq) == copy.seq) return copy;
  }
  return std::nullopt;
}

std::optional<Hint> to_hint(const hmk_hint_slot& slot, std::uint32_t index) {
  const auto says = static_cast<unsigned>(slot.said & 0xff);
  if (slot.bytes == 0 || slot.bytes > kMostBytes || slot.start > kUserEnd - slot.bytes ||
      says > HMK_SAYS_RETIRED)
    return std::nullopt;
  Hint hint{.slot = index,
            .start = (slot.start + kPage - 1) & ~(kPage - 1),
            .end = (slot.start + slot.bytes) & ~(kPage - 1),
            .says = static_cast<hmk_says>(says),
            .number = slot.said >> HMK_SAID_NUMBER_SHIFT};
  if (hint.start >= hint.end) return std::nullopt;
  const auto sixteenths = slot.said >> HMK_SAID_PASSES_SHIFT & 0xffff;
  hint.passes = static_cast<double>(std::max<std::uint64_t>(sixteenths, 1)) / HMK_SAID_PASSES_UNIT;
  hint.label.assign(static_cast<const char*>(slot.label),
                    ::strnlen(static_cast<const char*>(slot.label), sizeof(slot.label)));
  return hint;
}

Error cannot(const std::string& why, int err) {
  return {"the table of hints " + why, "the libhmk of this version makes it", err};
}

}  // namespace

std::vector<Hint> read_hints(std::span<const std::byte> table) {
  std::vector<Hint> hints;
  if (table.size() < kSlotsAt) return hints;
  const auto& header = *reinterpret_cast<const hmk_hints_header*>(table.data());
  const auto used =
      std::min<std::size_t>(load(header.slots_used), (table.size() - kSlotsAt) / kSlot);
  hints.reserve(std::min<std::size_t>(used, HMK_HINTS_SLOTS));
  for (std::size_t i = 0; i < std::min<std::size_t>(used, HMK_HINTS_SLOTS); ++i) {
    const auto& slot = *reinterpret_cast<const hmk_hint_slot*>(table.data() + kSlotsAt + i * kSlot);
    if (load(slot.bytes) == 0) continue;
    if (const auto copy = copy_of(slot))
      if (const auto hint = to_hint(*copy, static_cast<std::uint32_t>(i))) hints.push_back(*hint);
  }
  return hints;
}

/// 1. Only shmem and hugetlb know seals at all, so no file system of the program's own answers when
///    a page is read.
/// 2. hugetlb has none of a page to give when its pool is empty: a fault there would be a SIGBUS.
/// 3. What cannot shrink has every page that was mapped.
Result<HintTable> HintTable::adopt(Fd fd) {
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  struct statfs in {};
  struct stat st {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstatfs(fd.get(), &in) != 0 ||
      in.f_type != TMPFS_MAGIC || ::fstat(fd.get(), &st) != 0)
    return cannot("is no sealed memory", EINVAL);
  if (st.st_size != static_cast<off_t>(kTableBytes)) return cannot("has another size", EINVAL);
  void* const mapped =
      ::mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED)
    return cannot(std::string("is not mapped: ") + std::strerror(errno), errno);
  HintTable table({static_cast<std::byte*>(mapped), kTableBytes});
  const auto& header = *static_cast<const hmk_hints_header*>(mapped);
  if (load(header.magic) != HMK_HINTS_MAGIC || load(header.layout) != HMK_HINTS_LAYOUT ||
      load(header.slot_size) != kSlot)
    return cannot("has another layout", EPROTO);
  return table;
}

HintTable::HintTable(HintTable&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

HintTable& HintTable::operator=(HintTable&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

HintTable::~HintTable() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void HintTable::fall_asleep() const {
  auto& header = *reinterpret_cast<hmk_hints_header*>(bytes_.data());
  __atomic_store_n(&header.asleep, 1, __ATOMIC_SEQ_CST);
}

}  // namespace hmk
