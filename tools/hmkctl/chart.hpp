// SPDX-License-Identifier: MIT
//
// A picture with two axes, a title and a legend, as inline SVG. Its text takes the colour of the
// page.
//
//   Chart chart("Size curve", {0, 64, in_gib}, {0, 100, in_percent});
//   chart.line({{0, 0}, {16, 90}, {64, 100}}, colour(0), "accesses served");
//   html += chart.svg();
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hmkctl {

struct Axis {
  double from = 0, to = 1;
  std::function<std::string(double)> label;
  int ticks = 5;
};

/// Of the tiers, and of what else is told apart; also told apart by those who see no red or green.
const char* colour(std::size_t index);

class Chart {
 public:
  struct Point {
    double x = 0, y = 0;
  };

  Chart(std::string title, Axis x, Axis y) : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

  /// Each name is in the legend once; an empty one is not.
  void line(const std::vector<Point>& points, const char* colour, const std::string& name);
  void bar(Point low, Point high, const char* colour, const std::string& name);
  /// A vertical line with a word beside it.
  void mark(double x, const std::string& name);

  /// A figure with a caption, which is what a reader who sees no pictures is told, too.
  std::string svg() const;
  /// A file of its own, on white.
  std::string file() const;

 private:
  double at_x(double x) const;
  double at_y(double y) const;
  void name(const char* colour, const std::string& name);
  std::string axes() const;
  std::string legend() const;
  std::string body() const;

  std::string title_;
  Axis x_, y_;
  std::map<std::string, std::string>
      bars_;  ///< by colour: one path is a third of the size of rectangles
  std::string body_;
  int marks_ = 0;
  std::vector<std::pair<std::string, std::string>> names_;  // name, colour
};

/// A figure around what is drawn; `title` is its caption.
std::string figure(const std::string& title, int width, int height, const std::string& body);
/// The same as a file of its own, on white.
std::string svg_file(const std::string& title, double width, double height,
                     const std::string& body);
/// With as few digits as a picture needs.
std::string coordinate(double value);

}  // namespace hmkctl
