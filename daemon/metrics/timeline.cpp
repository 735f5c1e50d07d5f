// SPDX-License-Identifier: MIT
#include "metrics/timeline.hpp"

#include <algorithm>
#include <cmath>

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
  std::map<int, double> accesses;
  for (const hmk_record& record : records) {
    if (record.whi_q16 == 0) continue;
    const auto away = std::min(record.away_pages, record.resident_pages);
    accesses[record.node] += rate_per_page(record) * (record.resident_pages - away);
    if (away != 0) accesses[record.away_node] += rate_per_page(record) * away;
  }
  return accesses;
}

}  // namespace hmk
