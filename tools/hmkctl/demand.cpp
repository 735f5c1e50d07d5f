// SPDX-License-Identifier: MIT
#include "demand.hpp"

#include <algorithm>
#include <cmath>

namespace hmkctl {
namespace {

using hmk::policy::Forecast;
using hmk::policy::Schedule;

constexpr double kRegion = 2 << 20;  // bytes that move together, about

}  // namespace

Demand::Demand(const HeatPieces& heat, const std::vector<double>& latency_ns, double page_ns) {
  forecast_.windows = static_cast<std::uint32_t>(heat.windows());
  forecast_.tiers = static_cast<std::uint32_t>(latency_ns.size());
  forecast_.move_ns.assign(latency_ns.size() * latency_ns.size(), page_ns / 4096);
  for (std::size_t tier = 0; tier < latency_ns.size(); ++tier)
    forecast_.move_ns[tier * latency_ns.size() + tier] = 0;
  for (const HeatPieces::Piece& piece : heat.pieces()) {
    const double count = std::max(1.0, std::floor(piece.bytes / kRegion));
    Forecast::Group group{.bytes = piece.bytes / count, .count = count};
    for (const double accesses : piece.accesses) {
      accesses_.push_back(accesses / count);
      for (const double latency : latency_ns) group.cost_ns.push_back(accesses / count * latency);
      all_ += accesses;
    }
    forecast_.groups.push_back(std::move(group));
    bytes_ += piece.bytes;
  }
}

Forecast Demand::forecast(const std::vector<double>& capacity) const {
  Forecast forecast = forecast_;
  const double plenty = 2 * bytes_;
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    for (const double bytes : capacity) forecast.capacity.push_back(std::min(bytes, plenty));
  return forecast;
}

Outcome Demand::outcome(const Schedule& found) const {
  Outcome outcome{.latency_ns = found.cost_ns / all_,
                  .shares = std::vector<double>(forecast_.tiers)};
  for (const Schedule::Part& part : found.parts) {
    for (std::uint32_t w = 0; w < forecast_.windows; ++w) {
      outcome.shares[part.tier[w]] +=
          part.count * accesses_[part.group * forecast_.windows + w] / all_;
      if (w > 0 && part.tier[w] != part.tier[w - 1])
        outcome.moved_bytes += part.count * forecast_.groups[part.group].bytes;
    }
  }
  return outcome;
}

}  // namespace hmkctl
