// SPDX-License-Identifier: MIT
#include "policy/rank.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hmk::policy {
namespace {

auto size_and_place(const Histogram::Entry& e) {
  return std::tuple(e.size_pages(), e.process, e.start, e.page_class, e.column);
}

}  // namespace

bool promotes_before(const Histogram::Entry& a, const Histogram::Entry& b) {
  if (a.hi_q16 != b.hi_q16) return a.hi_q16 > b.hi_q16;
  if (a.written != b.written) return a.written;
  return size_and_place(a) < size_and_place(b);
}

bool demotes_before(const Histogram::Entry& a, const Histogram::Entry& b) {
  if (a.bucket != b.bucket) return a.bucket < b.bucket;
  if (a.hi_q16 != b.hi_q16) return a.hi_q16 < b.hi_q16;
  if (a.written != b.written) return b.written;
  return size_and_place(a) < size_and_place(b);
}

void Shortlist::consider(Histogram::Id id) {
  const auto order = [this](Histogram::Id a, Histogram::Id b) { return before(a, b); };
  if (ids_.size() < kMost) {
    ids_.push_back(id);
    if (ids_.size() == kMost) std::ranges::make_heap(ids_, order);
  } else if (before(id, ids_.front())) {
    std::ranges::pop_heap(ids_, order);
    ids_.back() = id;
    std::ranges::push_heap(ids_, order);
  }
}

void Shortlist::seal() {
  std::ranges::make_heap(ids_, [this](Histogram::Id a, Histogram::Id b) { return before(b, a); });
}

void Shortlist::pop() {
  std::ranges::pop_heap(ids_, [this](Histogram::Id a, Histogram::Id b) { return before(b, a); });
  ids_.pop_back();
}

void Shortlist::push(Histogram::Id id) {
  ids_.push_back(id);
  std::ranges::push_heap(ids_, [this](Histogram::Id a, Histogram::Id b) { return before(b, a); });
}

Ranking::Ranking(Histogram::Shape shape, std::span<const NodeId> nodes)
    : histogram_(shape, nodes) {}

void Ranking::update(ProcessId process, std::span<const RegionView> regions) {
  std::vector<Histogram::Id>& ids = by_process_[process];
  histogram_.reserve(histogram_.size() - ids.size() + regions.size());
  std::size_t same = 0;  // mostly all of them
  for (; same < std::min(ids.size(), regions.size()); ++same) {
    if (histogram_[ids[same]].start != regions[same].start) break;
    histogram_.update(ids[same], regions[same]);
  }
  auto old = ids.begin() + static_cast<std::ptrdiff_t>(same);
  if (same == regions.size() && old == ids.end()) return;

  std::vector<Histogram::Id> now;
  now.reserve(regions.size());
  now.assign(ids.begin(), old);
  for (const RegionView& region : regions.subspan(same)) {
    while (old != ids.end() && histogram_[*old].start < region.start) histogram_.erase(*old++);
    if (old != ids.end() && histogram_[*old].start == region.start) {
      histogram_.update(*old, region);
      now.push_back(*old++);
    } else {
      now.push_back(histogram_.insert(process, region));
    }
  }
  while (old != ids.end()) histogram_.erase(*old++);
  ids = std::move(now);
}

void Ranking::forget(ProcessId process) {
  const auto known = by_process_.find(process);
  if (known == by_process_.end()) return;
  for (const Histogram::Id id : known->second) histogram_.erase(id);
  by_process_.erase(known);
}

void Ranking::reset(Histogram::Shape shape, std::span<const NodeId> nodes) {
  histogram_ = Histogram(shape, nodes);
  by_process_.clear();
}

}  // namespace hmk::policy
