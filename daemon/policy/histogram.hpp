// SPDX-License-Identifier: MIT
//
// The histogram of smoothed hotness over all regions of all processes (HK-34):
// one list per bucket and column, updated in O(1) for a region that changed.
//
// It knows nodes, not tiers: which of them is fast is the plan's matter, and may change.
//
//   Histogram h({.buckets = 64, .hotness_max = 3}, {0, 1, 2, 3});
//   Histogram::Id id = h.insert(process, region);
//   h.update(id, region_one_interval_later);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

class Histogram {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  struct Shape {
    std::uint32_t buckets = 64;     // 1 .. 1024; clamped
    std::uint32_t hotness_max = 3;  // hotness ends there; at least 1
  };

  /// A region, or the pages of one class and node in it, in 40 bytes; sizes are kept in pages, so
  /// up to 16 TiB each.
  struct Entry {
    std::uint64_t start : 58;  // programs end below 2^57
    std::uint64_t page_class : 6;
    std::uint32_t pages;
    std::uint32_t resident_pages;
    std::uint32_t away_pages;
    std::uint32_t generation;
    ProcessId process;
    HotnessQ16 hi_q16 : 21;  // 16 is the most
    std::uint32_t bucket : 10;
    std::uint32_t in_use : 1;
    HotnessQ16 whi_q16 : 21;
    std::uint32_t column : 8;  // kUnlisted: known, but takes no part
    std::uint32_t written : 1;
    std::int16_t rate_q8;
    std::uint16_t rate_dev_q6 : 10;  // rounded up, 1023 for more
    std::uint16_t leaf_shift : 6;

    Heat heat() const {
      const auto dev_q8 = static_cast<std::uint16_t>(rate_dev_q6 << 2);
      return {whi_q16, rate_q8, dev_q8, static_cast<std::uint8_t>(leaf_shift), written != 0};
    }
    /// Of a class its own pages only.
    std::uint32_t size_pages() const { return page_class == 0 ? pages : resident_pages; }
    Bytes length() const { return Bytes{pages} * kPage; }
    Bytes resident() const { return Bytes{resident_pages} * kPage; }
    Bytes away() const { return Bytes{away_pages} * kPage; }
    Bytes home() const { return Bytes{resident_pages - away_pages} * kPage; }
  };

  static constexpr std::uint8_t kUnlisted = 0xff;

  /// `nodes`: with memory that takes part; at most 64 (more are ignored).
  Histogram(Shape shape, std::span<const NodeId> nodes);

  /// Adds a region and returns its id, valid until erase(). Ids are dense and
  /// reused. A region that is not movable, has nothing resident or sits on no
  /// known node is kept but listed nowhere.
  Id insert(ProcessId process, const RegionView& region);
  /// Makes place for so many regions at once, with a sixteenth to spare.
  void reserve(std::size_t regions);
  /// Gives `id` new values; touches a list only when bucket or column changed.
  void update(Id id, const RegionView& now);
  void erase(Id id);

  const Entry& operator[](Id id) const { return entries_[id]; }
  std::size_t size() const { return size_; }                // regions known
  std::size_t id_limit() const { return entries_.size(); }  // every id is below
  std::size_t memory_bytes() const;                         // that this object holds

  std::uint32_t buckets() const { return buckets_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NodeId node(std::uint32_t index) const { return nodes_[index]; }
  /// Where most of the pages are that are not on the region's node.
  NodeId away_node(Id id) const { return away_nodes_[id]; }

  /// One column per node for regions that are wholly on it, and one for those that have pages
  /// elsewhere.
  std::uint32_t columns() const { return 2 * nodes(); }
  std::uint32_t away_column(std::uint32_t index) const { return nodes() + index; }

  /// Buckets are equal parts of [0, hotness_max]; the last includes its end.
  std::uint32_t bucket_of(HotnessQ16 whi_q16) const;
  /// Smallest WHI of a bucket.
  HotnessQ16 lower_edge_q16(std::uint32_t bucket) const;
  /// Width of a bucket, rounded up.
  HotnessQ16 width_q16() const;

  std::uint32_t count(std::uint32_t bucket, std::uint32_t column) const {
    return cells_[cell(bucket, column)].count;
  }
  /// Resident bytes of one list.
  Bytes resident(std::uint32_t bucket, std::uint32_t column) const {
    return cells_[cell(bucket, column)].pages * kPage;
  }

  /// Calls f(id) for the regions of one list, those first that have been in it longest, until f
  /// says false. f must not change the histogram.
  template <typename F>
  void for_each(std::uint32_t bucket, std::uint32_t column, F&& f) const {
    for (Id id = cells_[cell(bucket, column)].head; id != kNone && f(id); id = links_[id].next) {
    }
  }

 private:
  struct Cell {
    Id head = kNone;
    Id tail = kNone;
    std::uint32_t count = 0;
    std::uint64_t pages = 0;  // resident
  };

  /// Apart from the entries: a region that changes its list touches its neighbours there.
  struct Link {
    Id prev, next;  // `next` also chains free ids
  };

  std::size_t cell(std::uint32_t bucket, std::uint32_t column) const {
    return std::size_t{bucket} * columns() + column;
  }
  std::uint8_t column_for(const RegionView& region) const;
  void assign(Id id, const RegionView& region);
  void link(Id id);
  void unlink(Id id);

  std::uint32_t buckets_;
  std::uint64_t top_q16_;  // hotness_max in Q16
  std::vector<NodeId> nodes_;
  std::vector<Cell> cells_;
  std::vector<Entry> entries_;
  std::vector<Link> links_;               // by id
  std::vector<std::int16_t> away_nodes_;  // by id
  Id free_ = kNone;
  std::size_t size_ = 0;
};

static_assert(sizeof(Histogram::Entry) == 40);

}  // namespace hmk::policy
