// SPDX-License-Identifier: MIT
#include "heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "markup.hpp"
#include "table.hpp"

namespace hmkctl {
namespace {

constexpr const char* kNoMemory = "\u00b7";
constexpr std::array kShades{" ", "\u2591", "\u2592", "\u2593", "\u2588"};
// From black over red and yellow to white, in xterm's 256 colours.
constexpr std::array kColours{16, 52, 88, 124, 160, 196, 202, 208, 214, 220, 226, 228, 230, 231};

std::size_t step_of(double heat, std::size_t steps) {
  return std::min(static_cast<std::size_t>(heat * static_cast<double>(steps)), steps - 1);
}

std::string cell_text(const std::optional<double>& heat, bool is_coloured) {
  if (!heat) return kNoMemory;
  if (is_coloured)
    return "\033[48;5;" + std::to_string(kColours[step_of(*heat, kColours.size())]) + "m \033[0m";
  return kShades[step_of(*heat, kShades.size())];
}

std::string label(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "%14llx", static_cast<unsigned long long>(address));
  return text;
}

std::string scale(const HeatMap& map) {
  return std::to_string(map.frames()) + " intervals in " +
         to_text(static_cast<double>(map.time_ns()), Unit::ns) + ", a row is " +
         to_text(map.bytes_per_row(), Unit::bytes);
}

}  // namespace

std::string rgb(double heat) {
  const auto channel = [](double value) {
    return static_cast<unsigned>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
  };
  char text[8];
  std::snprintf(text, sizeof(text), "#%02x%02x%02x", channel(heat * 3), channel(heat * 3 - 1),
                channel(heat * 3 - 2));
  return text;
}

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

void HeatMap::add(const hmk::RecordedFrame& frame) {
  if (added_ == 0) start_ns_ = frame.start_ns;
  end_ns_ = frame.end_ns;
  const std::size_t column = added_++ * columns_ / frames_;
  for (const auto& region : frame.regions)
    add(column, region, std::min(region.whi_q8 / 256.0 / frame.num_scans, 1.0));
}

void HeatMap::add(std::size_t column, const hmk::RecordedRegion& region, double heat) {
  const auto span = std::prev(std::ranges::upper_bound(spans_, region.start, {}, &Span::start));
  std::uint64_t from =
      before_[static_cast<std::size_t>(span - spans_.begin())] + region.start - span->start;
  const std::uint64_t end = from + region.length;
  const auto border = [&](std::size_t row) {  // the first byte of a row
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(total_) * row / rows_);
  };
  auto row = static_cast<std::size_t>(static_cast<unsigned __int128>(from) * rows_ / total_);
  for (; from < end; ++row) {
    const std::uint64_t until = std::min(end, border(row + 1));
    if (until <= from) continue;  // the division has rounded down
    Cell& cell = cells_[row * columns_ + column];
    cell.heat += heat * static_cast<double>(until - from);
    cell.bytes += static_cast<double>(until - from);
    cell.nodes[region.node] += static_cast<double>(until - from);
    from = until;
  }
}

std::optional<double> HeatMap::at(std::size_t row, std::size_t column) const {
  const Cell& cell = cells_[row * columns_ + column];
  if (cell.bytes == 0) return std::nullopt;
  return cell.heat / cell.bytes;
}

std::optional<int> HeatMap::node(std::size_t row, std::size_t column) const {
  const auto& nodes = cells_[row * columns_ + column].nodes;
  if (nodes.empty()) return std::nullopt;
  return std::ranges::max_element(nodes, {}, &std::pair<const int, double>::second)->first;
}

std::uint64_t HeatMap::address(std::size_t row) const {
  const auto offset =
      static_cast<std::uint64_t>(static_cast<unsigned __int128>(total_) * row / rows_);
  const auto next = std::ranges::upper_bound(before_, offset);
  const auto i = static_cast<std::size_t>(next - before_.begin()) - 1;
  return spans_[i].start + offset - before_[i];
}

std::string draw_text(const HeatMap& map, bool is_coloured) {
  std::string text;
  for (std::size_t row = 0; row < map.rows(); ++row) {
    text += label(map.address(row)) + " ";
    for (std::size_t column = 0; column < map.columns(); ++column)
      text += cell_text(map.at(row, column), is_coloured);
    text += "\n";
  }
  text += "smoothed hotness";
  for (std::size_t step = 0; step < kShades.size(); ++step) {
    const double from = static_cast<double>(step) / kShades.size();
    text += " [" + cell_text(from, is_coloured) + "] from " +
            std::to_string(std::lround(100 * from)) + " %";
  }
  return text + ", " + kNoMemory + " no memory\n" + scale(map) + "\n";
}

std::string draw_svg(const HeatMap& map, const std::string& title) {
  constexpr std::size_t kWide = 10, kHigh = 10, kLeft = 120, kTop = 30;
  const auto n = [](std::size_t number) { return std::to_string(number); };
  const std::size_t width = kLeft + map.columns() * kWide + 10;
  const std::size_t height = kTop + map.rows() * kHigh + 30;
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + n(std::max<std::size_t>(width, 480)) +
      "\" height=\"" + n(height) + "\" font-family=\"monospace\" font-size=\"10\">\n" +
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"5\" y=\"18\">" +
      escaped(title) + "</text>\n";
  for (std::size_t row = 0; row < map.rows(); ++row) {
    const std::size_t y = kTop + row * kHigh;
    if (row % 4 == 0)
      svg +=
          "<text x=\"5\" y=\"" + n(y + kHigh - 2) + "\">" + label(map.address(row)) + "</text>\n";
    for (std::size_t column = 0, run; column < map.columns(); column += run) {
      const auto heat = map.at(row, column);
      const std::string colour = heat ? rgb(*heat) : "#ddd";
      for (run = 1; column + run < map.columns(); ++run) {
        const auto other = map.at(row, column + run);
        if ((other ? rgb(*other) : "#ddd") != colour) break;
      }
      svg += "<rect x=\"" + n(kLeft + column * kWide) + "\" y=\"" + n(y) + "\" width=\"" +
             n(run * kWide) + "\" height=\"" + n(kHigh) + "\" fill=\"" + colour + "\"/>\n";
    }
  }
  return svg + "<text x=\"5\" y=\"" + n(height - 12) + "\">" + scale(map) +
         ", black 0 %, red, yellow, white 100 % of the windows, grey: no memory</text>\n</svg>\n";
}

}  // namespace hmkctl
