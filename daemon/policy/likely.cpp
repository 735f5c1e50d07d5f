// SPDX-License-Identifier: MIT
#include "policy/likely.hpp"

#include <algorithm>
#include <cmath>

namespace hmk::policy {
namespace {

struct Sums {
  double pages = 0, rates = 0, squares = 0, chance = 0;

  void add(const Heat& heat, double of) {
    const double rate = heat.rate_q8, dev = heat.rate_dev_q8;
    pages += of;
    rates += of * rate;
    squares += of * rate * rate;
    chance += of * dev * dev;
  }
};

}  // namespace

LikelyRates::LikelyRates(const Histogram& histogram) {
  std::vector<Sums> sums(histogram.nodes());
  for (Histogram::Id id = 0; id < histogram.id_limit(); ++id)
    if (const Histogram::Entry& region = histogram[id];
        region.in_use && region.column != Histogram::kUnlisted)
      sums[region.column % histogram.nodes()].add(region.heat(), region.resident_pages);
  for (const Sums& all : sums) {
    if (all.pages == 0) {
      nodes_.push_back({});
      continue;
    }
    const double mean = all.rates / all.pages;
    nodes_.push_back({mean, std::max((all.squares - all.chance) / all.pages - mean * mean, 0.0)});
  }
}

Heat LikelyRates::heat(Heat seen, std::uint32_t node) const {
  const Rates& rates = nodes_[node];
  const double chance = static_cast<double>(seen.rate_dev_q8) * seen.rate_dev_q8;
  if (chance == 0) return seen;
  const double trusted = rates.variance_q16 / (rates.variance_q16 + chance);
  seen.rate_q8 = static_cast<std::int16_t>(
      std::lround(rates.mean_q8 + trusted * (seen.rate_q8 - rates.mean_q8)));
  return seen;
}

}  // namespace hmk::policy
