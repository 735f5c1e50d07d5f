// SPDX-License-Identifier: MIT
//
// The memory that is watched and who touches it: populated spans, a hot set,
// and a Poisson rate of accesses per leaf and second for each of the two
// classes. Nothing per page is stored: whether an accessed bit is set is drawn
// from a hash of (seed, page, interval, round).
#pragma once

#include <cstdint>
#include <vector>

#include <hmk/core/types.h>

namespace hmk::sim {

using Bytes = std::uint64_t;

/// Half-open, in bytes.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Disjoint ranges in address order that answer in O(log n).
class RangeSet {
 public:
  RangeSet() = default;
  /// `ranges`: disjoint, in address order; those that touch are joined.
  explicit RangeSet(const std::vector<Range>& ranges);

  bool contains(std::uint64_t address) const;
  /// How much of [start, end) is in the set.
  Bytes bytes_in(std::uint64_t start, std::uint64_t end) const;
  Bytes bytes() const { return before_.empty() ? 0 : before_.back() + last_bytes(); }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  Bytes last_bytes() const { return ranges_.back().end - ranges_.back().start; }
  Bytes bytes_below(std::uint64_t address) const;

  std::vector<Range> ranges_;
  std::vector<Bytes> before_;  // bytes of all ranges before this one
};

/// How often a leaf of each class is accessed, per second.
struct Rates {
  double hot = 0;
  double cold = 0;
};

/// Memory with a rate of its own, as a recording has it.
struct Zone {
  std::uint64_t start = 0, end = 0;
  double rate = 0;  // accesses per leaf and second
};

/// Where memory lies and what of it is written, for who asks about more than accesses.
class Census {
 public:
  virtual ~Census() = default;
  /// Fills in what is resident of the region, and where.
  virtual void count(hmk_region& region) const = 0;
  virtual bool is_written(std::uint64_t address) const = 0;
};

/// What exists and what is hot during some intervals.
struct World {
  std::vector<hmk_span> spans;  // in address order; touching ones are different VMAs
  RangeSet hot;
  Rates rates;
  std::vector<Zone> zones = {};    // in address order; when given, they say the rates
  double hot_above = 0;            // what is accessed more often, per leaf and second, is hot
  const Census* census = nullptr;  // none: all is resident, on no known node, and not written

  Bytes bytes() const;
};

/// Uniform 64 bits that depend on all arguments and on nothing else.
std::uint64_t hash(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// A sequence of uniform numbers: for what a profiler chooses, not for accesses.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next() { return hash(seed_, at_++, 0, 0); }
  /// 0 .. limit - 1; `limit` above 0.
  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t at_ = 0;
};

/// The accessed bits of one interval as a profiler reads them: each window of
/// `window_s` seconds sets the bit of a leaf with 1 - exp(-rate * window_s).
class Accesses {
 public:
  Accesses(const World& world, std::uint64_t seed, std::uint32_t interval, unsigned leaf_shift,
           double window_s);

  /// Whether the leaf at `address` was accessed in window `round`.
  bool accessed(std::uint64_t address, std::uint32_t round) const {
    return hit(address, bound(address), round);
  }
  /// Accesses per second.
  double rate(std::uint64_t address) const;
  /// In how many of windows 1 .. `rounds`.
  unsigned count(std::uint64_t address, unsigned rounds) const;
  /// Seconds from the clearing of the leaf's bit to its first access; infinite without any.
  double first_access_s(std::uint64_t address) const;

 private:
  /// Of 64 random bits, below which the leaf is accessed.
  std::uint64_t bound(std::uint64_t address) const;
  bool hit(std::uint64_t address, std::uint64_t below, std::uint32_t round) const {
    return hash(seed_, address >> leaf_shift_, interval_, round) < below;
  }

  const World* world_;
  std::uint64_t seed_;
  std::uint32_t interval_;
  unsigned leaf_shift_;
  double window_s_;
  std::uint64_t hot_below_, cold_below_;
};

}  // namespace hmk::sim
