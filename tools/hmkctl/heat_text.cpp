// SPDX-License-Identifier: MIT
#include "heat_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "time_ticks.hpp"
#include "util/printable.hpp"

namespace hmkctl {
namespace {

constexpr std::size_t kNameWidth = 18;
constexpr std::array kShades{" ", "\u2591", "\u2592", "\u2593", "\u2588"};
constexpr const char* kNoMemory = "\u00b7";

std::string digit(std::size_t place) {
  return place < 9 ? std::to_string(place + 1) : "+";
}

std::string painted(std::size_t place, std::size_t level, const std::string& text) {
  return "\033[38;5;" + std::string(level < 3 ? "231" : "16") + ";48;5;" +
         std::to_string(heat_colour(place, level)) + "m" + text + "\033[0m";
}

/// A name in so many columns; one that is longer loses its end. Names are shown in ASCII, so that
/// columns are bytes.
std::string fitted(const std::string& name) {
  std::string out = hmk::printable(name);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<signed char>(c) < 0; }, '?');
  if (out.size() > kNameWidth) out.replace(kNameWidth - 1, std::string::npos, "~");
  out.resize(kNameWidth, ' ');
  return out;
}

std::string cells_of(const HeatScene& scene, std::size_t row, bool is_coloured) {
  std::string text;
  std::optional<std::size_t> before;
  for (std::size_t column = 0; column < scene.map().columns(); ++column) {
    const auto cell = scene.cell(row, column);
    if (!cell) {
      text += is_coloured ? kNoMemory : std::string(kNoMemory) + " ";
      before.reset();
      continue;
    }
    const std::size_t level = scene.scale().step(cell->heat, kHeatLevels);
    text += is_coloured
                ? painted(cell->place, level, before == cell->place ? " " : digit(cell->place))
                : kShades[level] + digit(cell->place);
    before = cell->place;
  }
  return text;
}

/// `above`: the mapping of the row before.
std::string row_text(const HeatScene& scene, std::size_t row, std::string& above,
                     bool is_coloured) {
  char address[32];
  std::snprintf(address, sizeof(address), "%14llx",
                static_cast<unsigned long long>(scene.map().address(row)));
  const auto name = scene.name(row);
  const bool is_new = name && name->most != above;
  std::string shown = is_new ? name->most : "";
  if (is_new && name->others > 0) shown += " +" + std::to_string(name->others);
  if (name) above = name->most;
  return std::string(address) + (scene.map().has_hole(row) ? " \u254c " : "   ") + fitted(shown) +
         (is_new ? "\u250c" : "\u2502") + cells_of(scene, row, is_coloured) + "\n";
}

/// Under the cells: marks, and their labels.
std::string axis_text(const HeatScene& scene, bool is_coloured) {
  const std::size_t width = scene.map().columns() * heat_cell_width(is_coloured);
  std::string marks, labels(kHeatMargin - 1, ' ');
  const auto ticks = time_ticks(static_cast<double>(scene.map().time_ns()) / 1e9,
                                std::max<std::size_t>(width / 9, 2));
  std::size_t column = 0;
  for (const TimeTick& tick : ticks) {
    const auto at = static_cast<std::size_t>(tick.at * static_cast<double>(width));
    if (at != 0 && labels.size() >= kHeatMargin + at) continue;  // two labels would touch
    for (; column < at; ++column) marks += "\u2500";
    marks += "\u252c", ++column;
    labels.resize(std::max(labels.size(), kHeatMargin + at), ' ');
    labels += tick.label;
  }
  for (; column < width; ++column) marks += "\u2500";
  return "     address   mapping" + std::string(kHeatMargin - 23, ' ') + "\u2514" + marks + "\n" +
         labels + "  time since the first interval began\n";
}

std::string legend(const HeatScene& scene, bool is_coloured) {
  std::string text = is_coloured ? "colour, number: " : "number: ";
  for (std::size_t place = 0; place < scene.places().size(); ++place)
    text += (place == 0 ? "" : "  ") +
            (is_coloured ? painted(place, kHeatLevels - 1, digit(place)) : digit(place)) + " " +
            scene.places()[place];
  text += std::string("\n") + (is_coloured ? "brightness: " : "shade: ") + scene.measure();
  const HeatScale& scale = scene.scale();
  for (std::size_t level = 0; level < kHeatLevels && !scale.is_empty(); ++level)
    text += " [" + (is_coloured ? painted(0, level, " ") : std::string(kShades[level])) + "] " +
            (level == 0 ? "below " + scene.value_text(scale.from(1, kHeatLevels))
                        : "from " + scene.value_text(scale.from(level, kHeatLevels)));
  return text + "\n" + kNoMemory +
         " no memory then, \u254c a hole before or in the row, \u250c a mapping begins\n" +
         "beyond either end of the scale are 5 % of the cells with accesses\n";
}

}  // namespace

std::uint8_t heat_colour(std::size_t place, std::size_t level) {
  static constexpr std::array<std::array<std::uint8_t, kHeatLevels>, 6> kRamps{
      {{17, 19, 26, 33, 75},         // blue
       {23, 30, 36, 43, 86},         // green
       {94, 136, 172, 178, 214},     // orange
       {52, 88, 124, 161, 204},      // red
       {54, 91, 128, 165, 177},      // purple
       {236, 240, 244, 248, 254}}};  // grey
  return kRamps[std::min(place, kRamps.size() - 1)][std::min(level, kHeatLevels - 1)];
}

std::string draw_text(const HeatScene& scene, bool is_coloured) {
  std::string text = hmk::printable(scene.title()) + "\n", above;
  for (std::size_t row = 0; row < scene.map().rows(); ++row)
    text += row_text(scene, row, above, is_coloured);
  text += axis_text(scene, is_coloured) + legend(scene, is_coloured) + scene.size_text() + "\n";
  for (const std::string& note : scene.notes()) text += note + "\n";
  return text;
}

}  // namespace hmkctl
