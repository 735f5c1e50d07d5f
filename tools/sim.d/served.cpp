// SPDX-License-Identifier: MIT
#include "served.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace hmk::sim {

namespace {

/// Memory that is held for equally hot.
struct Alike {
  double bytes = 0;
  double heat = 0;  // accesses
};

using Ranked = std::map<double, Alike, std::greater<>>;

void add(Ranked& ranked, double rate, std::uint64_t bytes, double heat) {
  Alike& alike = ranked[rate];
  alike.bytes += static_cast<double>(bytes);
  alike.heat += heat;
}

double heat_of(const Zone& zone, std::uint64_t start, std::uint64_t end) {
  const std::uint64_t from = std::max(start, zone.start), to = std::min(end, zone.end);
  return from < to ? zone.rate * static_cast<double>(to - from) : 0;
}

/// The hottest first, until the tier is full.
double fill(const Ranked& ranked, double share) {
  double bytes = 0, heat = 0, held = 0;
  for (const auto& [rate, alike] : ranked) {
    bytes += alike.bytes;
    heat += alike.heat;
  }
  double room = bytes * share;
  for (const auto& [rate, alike] : ranked) {
    if (room <= 0) break;
    held += alike.heat * std::min(1.0, room / alike.bytes);
    room -= alike.bytes;
  }
  return heat > 0 ? held / heat : 0;
}

}  // namespace

double served(const World& world, std::span<const Estimate> published, double share) {
  Ranked ranked;
  auto zone = world.zones.begin();
  Bytes bytes = 0;
  double heat = 0;
  for (const Estimate& e : published) {
    double of_it = 0;
    while (zone != world.zones.end() && zone->end <= e.start) ++zone;
    for (auto at = zone; at != world.zones.end() && at->start < e.end; ++at)
      of_it += heat_of(*at, e.start, e.end);
    add(ranked, e.rate_q8, e.end - e.start, of_it);
    bytes += e.end - e.start;
    heat += of_it;
  }
  double all = 0;
  for (const Zone& each : world.zones) all += heat_of(each, each.start, each.end);
  if (bytes < world.bytes())
    add(ranked, std::numeric_limits<double>::lowest(), world.bytes() - bytes, all - heat);
  return fill(ranked, share);
}

double most_served(const World& world, double share) {
  Ranked ranked;
  for (const Zone& zone : world.zones)
    add(ranked, zone.rate, zone.end - zone.start, heat_of(zone, zone.start, zone.end));
  return fill(ranked, share);
}

}  // namespace hmk::sim
