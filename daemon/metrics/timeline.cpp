// SPDX-License-Identifier: MIT
#include "metrics/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/gain.hpp"

namespace hmk {
namespace {

void join(Moment& earlier, Moment later) {
  earlier.end_ns = later.end_ns;
  earlier.intervals += later.intervals;
  earlier.is_managed |= later.is_managed;
  earlier.profile_ns += later.profile_ns;
  earlier.promoted_bytes += later.promoted_bytes;
  earlier.demoted_bytes += later.demoted_bytes;
  earlier.planned_bytes += later.planned_bytes;
  for (const auto& [node, accesses] : later.accesses) earlier.accesses[node] += accesses;
  earlier.resident_bytes = std::move(later.resident_bytes);
}

/// Sums by node: a map would take more time for each of a million records than all else.
template <typename Value>
class NodeSums {
 public:
  void add(int node, Value value) {
    if (node < 0 || node >= kNodes) {
      others_[node] += value;
      return;
    }
    const auto at = static_cast<std::size_t>(node);
    sums_[at] += value;
    is_there_[at] = true;
  }
  /// Of the nodes that were named.
  std::map<int, Value> all() const {
    std::map<int, Value> all = others_;
    for (std::size_t node = 0; node < sums_.size(); ++node)
      if (is_there_[node]) all[static_cast<int>(node)] = sums_[node];
    return all;
  }

 private:
  static constexpr int kNodes{HMK_MAX_NODES};  // a device without the module may name others
  std::array<Value, kNodes> sums_{};
  std::array<bool, kNodes> is_there_{};
  std::map<int, Value> others_;
};

}  // namespace

void Timeline::add(Moment moment) {
  if (part_.empty())
    part_.push_back(std::move(moment));
  else
    join(part_.front(), std::move(moment));
  if (part_.front().intervals < stride_) return;
  whole_.push_back(std::move(part_.front()));
  part_.clear();
  if (whole_.size() < kMoments) return;
  for (std::size_t i = 0; i < kMoments / 2; ++i) {
    Moment both = std::move(whole_[2 * i]);
    join(both, std::move(whole_[2 * i + 1]));
    whole_[i] = std::move(both);
  }
  whole_.resize(kMoments / 2);
  stride_ *= 2;
}

std::vector<Moment> Timeline::moments() const {
  std::vector<Moment> all = whole_;
  all.insert(all.end(), part_.begin(), part_.end());
  return all;
}

double rate_per_page(const hmk_record& record) {
  return std::exp2(record.rate_q8 / 256.0 + 12 - record.leaf_shift);
}

std::map<int, double> accesses_by_node(std::span<const hmk_record> records) {
  NodeSums<double> accesses;
  for (const hmk_record& record : records) {
    if (record.whi_q16 == 0) continue;
    const policy::Heat heat{
        .whi_q16 = record.whi_q16, .rate_q8 = record.rate_q8, .leaf_shift = record.leaf_shift};
    const double to_page = policy::accesses_per_s(heat, HMK_PAGE_SIZE);
    by_node(record, [&](int node, std::uint64_t pages) {
      accesses.add(node, to_page * static_cast<double>(pages));
    });
  }
  return accesses.all();
}

std::map<int, std::uint64_t> resident_by_node(std::span<const hmk_record> records) {
  NodeSums<std::uint64_t> bytes;
  for (const hmk_record& record : records)
    by_node(record, [&](int node, std::uint64_t pages) { bytes.add(node, pages * HMK_PAGE_SIZE); });
  return bytes.all();
}

}  // namespace hmk
