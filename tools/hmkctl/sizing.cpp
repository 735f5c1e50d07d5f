// SPDX-License-Identifier: MIT
#include "sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hmkctl {
namespace {

using hmk::policy::Forecast;
using hmk::policy::Schedule;

constexpr double kRegion = 2 << 20;  // bytes that move together, about
constexpr unsigned kSteps = 150;     // of the prices, for each size
enum : std::size_t { kFast, kSlow, kTiers };

SizeCurve curve_of(const std::vector<HeatPieces::Piece>& pieces) {
  std::vector<Warmth> memory;
  memory.reserve(pieces.size());
  for (const HeatPieces::Piece& piece : pieces)
    memory.push_back({static_cast<std::uint64_t>(std::llround(piece.bytes)),
                      std::accumulate(piece.accesses.begin(), piece.accesses.end(), 0.0)});
  return SizeCurve(std::move(memory));
}

}  // namespace

Sizing::Sizing(const HeatPieces& heat, const Prices& prices) : prices_(prices) {
  const std::vector<HeatPieces::Piece> pieces = heat.pieces();
  curve_ = curve_of(pieces);
  forecast_.windows = static_cast<std::uint32_t>(heat.windows());
  forecast_.tiers = kTiers;
  forecast_.move_ns = {0, prices.page_ns / 4096, prices.page_ns / 4096, 0};
  for (const HeatPieces::Piece& piece : pieces) {
    const double count = std::max(1.0, std::floor(piece.bytes / kRegion));
    Forecast::Group group{.bytes = piece.bytes / count, .count = count};
    for (const double accesses : piece.accesses) {
      accesses_.push_back(accesses / count);
      group.cost_ns.push_back(accesses / count * prices.fast_ns);
      group.cost_ns.push_back(accesses / count * prices.slow_ns);
    }
    forecast_.groups.push_back(std::move(group));
  }
}

std::uint64_t Sizing::enough(double times_fast) const {
  const double dearer = prices_.slow_ns - prices_.fast_ns;
  if (dearer <= 0) return 0;
  return curve_.bytes_for(std::clamp(1 - (times_fast - 1) * prices_.fast_ns / dearer, 0.0, 1.0));
}

Sized Sizing::at(std::uint64_t bytes) const {
  const auto latency = [&](double share) {
    return share * prices_.fast_ns + (1 - share) * prices_.slow_ns;
  };
  Sized sized{.bytes = bytes, .stays_share = curve_.share(bytes)};
  sized.stays_ns = latency(sized.stays_share);

  Forecast forecast = forecast_;
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    forecast.capacity.insert(forecast.capacity.end(), {static_cast<double>(bytes),
                                                       2.0 * static_cast<double>(curve_.bytes())});
  const Schedule found = hmk::policy::schedule(forecast, {.steps = kSteps});
  for (const Schedule::Part& part : found.parts) {
    for (std::uint32_t w = 0; w < forecast.windows; ++w) {
      if (part.tier[w] == kFast)
        sized.moves_share += part.count * accesses_[part.group * forecast.windows + w];
      if (w > 0 && part.tier[w] != part.tier[w - 1])
        sized.moved_bytes += part.count * forecast.groups[part.group].bytes;
    }
  }
  sized.moves_share /= curve_.rate();
  sized.moves_ns = found.cost_ns / curve_.rate();
  sized.bound_ns = std::min(found.bound_ns / curve_.rate(), sized.stays_ns);
  if (sized.moves_ns >= sized.stays_ns) {  // it need not move
    sized.moves_ns = sized.stays_ns;
    sized.moves_share = sized.stays_share;
    sized.moved_bytes = 0;
  }
  return sized;
}

}  // namespace hmkctl
