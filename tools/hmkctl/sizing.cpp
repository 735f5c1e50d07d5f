// SPDX-License-Identifier: MIT
#include "sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hmkctl {
namespace {

constexpr unsigned kSteps = 150;  // of the prices, for each size

SizeCurve curve_of(const std::vector<HeatPieces::Piece>& pieces) {
  std::vector<Warmth> memory;
  memory.reserve(pieces.size());
  for (const HeatPieces::Piece& piece : pieces)
    memory.push_back({static_cast<std::uint64_t>(std::llround(piece.bytes)),
                      std::accumulate(piece.accesses.begin(), piece.accesses.end(), 0.0)});
  return SizeCurve(std::move(memory));
}

}  // namespace

Sizing::Sizing(const HeatPieces& heat, const Prices& prices)
    : prices_(prices),
      curve_(curve_of(heat.pieces())),
      demand_(heat, {prices.fast_ns, prices.slow_ns}, prices.page_ns) {}

double Sizing::loss(std::uint64_t bytes) const {
  return (1 - curve_.share(bytes)) * (prices_.slow_ns / prices_.fast_ns - 1);
}

std::uint64_t Sizing::enough(double loss) const {
  const double most = prices_.slow_ns / prices_.fast_ns - 1;
  return most <= 0 ? 0 : curve_.bytes_for(std::clamp(1 - loss / most, 0.0, 1.0));
}

Sized Sizing::at(std::uint64_t bytes) const {
  Sized sized{.bytes = bytes, .stays_share = curve_.share(bytes)};
  sized.stays_ns = prices_.fast_ns * (1 + loss(bytes));

  const auto found = hmk::policy::schedule(demand_.forecast({static_cast<double>(bytes), kNoLimit}),
                                           {.steps = kSteps});
  const Outcome moves = demand_.outcome(found);
  sized.moves_share = moves.shares[0];
  sized.moved_bytes = moves.moved_bytes;
  sized.moves_ns = moves.latency_ns;
  sized.bound_ns = std::min(demand_.bound_ns(found), sized.stays_ns);
  if (sized.moves_ns >= sized.stays_ns) {  // it need not move
    sized.moves_ns = sized.stays_ns;
    sized.moves_share = sized.stays_share;
    sized.moved_bytes = 0;
  }
  return sized;
}

}  // namespace hmkctl
