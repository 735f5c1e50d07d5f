// SPDX-License-Identifier: MIT
#include "heat_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chart.hpp"
#include "markup.hpp"
#include "time_ticks.hpp"

namespace hmkctl {
namespace {

constexpr double kPictureWide = 760, kCellsLeft = 230, kCellsTop = 26,
                 kCellsWide = kPictureWide - kCellsLeft - 20, kLineHigh = 14;
constexpr std::size_t kStrengths = 10, kNameLength = 20;

std::string label_at(double x, double y, const std::string& text, const char* anchor = "start") {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor +
         "\">" + escaped(text) + "</text>";
}

std::string stroke_at(double x1, double y1, double x2, double y2, const char* look) {
  return "<path d=\"M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " +
         coordinate(y2) + "\" stroke=\"currentColor\" " + look + "/>";
}

/// A line of text fits beside a row, unless there are many.
double cell_height(const HeatMap& map) {
  return map.rows() <= 40 ? 12 : 9;
}

std::string opacity(std::size_t level) {
  return coordinate(0.2 + 0.8 * static_cast<double>(level) / (kStrengths - 1));
}

std::string box_at(double x, double y, const std::string& fill, std::size_t level) {
  return "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
         "\" width=\"10\" height=\"10\" fill=\"" + fill + "\" fill-opacity=\"" + opacity(level) +
         "\"/>";
}

/// One path for all cells that look alike: a tenth of the size of a rectangle each.
std::string paths_of(const HeatScene& scene) {
  const HeatMap& map = scene.map();
  const double wide = kCellsWide / static_cast<double>(map.columns());
  std::map<std::pair<std::size_t, std::size_t>, std::string> paths;
  for (std::size_t row = 0; row < map.rows(); ++row)
    for (std::size_t column = 0; column < map.columns(); ++column)
      if (const auto cell = scene.cell(row, column))
        paths[{cell->place, scene.scale().step(cell->heat, kStrengths)}] +=
            "M" + coordinate(kCellsLeft + wide * static_cast<double>(column)) + " " +
            coordinate(kCellsTop + cell_height(map) * static_cast<double>(row)) + "h" +
            coordinate(wide + 0.1) + "v" + coordinate(cell_height(map)) + "h-" +
            coordinate(wide + 0.1) + "z";
  std::string out;
  for (const auto& [look, path] : paths)
    out += "<path fill=\"" + std::string(colour(look.first)) + "\" fill-opacity=\"" +
           opacity(look.second) + "\" d=\"" + path + "\"/>\n";
  return out;
}

double height_of(const HeatMap& map) {
  return cell_height(map) * static_cast<double>(map.rows());
}

double y_at(const HeatMap& map, std::uint64_t offset) {
  return kCellsTop +
         height_of(map) * static_cast<double>(offset) / static_cast<double>(map.total_bytes());
}

/// Lines a pixel apart would be one.
std::string holes_of(const HeatMap& map) {
  std::string out;
  double last = -1;
  for (const std::uint64_t hole : map.holes())
    if (const double y = std::round(y_at(map, hole)); y != last) {
      out += stroke_at(kCellsLeft, y, kCellsLeft + kCellsWide, y,
                       "stroke-dasharray=\"4 3\" stroke-opacity=\".7\"");
      last = y;
    }
  return out + "\n";
}

std::string hex(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(address));
  return text;
}

/// A border where a mapping begins, and its name where there is room for it.
std::string borders_of(const HeatScene& scene) {
  const HeatMap& map = scene.map();
  std::string out;
  double free_from = 0, last = -1;
  const auto mark = [&](double y, const std::string& label) {
    if (std::round(y) != last)
      out += stroke_at(0, y, kCellsLeft + kCellsWide, y, "stroke-opacity=\".35\"");
    last = std::round(y);
    if (y < free_from) return;
    out += label_at(0, y + 10, label);
    free_from = y + 12;
  };
  for (const Mapping& mapping : scene.mappings().all()) {
    const std::uint64_t from = map.offset(mapping.start), to = map.offset(mapping.end);
    if (from < to)
      mark(y_at(map, from), hex(mapping.start) + " " + mapping.name.substr(0, kNameLength));
  }
  if (scene.mappings().empty())
    for (std::size_t row = 0; row < map.rows(); row += 4)
      out += label_at(0, kCellsTop + cell_height(map) * static_cast<double>(row) + 10,
                      hex(map.address(row)));
  return out + "\n";
}

std::string time_axis(const HeatScene& scene, double y) {
  std::string out = stroke_at(kCellsLeft, y, kCellsLeft + kCellsWide, y, "stroke-opacity=\".7\"");
  for (const TimeTick& tick : time_ticks(static_cast<double>(scene.map().time_ns()) / 1e9, 8)) {
    const double x = kCellsLeft + kCellsWide * tick.at;
    out += stroke_at(x, y, x, y + 4, "stroke-opacity=\".7\"") +
           label_at(x, y + 16, tick.label, "middle");
  }
  return out +
         label_at(kCellsLeft + kCellsWide, y + 16 + kLineHigh,
                  "time since the first interval began", "end") +
         label_at(0, kCellsTop - 6, "address, mapping") + "\n";
}

std::string place_legend(const HeatScene& scene) {
  std::string out;
  double x = kCellsLeft;
  for (std::size_t place = 0; place < scene.places().size(); ++place) {
    out +=
        box_at(x, 6, colour(place), kStrengths - 1) + label_at(x + 14, 15, scene.places()[place]);
    x += 30 + 7 * static_cast<double>(scene.places()[place].size());
  }
  return out + "\n";
}

std::string strength_legend(const HeatScene& scene, double y) {
  const HeatScale& scale = scene.scale();
  if (scale.is_empty()) return "";
  const std::string from =
      "strength: " + scene.measure() + ", up to " + scene.value_text(scale.low());
  std::string out = label_at(0, y + 9, from);
  double x = 10 + 6.3 * static_cast<double>(from.size());
  for (std::size_t level = 0; level < kStrengths; ++level, x += 10)
    out += box_at(x, y, "currentColor", level);
  return out +
         label_at(x + 4, y + 9,
                  "from " + scene.value_text(scale.high()) +
                      (scene.map().has_rates() ? ", logarithmic" : "") +
                      "; 5 % of cells with accesses beyond either end") +
         "\n";
}

struct Picture {
  std::string body;
  double height = 0;
};

Picture draw(const HeatScene& scene) {
  const double bottom = kCellsTop + height_of(scene.map());
  Picture picture{place_legend(scene) + paths_of(scene) + holes_of(scene.map()) +
                      borders_of(scene) + time_axis(scene, bottom),
                  bottom + 26 + kLineHigh};
  picture.body += strength_legend(scene, picture.height);
  std::vector<std::string> lines{scene.size_text() +
                                 "; dashed: a hole; nothing drawn: no memory then"};
  lines.insert(lines.end(), scene.notes().begin(), scene.notes().end());
  picture.height += 10;
  for (const std::string& line : lines) {
    picture.height += kLineHigh;
    picture.body += label_at(0, picture.height, line);
  }
  picture.height += 6;
  return picture;
}

}  // namespace

std::string heat_figure(const HeatScene& scene) {
  const Picture picture = draw(scene);
  return figure(scene.title(), static_cast<int>(kPictureWide), static_cast<int>(picture.height),
                picture.body);
}

std::string heat_svg(const HeatScene& scene) {
  const Picture picture = draw(scene);
  return svg_file(scene.title(), kPictureWide, picture.height, picture.body);
}

}  // namespace hmkctl
