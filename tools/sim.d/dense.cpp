// SPDX-License-Identifier: MIT
#include "dense.hpp"

#include <linux/hmk.h>

#include <algorithm>

namespace hmk::sim {

namespace {

constexpr unsigned kPieceShift = 21;
constexpr std::uint64_t kPage = 1u << HMK_CORE_PAGE_SHIFT;

// Of kmod/dense.h, on 64 bits: struct hmk_piece and its part of a node of the array, a pointer in
// the order, struct hmk_tally.
constexpr std::uint64_t kPieceBytes = 664 + 576 / 64;
constexpr std::uint64_t kPointerBytes = 8;
constexpr std::uint64_t kTallyBytes =
    (sizeof(__u32) * HMK_CLASSES * HMK_MAX_NODES + (sizeof(__u64) + sizeof(__u32)) * HMK_CLASSES +
     sizeof(__u64) + 7) /
    8 * 8;

/// A visit is of a piece.
Means of_pieces(Means means) {
  means.scan_cost_ns = HMK_DENSE_PAGES * means.page_cost_ns;
  return means;
}

/// Of all pieces that hold some of the memory; two spans may share one.
std::vector<std::uint64_t> indices_of(const World& world) {
  std::vector<std::uint64_t> all;
  for (const hmk_span& s : world.spans)
    for (std::uint64_t i = s.start >> kPieceShift; i << kPieceShift < s.end; i++)
      if (all.empty() || all.back() < i) all.push_back(i);
  return all;
}

unsigned page_of(std::uint64_t address) {
  return address >> HMK_CORE_PAGE_SHIFT & (HMK_DENSE_PAGES - 1);
}

}  // namespace

Dense::Dense(const Means& means) : means_(means), windows_(of_pieces(means)) {}

/// Half of the budget has to pay for all looks; three quarters once it is on, so that it stays.
bool Dense::affords(std::uint64_t pieces, double budget_ns) const {
  if (means_.switches & HMK_SWITCH_NO_BUDGET) return true;
  return static_cast<double>(pieces * (means_.num_scans + 1)) * look_ns() <
         budget_ns / 4 * (on_ ? 3 : 2);
}

void Dense::begin(const World& world, double budget_ns) {
  windows_.begin();
  read_ = 0;
  const bool wanted = means_.switches & HMK_SWITCH_DENSE && !windows_.equal() &&
                      means_.num_scans <= HMK_DENSE_SCANS;
  const auto indices = wanted ? indices_of(world) : std::vector<std::uint64_t>();
  on_ = !indices.empty() && affords(indices.size(), budget_ns);
  if (!on_) {
    pieces_.clear();
    return;
  }
  if (indices.size() > order_cap_) order_cap_ = indices.size() + indices.size() / 16;
  match(indices);
  climb();
}

void Dense::match(const std::vector<std::uint64_t>& indices) {
  std::erase_if(pieces_, [&](const auto& piece) {
    return !std::ranges::binary_search(indices, piece.first);
  });
  for (const std::uint64_t i : indices) pieces_.try_emplace(i);
}

void Dense::climb() {
  const auto top = static_cast<int>(hmk_ladder_top(&windows_.ladder()));
  for (auto& [index, piece] : pieces_) {
    const int from = static_cast<int>(piece.rung);
    const int to = std::clamp(from + hmk_dense_wish(piece.page.data(), HMK_DENSE_PAGES), 0, top);
    piece.read = false;
    if (to == from) continue;
    hmk_dense_climb(piece.page.data(), HMK_DENSE_PAGES, to - from);
    piece.rung = static_cast<unsigned>(to);
  }
}

const Dense::Piece* Dense::find(std::uint64_t address) const {
  const auto at = pieces_.find(address >> kPieceShift);
  return at == pieces_.end() ? nullptr : &at->second;
}

std::vector<__u64> Dense::cuts(__u32 tau2_q16) const {
  std::vector<__u64> cuts;
  __u32 last_mean = HMK_DENSE_UNKNOWN;
  std::uint64_t last_end = 0;
  for (const auto& [index, piece] : pieces_) {
    const __u32 mean = piece.age
                           ? hmk_dense_mean_q16(piece.page.data(), HMK_DENSE_PAGES, piece.rung)
                           : HMK_DENSE_UNKNOWN;
    if (last_end == index && mean != HMK_DENSE_UNKNOWN && last_mean != HMK_DENSE_UNKNOWN &&
        (mean > last_mean ? mean - last_mean : last_mean - mean) >= tau2_q16)
      cuts.push_back(index << kPieceShift);
    last_mean = mean;
    last_end = index + 1;
  }
  return cuts;
}

void Dense::place(std::span<hmk_region> regions) const {
  if (!on_) return;
  for (hmk_region& r : regions)
    if (const Piece* piece = find(r.start)) r.rung = static_cast<__u8>(piece->rung);
}

void Dense::watch(const World& world, const Accesses& accesses, double afford_ns) {
  const double piece_ns = (means_.num_scans + 2) * look_ns() + means_.flush_cost_ns;
  auto at = pieces_.lower_bound(turn_);
  std::optional<std::uint64_t> missed;
  for (std::size_t n = 0; n < pieces_.size(); n++, ++at) {
    if (at == pieces_.end()) at = pieces_.begin();
    auto& [index, piece] = *at;
    if (cost_ns() + piece_ns <= afford_ns && windows_.take(piece.rung))
      look(index, piece, world, accesses);
    else if (!missed)
      missed = index;
  }
  turn_ = missed.value_or(0);
}

void Dense::look(std::uint64_t index, Piece& piece, const World& world, const Accesses& accesses) {
  std::uint64_t address = index << kPieceShift;
  auto span = std::ranges::upper_bound(world.spans, address, {}, &hmk_span::end);
  for (__u8& page : piece.page) {
    while (span != world.spans.end() && span->end <= address) ++span;
    if (span == world.spans.end() || address < span->start) {
      hmk_dense_leave(&page);
    } else {
      hmk_dense_clear(&page);
      hmk_dense_see(&page, windows_.seen(accesses, address, piece.rung));
    }
    address += kPage;
  }
  piece.read = true;
  read_++;
}

std::optional<__u8> Dense::count(const hmk_sample& sample, const hmk_region& region) const {
  const Piece* piece = find(sample.addr);
  if (piece == nullptr || !piece->read) return std::nullopt;
  const __u8 page = piece->page[page_of(sample.addr)];
  if (page >= HMK_DENSE_ABSENT) return std::nullopt;
  const unsigned count = piece->rung + (page & HMK_DENSE_SEEN);
  return static_cast<__u8>(
      std::clamp<unsigned>(count, region.rung, region.rung + means_.num_scans));
}

void Dense::judge() {
  for (auto& [index, piece] : pieces_) {
    if (!piece.read) continue;
    hmk_dense_fold(piece.page.data(), HMK_DENSE_PAGES, piece.age);
    piece.age = std::min(piece.age + 1, HMK_DENSE_AGE_MOST);
  }
}

/// Calls f(piece, index of the first page, number of pages) for what was read of a region.
template <typename F>
void Dense::each_piece(const hmk_region& region, F&& f) const {
  std::uint64_t next = 0;
  for (std::uint64_t at = region.start; at < region.end; at = next) {
    const Piece* const piece = find(at);
    next = std::min((at | ((1ull << kPieceShift) - 1)) + 1, region.end);
    if (piece != nullptr && piece->age)
      f(*piece, page_of(at), static_cast<unsigned>((next - at) / kPage));
  }
}

void Dense::judge(std::span<hmk_region> regions) const {
  for (hmk_region& r : regions) {
    hmk_dense_sum sum{};
    sum.age = HMK_DENSE_AGE_MOST;
    each_piece(r, [&](const Piece& piece, unsigned first, unsigned nr) {
      hmk_dense_add(&sum, &piece.page[first], nr, piece.rung, piece.age);
    });
    hmk_dense_judge(&windows_.ladder(), &sum, &r);
  }
}

Dense::Tally Dense::tally(const hmk_region& region) const {
  Tally t;
  each_piece(region, [&](const Piece& piece, unsigned first, unsigned nr) {
    for (unsigned i = first; i < first + nr; i++) {
      const __s32 told = hmk_dense_class(piece.page[i], piece.rung);
      if (told < 0) continue;
      t.pages[static_cast<unsigned>(told)]++;
      t.heat[static_cast<unsigned>(told)] +=
          HMK_DENSE_STEP * piece.rung + hmk_dense_heat(piece.page[i]);
    }
  });
  return t;
}

std::uint64_t Dense::tell(const hmk_region& region, std::vector<Estimate>& rates) const {
  if (!on_ || !hmk_region_is(&region, HMK_REGION_MIXED)) return 0;
  const Tally t = tally(region);
  std::array<int, HMK_CLASSES> rate_q8{};
  for (unsigned i = 0; i < HMK_CLASSES; i++)
    if (t.pages[i])
      rate_q8[i] = hmk_ladder_rate_q8(
          &windows_.ladder(),
          static_cast<__u32>(t.heat[i] * (HMK_CORE_Q16_ONE / HMK_DENSE_STEP) / t.pages[i]));
  const Piece* piece = nullptr;
  __s32 last = -1;
  for (std::uint64_t at = region.start; at < region.end; at += kPage) {
    if (at == region.start || !page_of(at)) piece = find(at);
    const __s32 told =
        piece != nullptr ? hmk_dense_class(piece->page[page_of(at)], piece->rung) : -1;
    if (told >= 0 && told == last)
      rates.back().end = at + kPage;
    else if (told >= 0)
      rates.push_back({at, at + kPage, rate_q8[static_cast<unsigned>(told)]});
    last = told;
  }
  return HMK_CLASSES - static_cast<std::uint64_t>(std::ranges::count(t.pages, 0u));
}

/// A piece is cleared once and read num_scans times; what goes over its bytes alone, to judge and
/// to tell, takes about as long as one of these (9 ns a page, measured of the core's functions).
double Dense::cost_ns() const {
  return static_cast<double>(read_ * (means_.num_scans + 2)) * look_ns() +
         static_cast<double>(flushes()) * means_.flush_cost_ns;
}

std::uint64_t Dense::bytes() const {
  return pieces_.size() * kPieceBytes + order_cap_ * kPointerBytes + (order_cap_ ? kTallyBytes : 0);
}

}  // namespace hmk::sim
