// SPDX-License-Identifier: MIT
#include <sys/ioctl.h>
#include <unistd.h>

#include "frames.hpp"
#include "heat_picture.hpp"
#include "heat_text.hpp"
#include "screen.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

struct HeatmapOptions {
  std::string record, svg, root = "/";
  std::size_t rows = 0;
  WatchOptions watch{.intervals = 12};
};

Frames from_frames(const hmk::RecordedTarget& target, hmk::RecordedContext context,
                   std::vector<hmk::RecordedFrame> frames) {
  return {target, std::make_shared<hmk::RecordedContext>(std::move(context)), false,
          [frames = std::move(frames)](const auto& use) -> hmk::Result<void> {
            for (const auto& frame : frames) use(frame);
            return {};
          }};
}

struct Size {
  std::size_t rows = 32, columns = 64;
};

bool is_coloured() {
  return isatty(STDOUT_FILENO) != 0 && is_colour_wanted();
}

/// What fits the terminal; a fixed size anywhere else.
Size size_of_output(const HeatmapOptions& options, bool is_text) {
  Size size;
  if (is_text) size.columns /= heat_cell_width(is_coloured());
  winsize window{};
  const bool is_terminal =
      is_text && isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  if (is_terminal && window.ws_row > kHeatLinesBeside + 4 && window.ws_col > kHeatMargin + 8)
    size = {window.ws_row - kHeatLinesBeside,
            (window.ws_col - kHeatMargin) / heat_cell_width(is_coloured())};
  if (options.rows != 0) size.rows = options.rows;
  return size;
}

nlohmann::json row_json(const HeatScene& scene, std::size_t row) {
  const HeatMap& map = scene.map();
  nlohmann::json hotness = nlohmann::json::array(), rates = hotness, places = hotness;
  for (std::size_t column = 0; column < map.columns(); ++column) {
    const auto heat = map.at(row, column);
    const auto rate = map.has_rates() ? map.rate(row, column) : std::nullopt;
    const auto cell = scene.cell(row, column);
    hotness.push_back(heat ? nlohmann::json(100 * *heat) : nlohmann::json());
    rates.push_back(rate ? nlohmann::json(*rate) : nlohmann::json());
    places.push_back(cell ? nlohmann::json(cell->place) : nlohmann::json());
  }
  const auto name = scene.name(row);
  return {{"start", map.address(row)},
          {"mapping", name ? nlohmann::json(name->most) : nlohmann::json()},
          {"hole", map.has_hole(row)},
          {"hotness_percent", hotness},
          {"rates", rates},
          {"places", places}};
}

nlohmann::json to_json(const HeatScene& scene, const hmk::RecordedTarget& target) {
  const HeatMap& map = scene.map();
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t row = 0; row < map.rows(); ++row) rows.push_back(row_json(scene, row));
  return {{"pid", target.pid},
          {"comm", target.comm},
          {"intervals", map.frames()},
          {"time_ns", map.time_ns()},
          {"bytes_per_row", map.bytes_per_row()},
          {"places", scene.places()},
          {"scale",
           {{"measure", scene.measure()},
            {"low", scene.scale().low()},
            {"high", scene.scale().high()}}},
          {"notes", scene.notes()},
          {"rows", rows}};
}

int draw(const Context& context, const HeatmapOptions& options, const Frames& source) {
  std::vector<Span> spans;
  std::size_t frames = 0;
  const auto measured = source.each([&](const hmk::RecordedFrame& frame) {
    spans = join(spans, frame);
    ++frames;
  });
  if (!measured) return fail(context, measured.error());
  if (spans.empty())
    return fail(context,
                hmk::Error{"there is no interval to show", "wait until hmkd has profiled one"});
  const bool is_text = options.svg.empty() && !context.as_json;
  const Size size = size_of_output(options, is_text);
  HeatMap map(std::move(spans), size.rows, size.columns, frames);
  if (const auto drawn = source.each([&](const auto& frame) { map.add(frame); }); !drawn)
    return fail(context, drawn.error());

  const HeatScene scene(map,
                        source.target.comm + " (PID " + std::to_string(source.target.pid) +
                            "): where its memory lies and how hot it is, by address and time",
                        *source.context);
  if (!options.svg.empty()) return write_picture(context, options.svg, heat_svg(scene));
  const std::string text = context.as_json ? json_text(to_json(scene, source.target), 2)
                                           : draw_text(scene, is_coloured());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

int run_heatmap(const Context& context, const HeatmapOptions& options) {
  if (!options.record.empty()) {
    const auto source = frames_of(options.record);
    return source ? draw(context, options, *source) : fail(context, source.error());
  }
  end_watch_on_signals();
  Watch watch(context, options.watch);
  std::vector<hmk::RecordedFrame> frames;
  while (auto frame = watch.next()) frames.push_back(*std::move(frame));
  if (watch.trouble()) return fail(context, *watch.trouble());
  return draw(context, options,
              from_frames(watch.target(), context_of(context, options.root, watch.target()),
                          std::move(frames)));
}

}  // namespace

Run make_heatmap(CLI::App& verb) {
  auto options = std::make_shared<HeatmapOptions>();
  auto* const record =
      verb.add_option("--record", options->record, "draw this recording instead of what comes");
  verb.add_option("--svg", options->svg, "write a picture to this file instead");
  verb.add_option("--rows", options->rows, "how many rows share out the memory")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--root", options->root, "look at a machine recorded below this directory")
      ->group("");
  add_watch_options(verb, options->watch);
  for (const char* live : {"--pid", "--for", "--intervals"})
    verb.get_option(live)->excludes(record);
  return [options](const Context& context) { return run_heatmap(context, *options); };
}

}  // namespace hmkctl
