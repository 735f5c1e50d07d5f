// SPDX-License-Identifier: MIT
#include "machine/watcher.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "windows.hpp"

namespace hmk::sim {

namespace {

std::uint64_t page_at(std::uint64_t address) {
  return (address - Watcher::kStart) / Memory::kPage;
}

}  // namespace

Watcher::Watcher(const WorkPlan& plan, const Memory& memory, const Means& means, bool is_perfect)
    : plan_(&plan), memory_(&memory), means_(means), counted_(memory), written_(memory.pages()) {
  if (!is_perfect) profiler_ = make_hm_keeper(means);
  world_.spans = {{.start = kStart,
                   .end = kStart + memory.pages() * Memory::kPage,
                   .kind = 0,
                   .leaf_shift = static_cast<__u8>(means.leaf_shift),
                   .reserved0 = 0,
                   .reserved1 = 0}};
  world_.hot_above = 1;  // nobody asks what is hot
  world_.census = this;
  for (const Heat& heat : plan.heat)
    for (std::uint64_t page = 0; page < memory.pages(); ++page)
      if (heat.written[page] > 0) written_[page] = true;
}

void Watcher::begin() {
  counted_ = *memory_;
}

void Watcher::set_budget(double percent) {
  means_.budget_percent = percent;
  if (profiler_) profiler_->set_budget(percent);
}

/// A zone for each stretch of leaves that are accessed equally often.
void Watcher::see(const std::vector<double>& operations, double seconds) {
  world_.zones.clear();
  const std::uint64_t leaf = counted_.leaf_pages();
  for (std::uint64_t first = 0; first < counted_.pages(); first += leaf) {
    double rate = 0;
    for (std::size_t phase = 0; phase < operations.size(); ++phase) {
      if (operations[phase] == 0) continue;
      double visits = 0;
      for (std::uint64_t page = first; page < first + leaf; ++page)
        visits += static_cast<double>(plan_->heat[phase].visits[page]);
      rate += visits * operations[phase] / seconds;
    }
    const std::uint64_t start = kStart + first * Memory::kPage;
    if (world_.zones.empty() || world_.zones.back().rate != rate)
      world_.zones.push_back({start, start, rate});
    world_.zones.back().end = start + leaf * Memory::kPage;
  }
}

Snapshot Watcher::end(const std::vector<double>& operations, const Interval& interval) {
  see(operations, static_cast<double>(interval.end_ns - interval.start_ns) / 1e9);
  Snapshot told;
  told.interval.seq = interval.seq;
  told.interval.start_ns = told.counted_ns = interval.start_ns;
  told.interval.end_ns = interval.end_ns;
  told.interval.num_scans = means_.num_scans;
  told.interval.budget_ns = static_cast<__u64>(means_.budget_ns());
  profiler_ ? watch(told) : tell_all(told);
  told.interval.nr_regions = static_cast<__u32>(told.records.size());
  told.interval.resident_pages = counted_.pages();
  return told;
}

void Watcher::watch(Snapshot& told) {
  Outcome out = profiler_->step(world_, static_cast<std::uint32_t>(told.interval.seq));
  told.records = std::move(out.table);
  told.interval.hotness_max = out.hotness_max;
  told.interval.nr_samples = static_cast<__u32>(out.samples);
  told.interval.profile_ns = static_cast<__u64>(out.profiling_ns);
  flushes_ = out.flushes;
}

/// Each stretch of equal rate is a region, cut where the core's would be at least.
void Watcher::tell_all(Snapshot& told) const {
  const Windows windows(means_);
  told.interval.hotness_max = windows.ladder().nr;
  for (const Zone& zone : world_.zones) {
    const double rate_q8 = zone.rate > 0 ? std::round(256 * std::log2(zone.rate)) : -32768;
    for (std::uint64_t at = zone.start; at < zone.end;) {
      const std::uint64_t border = (at / HMK_CORE_BASE_REGION + 1) * HMK_CORE_BASE_REGION;
      hmk_region region{};
      region.start = at;
      region.end = at = std::min(zone.end, border);
      count(region);
      hmk_record& record = told.records.emplace_back();
      record.start = region.start;
      record.length = region.end - region.start;
      record.rate_q8 = static_cast<__s16>(std::clamp(rate_q8, -32768.0, 32767.0));
      record.hi_q16 = record.whi_q16 =
          zone.rate > 0 ? hmk_ladder_hotness_q16(&windows.ladder(), record.rate_q8) : 0;
      record.resident_pages = region.resident_pages;
      record.away_pages = region.away_pages;
      record.node = region.node;
      record.away_node = region.away_pages ? region.away_node : -1;
      record.generation = 1;
      record.samples = 1;
      record.writes = is_written(region.start);
      record.leaf_shift = static_cast<__u8>(means_.leaf_shift);
    }
  }
}

void Watcher::count(hmk_region& region) const {
  std::array<__u32, HMK_MAX_NODES> pages{};
  for (std::uint64_t page = page_at(region.start); page < page_at(region.end); ++page)
    ++pages[static_cast<std::size_t>(counted_.node(page))];
  const auto used = std::span(pages).first(counted_.nr_nodes());
  const auto most = std::ranges::max_element(used);
  region.resident_pages = static_cast<__u32>((region.end - region.start) / Memory::kPage);
  region.away_pages = region.resident_pages - *most;
  region.node = static_cast<__s16>(most - used.begin());
  *most = 0;
  region.away_node = static_cast<__s16>(std::ranges::max_element(used) - used.begin());
}

bool Watcher::is_written(std::uint64_t address) const {
  return written_[page_at(address)];
}

}  // namespace hmk::sim
