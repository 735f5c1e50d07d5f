// SPDX-License-Identifier: MIT
#include "heat_map.hpp"

#include <algorithm>
#include <cmath>

namespace hmkctl {

std::vector<Span> join(const std::vector<Span>& spans, const hmk::RecordedFrame& frame) {
  std::vector<Span> all = spans, out;
  for (const auto& r : frame.regions) all.push_back({r.start, r.start + r.length});
  std::ranges::sort(all, {}, &Span::start);
  for (const Span& span : all) {
    if (!out.empty() && span.start <= out.back().end)
      out.back().end = std::max(out.back().end, span.end);
    else
      out.push_back(span);
  }
  return out;
}

HeatMap::HeatMap(std::vector<Span> spans, std::size_t rows, std::size_t columns, std::size_t frames)
    : spans_(std::move(spans)), columns_(std::min(columns, frames)), frames_(frames) {
  for (const Span& span : spans_) {
    before_.push_back(total_);
    total_ += span.end - span.start;
  }
  rows_ = static_cast<std::size_t>(std::min<std::uint64_t>(rows, total_ / 4096));
  cells_.resize(rows_ * columns_);
}

std::uint64_t HeatMap::border(std::size_t row) const {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(total_) * row / rows_);
}

void HeatMap::add(const hmk::RecordedFrame& frame) {
  if (added_ == 0) start_ns_ = frame.start_ns;
  end_ns_ = frame.end_ns;
  const std::size_t column = added_++ * columns_ / frames_;
  for (const auto& region : frame.regions)
    add(column, region, std::min(region.whi_q8 / 256.0 / frame.num_scans, 1.0));
}

void HeatMap::add(std::size_t column, const hmk::RecordedRegion& region, double heat) {
  std::uint64_t from = offset(region.start);
  const std::uint64_t end = from + region.length;
  has_rates_ = has_rates_ && region.has_rate();
  const double rate = region.rate();
  auto row = static_cast<std::size_t>(static_cast<unsigned __int128>(from) * rows_ / total_);
  for (; from < end; ++row) {
    const std::uint64_t until = std::min(end, border(row + 1));
    if (until <= from) continue;  // the division has rounded down
    Cell& cell = cells_[row * columns_ + column];
    const auto bytes = static_cast<double>(until - from);
    cell.heat += heat * bytes;
    cell.rate += rate * bytes;
    cell.bytes += bytes;
    cell.nodes[region.node] += bytes;
    from = until;
  }
}

std::optional<double> HeatMap::at(std::size_t row, std::size_t column) const {
  const Cell& cell = cells_[row * columns_ + column];
  if (cell.bytes == 0) return std::nullopt;
  return cell.heat / cell.bytes;
}

std::optional<double> HeatMap::rate(std::size_t row, std::size_t column) const {
  const Cell& cell = cells_[row * columns_ + column];
  if (cell.bytes == 0) return std::nullopt;
  return cell.rate / cell.bytes;
}

std::optional<int> HeatMap::node(std::size_t row, std::size_t column) const {
  const auto& nodes = cells_[row * columns_ + column].nodes;
  if (nodes.empty()) return std::nullopt;
  return std::ranges::max_element(nodes, {}, &std::pair<const int, double>::second)->first;
}

std::uint64_t HeatMap::address(std::size_t row) const {
  return pieces(row).front().start;
}

std::vector<Span> HeatMap::pieces(std::size_t row) const {
  const std::uint64_t from = border(row), to = border(row + 1);
  const auto next = std::ranges::upper_bound(before_, from);
  std::vector<Span> out;
  for (auto i = static_cast<std::size_t>(next - before_.begin()) - 1;
       i < spans_.size() && before_[i] < to; ++i) {
    const Span& span = spans_[i];
    const std::uint64_t skipped = from > before_[i] ? from - before_[i] : 0;
    out.push_back({span.start + skipped, std::min(span.end, span.start + (to - before_[i]))});
  }
  return out;
}

std::vector<std::uint64_t> HeatMap::holes() const {
  return {before_.begin() + 1, before_.end()};
}

bool HeatMap::has_hole(std::size_t row) const {
  const auto first = std::lower_bound(before_.begin() + 1, before_.end(), border(row));
  return first != before_.end() && *first < border(row + 1);
}

std::uint64_t HeatMap::offset(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(spans_, address, {}, &Span::end);
  if (next == spans_.end()) return total_;
  const auto i = static_cast<std::size_t>(next - spans_.begin());
  return before_[i] + (address > next->start ? address - next->start : 0);
}

}  // namespace hmkctl
