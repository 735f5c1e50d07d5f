// SPDX-License-Identifier: MIT
#include "policy/histogram.hpp"

#include <algorithm>
#include <limits>

namespace hmk::policy {
namespace {

constexpr std::size_t kMaxNodes = 64;
static_assert(2 * kMaxNodes < Histogram::kUnlisted);
constexpr HotnessQ16 kMostQ16 = 16 * kOneQ16;

std::uint32_t to_pages(Bytes bytes) {
  return static_cast<std::uint32_t>(
      std::min<Bytes>(bytes / kPage, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Histogram::Histogram(Shape shape, std::span<const NodeId> nodes)
    : buckets_(std::clamp(shape.buckets, 1u, 1024u)),
      top_q16_(std::uint64_t{std::max(shape.hotness_max, 1u)} << 16),
      nodes_(nodes.begin(),
             nodes.begin() + static_cast<std::ptrdiff_t>(std::min(nodes.size(), kMaxNodes))) {
  cells_.resize(std::size_t{buckets_} * columns());
}

std::uint32_t Histogram::bucket_of(HotnessQ16 whi_q16) const {
  const std::uint64_t bucket = std::uint64_t{whi_q16} * buckets_ / top_q16_;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bucket, buckets_ - 1));
}

HotnessQ16 Histogram::lower_edge_q16(std::uint32_t bucket) const {
  // The smallest value whose bucket_of() is this one: rounds up.
  return static_cast<HotnessQ16>((bucket * top_q16_ + buckets_ - 1) / buckets_);
}

HotnessQ16 Histogram::width_q16() const {
  return static_cast<HotnessQ16>((top_q16_ + buckets_ - 1) / buckets_);
}

std::uint8_t Histogram::column_for(const RegionView& region) const {
  if (!region.movable || region.resident < kPage || region.node < 0) return kUnlisted;
  const auto at = std::ranges::find(nodes_, region.node);
  if (at == nodes_.end()) return kUnlisted;
  const auto index = static_cast<std::uint32_t>(at - nodes_.begin());
  return static_cast<std::uint8_t>(region.away >= kPage ? away_column(index) : index);
}

void Histogram::assign(Id id, const RegionView& region) {
  Entry& entry = entries_[id];
  entry.start = region.start & ((1ull << 58) - 1);
  entry.page_class = region.page_class & 0x3f;
  entry.pages = to_pages(region.length);
  entry.resident_pages = std::min(to_pages(region.resident), entry.pages);
  entry.away_pages = std::min(to_pages(region.away), entry.resident_pages);
  entry.hi_q16 = std::min(region.hi_q16, kMostQ16) & 0x1fffff;
  entry.rate_q8 = region.rate_q8;
  entry.whi_q16 = std::min(region.whi_q16, kMostQ16) & 0x1fffff;
  entry.generation = region.generation;
  entry.leaf_shift = std::clamp<std::uint8_t>(region.leaf_shift, 12, 47) & 0x3f;
  entry.written = region.written;
  entry.rate_dev_q6 = std::min((region.rate_dev_q8 + 3u) >> 2, 1023u) & 0x3ff;
  const bool is_away = region.away >= kPage;
  away_nodes_[id] = static_cast<std::int16_t>(is_away ? region.away_node : kNoNode);
}

void Histogram::link(Id id) {
  const Entry& entry = entries_[id];
  if (entry.column == kUnlisted) return;
  Cell& list = cells_[cell(entry.bucket, entry.column)];
  // At the end, so that a first snapshot is listed by address, as ties are decided: a
  // shortlist of equals then keeps what it has instead of replacing it each time.
  links_[id] = {list.tail, kNone};
  (list.tail == kNone ? list.head : links_[list.tail].next) = id;
  list.tail = id;
  ++list.count;
  list.pages += entry.resident_pages;
}

void Histogram::unlink(Id id) {
  const Entry& entry = entries_[id];
  if (entry.column == kUnlisted) return;
  Cell& list = cells_[cell(entry.bucket, entry.column)];
  const Link& link = links_[id];
  (link.prev == kNone ? list.head : links_[link.prev].next) = link.next;
  (link.next == kNone ? list.tail : links_[link.next].prev) = link.prev;
  --list.count;
  list.pages -= entry.resident_pages;
}

void Histogram::reserve(std::size_t regions) {
  if (regions <= entries_.capacity()) return;
  entries_.reserve(regions + regions / 16);
  links_.reserve(regions + regions / 16);
  away_nodes_.reserve(regions + regions / 16);
}

Histogram::Id Histogram::insert(ProcessId process, const RegionView& region) {
  Id id = free_;
  if (id == kNone) {
    id = static_cast<Id>(entries_.size());
    entries_.emplace_back();
    links_.emplace_back();
    away_nodes_.emplace_back();
  } else {
    free_ = links_[id].next;
  }
  Entry& entry = entries_[id];
  assign(id, region);
  entry.process = process;
  entry.in_use = 1;
  entry.bucket = bucket_of(region.whi_q16) & 0x3ff;
  entry.column = column_for(region) & 0xff;
  link(id);
  ++size_;
  return id;
}

void Histogram::update(Id id, const RegionView& now) {
  Entry& entry = entries_[id];
  const std::uint32_t bucket = now.whi_q16 == entry.whi_q16 ? entry.bucket : bucket_of(now.whi_q16);
  const std::uint8_t column = column_for(now);
  const bool moves = bucket != entry.bucket || column != entry.column;
  if (moves) unlink(id);
  const std::uint32_t pages = entry.resident_pages;
  assign(id, now);
  if (!moves) {
    if (entry.column != kUnlisted)
      cells_[cell(entry.bucket, entry.column)].pages += std::uint64_t{entry.resident_pages} - pages;
    return;
  }
  entry.bucket = bucket & 0x3ff;
  entry.column = column & 0xff;
  link(id);
}

void Histogram::erase(Id id) {
  unlink(id);
  Entry& entry = entries_[id];
  entry.in_use = 0;
  entry.column = kUnlisted;
  links_[id].next = free_;
  free_ = id;
  --size_;
}

std::size_t Histogram::memory_bytes() const {
  return sizeof(*this) + nodes_.capacity() * sizeof(NodeId) + cells_.capacity() * sizeof(Cell) +
         entries_.capacity() * sizeof(Entry) + links_.capacity() * sizeof(Link) +
         away_nodes_.capacity() * sizeof(std::int16_t);
}

}  // namespace hmk::policy
