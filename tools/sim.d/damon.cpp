// SPDX-License-Identifier: MIT
//
// DAMON's published algorithm (Documentation/mm/damon/design.rst), written anew:
// each sampling interval one random page per region; after an aggregation
// interval neighbours of similar counts merge, then each region is cut in two at
// random (in three when cutting in two changed nothing) while there are at most
// half of the most regions allowed.
//
// Tuned to the budget: one aggregation per interval of HM-Keeper, so both answer
// equally often, and a most of regions that costs just the budget with its two
// visits (clear, read) per region and sampling interval. The fixed 5 ms of its
// defaults would see one access in 200 seconds of a page touched once a second.
#include <algorithm>

#include "profiler.hpp"

namespace hmk::sim {

namespace {

class Damon final : public Profiler {
 public:
  explicit Damon(const Means& means) : means_(means), random_(hash(means.seed, 0xda304, 0, 0)) {
    max_regions_ = std::max<std::uint64_t>(10, means.visits() / 2 / means.damon_samples);
    min_regions_ = std::max<std::uint64_t>(10, max_regions_ / means.damon_regions_ratio);
  }

  std::string_view name() const override { return "damon"; }
  std::uint64_t bytes_per_region() const override { return sizeof(Region); }

  Outcome step(const World& world, std::uint32_t interval) override {
    Outcome out;
    update_targets(world);
    const double window_s = means_.interval_s / means_.damon_samples;
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, window_s);
    for (unsigned n = 1; n <= means_.damon_samples; n++) {
      for (Region& r : regions_) {
        const std::uint64_t page = random_.below((r.end - r.start) >> HMK_CORE_PAGE_SHIFT);
        r.accesses += accesses.accessed(r.start + (page << HMK_CORE_PAGE_SHIFT), n);
      }
    }
    out.regions = regions_.size();
    out.samples = regions_.size() * means_.damon_samples;
    out.profiling_ns = static_cast<double>(out.samples) * 2 * means_.scan_cost_ns;
    out.state_bytes = regions_.size() * sizeof(Region);
    merge(world.bytes());
    // Schemes act on the merged regions.
    for (const Region& r : regions_)
      if (r.accesses * 100 >= means_.damon_samples * means_.damon_hot_percent)
        out.hot.push_back({r.start, r.end});
    for (Region& r : regions_) r.accesses = 0;
    split();
    return out;
  }

 private:
  struct Region {
    std::uint64_t start, end;
    unsigned accesses;
    unsigned span;  // regions of different areas never merge
  };

  void update_targets(const World& world) {
    std::vector<Region> next;
    const Bytes piece = std::max<Bytes>(world.bytes() / min_regions_ >> 12 << 12, 4096);
    std::size_t o = 0;
    for (unsigned s = 0; s < world.spans.size(); s++) {
      const hmk_span& span = world.spans[s];
      while (o < regions_.size() && regions_[o].end <= span.start) o++;
      if (o < regions_.size() && regions_[o].start < span.end) {
        const std::size_t first = next.size();
        for (; o < regions_.size() && regions_[o].start < span.end; o++) {
          next.push_back(regions_[o]);
          next.back().span = s;
        }
        next[first].start = span.start;
        next.back().end = span.end;
        continue;
      }
      for (std::uint64_t at = span.start; at < span.end; at += piece)
        next.push_back({at, std::min<std::uint64_t>(span.end, at + piece), 0, s});
    }
    regions_ = std::move(next);
  }

  /// Until there are few enough, each time with twice the threshold.
  void merge(Bytes bytes) {
    const Bytes most = std::max<Bytes>(bytes / min_regions_, 4096);
    unsigned threshold = std::max(means_.damon_samples / 10, 1u);
    merge_once(threshold, most);
    while (regions_.size() > max_regions_ && threshold / 2 < means_.damon_samples) {
      threshold *= 2;
      merge_once(threshold, most);
    }
  }

  void merge_once(unsigned threshold, Bytes most) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < regions_.size(); i++) {
      Region& a = regions_[last];
      const Region& b = regions_[i];
      const unsigned apart =
          a.accesses > b.accesses ? a.accesses - b.accesses : b.accesses - a.accesses;
      if (a.end == b.start && a.span == b.span && apart <= threshold && b.end - a.start <= most) {
        a.accesses = static_cast<unsigned>(
            (a.accesses * (a.end - a.start) + b.accesses * (b.end - b.start)) / (b.end - a.start));
        a.end = b.end;
      } else {
        regions_[++last] = b;
      }
    }
    if (!regions_.empty()) regions_.resize(last + 1);
  }

  void split() {
    const std::size_t before = regions_.size();
    if (before > max_regions_ / 2) return;
    const unsigned parts = before == after_last_split_ && before < max_regions_ / 3 ? 3 : 2;
    std::vector<Region> next;
    next.reserve(before * parts);
    for (Region r : regions_) {
      for (unsigned n = 1; n < parts; n++) {
        // At 10 to 90 % of what is left.
        const Bytes size = (r.end - r.start) / 10 * (random_.below(9) + 1) >> 12 << 12;
        if (!size || size >= r.end - r.start) break;
        next.push_back({r.start, r.start + size, r.accesses, r.span});
        r.start += size;
      }
      next.push_back(r);
    }
    regions_ = std::move(next);
    after_last_split_ = before;
  }

  Means means_;
  Random random_;
  std::vector<Region> regions_;
  std::uint64_t max_regions_, min_regions_;
  std::size_t after_last_split_ = 0;
};

}  // namespace

std::unique_ptr<Profiler> make_damon(const Means& means) {
  return std::make_unique<Damon>(means);
}

}  // namespace hmk::sim
