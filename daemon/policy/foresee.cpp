// SPDX-License-Identifier: MIT
#include "policy/foresee.hpp"

#include <algorithm>
#include <cmath>

#include "policy/pieces.hpp"

namespace hmk::policy {
namespace {

constexpr std::int16_t kNeverQ8 = -32 * 256;  // once in 136 years
constexpr int kSpan = 1 << 16, kLargestShift = 30;

/// What regions that were seen accessed have: a rate, as log2 of the accesses a second and page
/// with 8 fraction bits, and the least WHI at that rate. Only the module knows which stands for
/// which.
struct Rank {
  int rate_q8;
  HotnessQ16 whi_q16;
};

int leaf_q8(const RegionView& region) {
  return 256 * (std::clamp<int>(region.leaf_shift, 12, kLargestShift) - 12);
}

/// In the order of their rates, each once.
std::vector<Rank> ranks_of(std::span<const RegionView> regions) {
  constexpr int kLeast = -kSpan / 2 - 256 * (kLargestShift - 12);
  std::vector<HotnessQ16> least(static_cast<std::size_t>(kSpan / 2 - kLeast));
  for (const RegionView& region : regions) {
    if (region.whi_q16 == 0) continue;
    HotnessQ16& here = least[static_cast<std::size_t>(region.rate_q8 - leaf_q8(region) - kLeast)];
    if (here == 0 || region.whi_q16 < here) here = region.whi_q16;
  }
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < least.size(); ++i)
    if (least[i] != 0) ranks.push_back({kLeast + static_cast<int>(i), least[i]});
  return ranks;
}

/// As hot as asked, or as the hottest.
Rank rank_for(std::span<const Rank> ranks, double accesses) {
  const int asked_q8 = static_cast<int>(std::lround(256 * std::log2(accesses)));
  const auto at = std::ranges::lower_bound(ranks, asked_q8, {}, &Rank::rate_q8);
  return at == ranks.end() ? ranks.back() : Rank{asked_q8, at->whi_q16};
}

void warm_up(RegionView& piece, const Rank& rank, bool written) {
  piece.hi_q16 = piece.whi_q16 = rank.whi_q16;
  piece.rate_q8 = static_cast<std::int16_t>(
      std::clamp(rank.rate_q8 + leaf_q8(piece), -kSpan / 2, kSpan / 2 - 1));
  piece.rate_dev_q8 = kToldDevQ8;
  piece.written = written;
  piece.stale = false;
}

void cool_down(RegionView& piece) {
  piece.hi_q16 = piece.whi_q16 = 0;
  piece.rate_q8 = kNeverQ8;
  piece.rate_dev_q8 = kToldDevQ8;
}

}  // namespace

std::vector<RegionView> foresee(std::span<const RegionView> regions,
                                std::span<const Expectation> told, double horizon_s, double scale) {
  const std::vector<Rank> ranks = ranks_of(regions);
  return cut_by(regions, told, [&](RegionView& piece, const Expectation& of) {
    if (of.passes <= 0) return cool_down(piece);
    if (ranks.empty()) return;  // nothing is known of anything
    const Rank rank = rank_for(ranks, of.passes * kVisitsPerPass / (horizon_s * scale));
    if (rank.whi_q16 > piece.whi_q16) warm_up(piece, rank, of.written);
  });
}

void name_told(std::span<Move> promotions, std::span<const Expectation> told) {
  for (Move& move : promotions) {
    const Expectation* const of = range_in(told, move.start, move.start + move.length);
    if (of != nullptr && of->passes > 0 && move.reason == Reason::kHot) move.reason = Reason::kHint;
  }
}

}  // namespace hmk::policy
