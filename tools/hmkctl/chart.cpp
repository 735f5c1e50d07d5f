// SPDX-License-Identifier: MIT
#include "chart.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "markup.hpp"

namespace hmkctl {
namespace {

constexpr int kWidth = 760, kHeight = 228;
constexpr double kLeft = 80, kRight = 725, kTop = 26, kBottom = 205;

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor +
         "\">" + escaped(text) + "</text>";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* kind) {
  return "<path class=\"" + std::string(kind) + "\" d=\"M" + coordinate(x1) + " " + coordinate(y1) +
         "L" + coordinate(x2) + " " + coordinate(y2) + "\"/>";
}

}  // namespace

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  std::string out = text;
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

const char* colour(std::size_t index) {
  static constexpr std::array kColours{"#0077bb", "#009988", "#ee9911",
                                       "#cc3311", "#aa4499", "#888888"};
  return kColours[std::min(index, kColours.size() - 1)];
}

std::string figure(const std::string& title, int width, int height, const std::string& body) {
  return "<figure><figcaption>" + escaped(title) + "</figcaption><svg viewBox=\"0 0 " +
         std::to_string(width) + " " + std::to_string(height) + "\" role=\"img\" aria-label=\"" +
         escaped(title) + "\">" + body + "</svg></figure>\n";
}

std::string svg_file(const std::string& title, double width, double height,
                     const std::string& body) {
  constexpr double kMargin = 10, kTitle = 24;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + coordinate(width + 2 * kMargin) +
         "\" height=\"" + coordinate(height + kTitle + 2 * kMargin) +
         "\" font-family=\"sans-serif\" font-size=\"11\">\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"24\" "
         "font-size=\"14\">" +
         escaped(title) + "</text>\n<g transform=\"translate(10 34)\">\n" + body + "</g>\n</svg>\n";
}

double Chart::at_x(double x) const {
  const double part = x_.to > x_.from ? (x - x_.from) / (x_.to - x_.from) : 0;
  return kLeft + std::clamp(part, 0.0, 1.0) * (kRight - kLeft);
}

double Chart::at_y(double y) const {
  const double part = y_.to > y_.from ? (y - y_.from) / (y_.to - y_.from) : 0;
  return kBottom - std::clamp(part, 0.0, 1.0) * (kBottom - kTop);
}

void Chart::name(const char* colour, const std::string& name) {
  if (!name.empty() &&
      std::ranges::find(names_, name, &decltype(names_)::value_type::first) == names_.end())
    names_.emplace_back(name, colour);
}

void Chart::line(const std::vector<Point>& points, const char* colour, const std::string& label) {
  name(colour, label);
  std::string d;
  for (const Point& point : points)
    d += (d.empty() ? "M" : "L") + coordinate(at_x(point.x)) + " " + coordinate(at_y(point.y));
  body_ += "<path class=\"line\" stroke=\"" + std::string(colour) + "\" d=\"" + d + "\"/>\n";
}

void Chart::bar(Point low, Point high, const char* colour, const std::string& label) {
  name(colour, label);
  const double x = at_x(low.x), y = at_y(high.y), height = at_y(low.y) - y;
  if (height < 0.05) return;
  // A little overlap: no gap shows between neighbours.
  const std::string wide = coordinate(std::max(at_x(high.x) - x, 0.5) + 0.3);
  bars_[colour] += "M" + coordinate(x) + " " + coordinate(y) + "h" + wide + "v" +
                   coordinate(height) + "h-" + wide + "z";
}

void Chart::mark(double x, const std::string& label) {
  // One above the other, so that neighbours can be read; to the left where the right is too near.
  const double at = at_x(x), y = kBottom - 8 - 14 * (marks_++ % 4);
  const bool is_right = at > (kLeft + kRight) / 2;
  body_ += line_at(at, kTop, at, kBottom, "mark") +
           text_at(at + (is_right ? -4 : 4), y, is_right ? "end" : "start", label) + "\n";
}

std::string Chart::axes() const {
  std::string out;
  for (int tick = 0; tick <= y_.ticks; ++tick) {
    const double y = y_.from + (y_.to - y_.from) * tick / y_.ticks;
    out += line_at(kLeft, at_y(y), kRight, at_y(y), "grid") +
           text_at(kLeft - 6, at_y(y) + 4, "end", y_.label(y));
  }
  for (int tick = 0; tick <= x_.ticks; ++tick) {
    const double x = x_.from + (x_.to - x_.from) * tick / x_.ticks;
    out += text_at(at_x(x), kBottom + 16, "middle", x_.label(x));
  }
  return out + "\n";
}

std::string Chart::legend() const {
  std::string out;
  double x = kLeft;
  for (const auto& [name, colour] : names_) {
    out += "<rect x=\"" + coordinate(x) + "\" y=\"6\" width=\"10\" height=\"10\" fill=\"" + colour +
           "\"/>" + text_at(x + 14, 15, "start", name);
    x += 30 + 7 * static_cast<double>(name.size());
  }
  return out;
}

std::string Chart::body() const {
  std::string bars;
  for (const auto& [colour, path] : bars_)
    bars.append("<path fill=\"").append(colour).append("\" d=\"").append(path).append("\"/>\n");
  return legend() + axes() + bars + body_;
}

std::string Chart::svg() const {
  return figure(title_, kWidth, kHeight, body());
}

std::string Chart::file() const {
  return svg_file(title_, kWidth, kHeight,
                  "<style>.grid{stroke:#ccc}.mark{stroke:#000;stroke-dasharray:4 3}"
                  ".line{fill:none;stroke-width:2}</style>\n" +
                      body());
}

}  // namespace hmkctl
