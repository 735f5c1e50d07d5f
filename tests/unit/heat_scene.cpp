// SPDX-License-Identifier: MIT
#include "heat_scene.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "chart.hpp"
#include "heat_picture.hpp"
#include "heat_text.hpp"
#include "support/sizes.hpp"

using namespace hmkctl;
using hmk::RecordedFrame;

namespace {

using hmk::test::kMiB;

/// `rate`: log2 of the accesses per second and page.
hmk::RecordedRegion region(std::uint64_t start_mib, std::uint64_t mib, int rate, int node) {
  return {start_mib * kMiB, mib * kMiB, 0, 256, node, mib * 256, 16 * rate};
}

const hmk::RecordedContext kKnown{{{{{0}, 90}, {{2, 3}, 0}}},
                                  {{16 * kMiB, 20 * kMiB, "[heap]"},
                                   {4096 * kMiB, 4098 * kMiB, "a"},
                                   {4098 * kMiB, 4100 * kMiB, "b<c"}}};

/// Two areas far apart; the second comes with the second of two intervals, and is in tier 2.
class Scene {
 public:
  explicit Scene(const hmk::RecordedContext& context = kKnown, bool has_rates = true)
      : frames_{{1, 0, 10'000'000'000, 2, {region(16, 4, 0, 0)}},
                {2,
                 10'000'000'000,
                 20'000'000'000,
                 2,
                 {region(16, 4, 4, 0), region(4096, 4, 8, 3)}}},
        map_(spans(), 4, 64, 2),
        scene_((fill(has_rates), map_), "redis", context) {}
  const HeatScene* operator->() const { return &scene_; }
  const HeatScene& operator*() const { return scene_; }

 private:
  std::vector<Span> spans() {
    std::vector<Span> all;
    for (const auto& frame : frames_) all = join(all, frame);
    return all;
  }
  void fill(bool has_rates) {
    if (!has_rates) frames_[0].regions[0].rate_q4 = hmk::RecordedRegion::kNoRate;
    for (const auto& frame : frames_) map_.add(frame);
  }

  std::vector<RecordedFrame> frames_;
  HeatMap map_;
  HeatScene scene_;
};

TEST(HeatScene, TellsTierAndRateOfACell) {
  const Scene scene;
  EXPECT_EQ(scene->places(), (std::vector<std::string>{"tier 1 (90 ns)", "tier 2"}));
  EXPECT_EQ(scene->cell(0, 0)->place, 0u);
  EXPECT_EQ(scene->cell(0, 0)->heat, 1);
  EXPECT_EQ(scene->cell(0, 1)->heat, 16);
  EXPECT_FALSE(scene->cell(2, 0));
  EXPECT_EQ(scene->cell(2, 1)->place, 1u);
  EXPECT_EQ(scene->cell(2, 1)->heat, 256);
  EXPECT_EQ(scene->measure(), "accesses per second and page");
  EXPECT_EQ(scene->scale().low(), 1);
  EXPECT_EQ(scene->scale().high(), 256);
  EXPECT_TRUE(scene->notes().empty());
}

TEST(HeatScene, TellsTheMappingOfMostOfARow) {
  const Scene scene;
  EXPECT_EQ(scene->name(0)->most, "[heap]");
  EXPECT_EQ(scene->name(1)->most, "[heap]");
  EXPECT_EQ(scene->name(2)->most, "a");
  EXPECT_EQ(scene->name(3)->most, "b<c");
  // One row over the hole: 4 MiB of 8 are the heap.
  HeatMap one({{16 * kMiB, 20 * kMiB}, {4096 * kMiB, 4100 * kMiB}}, 1, 1, 1);
  const auto name = HeatScene(one, "", kKnown).name(0);
  EXPECT_EQ(name->most, "[heap]");
  EXPECT_EQ(name->others, 2u);
  HeatMap other({{kMiB, 2 * kMiB}}, 1, 1, 1);
  EXPECT_EQ(HeatScene(other, "", kKnown).name(0)->most, "-");
}

TEST(HeatScene, SaysInALineWhatIsNotKnown) {
  const Scene scene({}, false);
  ASSERT_EQ(scene->notes().size(), 3u);
  EXPECT_EQ(scene->notes()[0], "tiers are not known: colours and numbers are of nodes");
  EXPECT_NE(scene->notes()[1].find("names of mappings are not known"), std::string::npos);
  EXPECT_EQ(scene->notes()[2], "rates of access are not known: heat is smoothed hotness");
  EXPECT_EQ(scene->places(), (std::vector<std::string>{"node 0", "node 3"}));
  EXPECT_EQ(scene->cell(2, 1)->place, 1u);
  EXPECT_EQ(scene->cell(2, 1)->heat, 50) << "percent of the windows";
  EXPECT_FALSE(scene->name(0));
  EXPECT_EQ(scene->measure(), "smoothed hotness");
}

TEST(HeatScene, ShowsANodeOutsideTheTiersAsOne) {
  const Scene scene({{{{{0}, 90}}}, {}});
  EXPECT_EQ(scene->places(), (std::vector<std::string>{"tier 1 (90 ns)", "node 3"}));
}

TEST(HeatText, HasTitleAxesNamesHolesAndLegend) {
  EXPECT_EQ(draw_text(*Scene(), false),
            "redis\n"
            "       1000000   [heap]            \u250c 1\u25921\n"
            "       1200000                     \u2502 1\u25921\n"
            "     100000000 \u254c a                 \u250c\u00b7 \u25882\n"
            "     100200000   b<c               \u250c\u00b7 \u25882\n"
            "     address   mapping             \u2514\u252c\u2500\u2500\u2500\u252c\n"
            "                                    0s  20s  time since the first interval began\n"
            "number: 1 tier 1 (90 ns)  2 tier 2\n"
            "shade: accesses per second and page [ ] below 4 [\u2591] from 4 [\u2592] from 16 "
            "[\u2593] from "
            "64 [\u2588] from 256\n"
            "\u00b7 no memory then, \u254c a hole before or in the row, \u250c a mapping begins\n"
            "beyond either end of the scale are 5 % of the cells with accesses\n"
            "2 intervals in 20.0s, a row is 2.0MiB\n");
}

TEST(HeatText, InColoursNumbersTheBeginOfEachRunOfATier) {
  const std::string text = draw_text(*Scene(), true);
  EXPECT_NE(text.find("\u250c\033[38;5;231;48;5;17m1\033[0m\033[38;5;231;48;5;26m \033[0m\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\u250c\u00b7\033[38;5;16;48;5;86m2\033[0m\n"), std::string::npos) << text;
}

TEST(HeatText, NamesCannotActOnATerminalOrMoveColumns) {
  hmk::RecordedContext context = kKnown;
  context.mappings[0].name = "\033[2J\u00e4\u00e4 and much longer than the column";
  const std::string text = draw_text(*Scene(context), false);
  EXPECT_NE(text.find("   \\x1b[2J???? and m~\u250c"), std::string::npos) << text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t nr = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++nr;
  return nr;
}

TEST(HeatPicture, HasTitleAxesNamesHolesAndLegend) {
  const std::string svg = heat_svg(*Scene());
  for (const char* const part :
       {">redis<", ">tier 1 (90 ns)<", ">tier 2<", ">1000000 [heap]<", ">100200000 b&lt;c<",
        ">address, mapping<", ">time since the first interval began<", ">0s<", ">20s<",
        "strength: accesses per second and page, up to 1<", ">from 256, logarithmic; 5 %",
        "2 intervals in 20.0s, a row is 2.0MiB; dashed: a hole"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_EQ(count(svg, "stroke-dasharray"), 1u) << "one hole";
  EXPECT_EQ(count(svg, "stroke-opacity=\".35\""), 3u) << "three mappings begin";
  EXPECT_EQ(count(svg, "<path fill=\"#0077bb\""), 2u) << "tier 1 at two strengths";
  EXPECT_EQ(count(svg, "<path fill=\"#009988\""), 1u);
}

TEST(HeatPicture, OfAPageHasItsTitleAsCaption) {
  EXPECT_EQ(heat_figure(*Scene()).rfind(
                "<figure><figcaption>redis</figcaption><svg viewBox=\"0 0 760 ", 0),
            0u);
}

// ---- colours that those see apart who lack one kind of cone ------------------------------------

using Rgb = std::array<double, 3>;  // linear

double linear(unsigned value) {
  const double part = value / 255.0;
  return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

Rgb of_xterm(unsigned index) {
  const auto part = [](unsigned level) { return linear(level == 0 ? 0 : 55 + 40 * level); };
  return {part((index - 16) / 36), part((index - 16) / 6 % 6), part((index - 16) % 6)};
}

Rgb of_hex(const std::string& hex) {
  const auto part = [&](std::size_t at) {
    return linear(static_cast<unsigned>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  };
  return {part(1), part(3), part(5)};
}

using Matrix = std::array<Rgb, 3>;

/// Vienot, Brettel and Mollon 1999: as seen without the cones for red, and without those for green.
constexpr Matrix kNoRed{{{.11238, .88762, 0}, {.11238, .88762, 0}, {.00401, -.00401, 1}}};
constexpr Matrix kNoGreen{{{.29275, .70725, 0}, {.29275, .70725, 0}, {-.02234, .02234, 1}}};

Rgb product(const Matrix& matrix, const Rgb& rgb) {
  Rgb out{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) out[r] += matrix[r][c] * rgb[c];
  return out;
}

/// CIE Lab: some 2 are just seen.
Rgb lab(const Rgb& rgb) {
  const Rgb xyz =
      product({{{.4339, .3763, .1899}, {.2126, .7152, .0722}, {.0177, .1095, .8729}}}, rgb);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  return {116 * f(xyz[1]) - 16, 500 * (f(xyz[0]) - f(xyz[1])), 200 * (f(xyz[1]) - f(xyz[2]))};
}

double distance(const Rgb& a, const Rgb& b) {
  double least = 1e9;
  for (const Matrix& eye : {kNoRed, kNoGreen}) {
    const Rgb p = lab(product(eye, a)), q = lab(product(eye, b));
    least = std::min(least, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return least;
}

TEST(HeatColours, OfFourTiersAreToldApartWithoutRedOrGreen) {
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_GT(distance(of_hex(colour(a)), of_hex(colour(b))), 20) << a << " " << b;
      for (std::size_t level = 0; level < kHeatLevels; ++level)
        EXPECT_GT(distance(of_xterm(heat_colour(a, level)), of_xterm(heat_colour(b, level))), 20)
            << a << " " << b << " " << level;
    }
}

TEST(HeatColours, GetBrighterWithHeat) {
  for (std::size_t place = 0; place < 5; ++place)
    for (std::size_t level = 1; level < kHeatLevels; ++level)
      EXPECT_GT(lab(of_xterm(heat_colour(place, level)))[0],
                lab(of_xterm(heat_colour(place, level - 1)))[0] + 3)
          << place << " " << level;
}

}  // namespace
