// SPDX-License-Identifier: MIT
#include <sys/ioctl.h>
#include <unistd.h>

#include <functional>

#include "heat_map.hpp"
#include "util/private_file.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

constexpr std::size_t kLabelWidth = 16, kLinesBelow = 3;

struct HeatmapOptions {
  std::string record, svg;
  std::size_t rows = 0;
  WatchOptions watch{.intervals = 12};
};

/// Frames from anywhere, as often as they are needed.
struct Source {
  hmk::RecordedTarget target;
  std::function<hmk::Result<void>(const std::function<void(const hmk::RecordedFrame&)>&)> each;
};

/// A recording can be larger than memory: it is read twice and never kept.
hmk::Result<Source> from_file(const std::string& path) {
  auto reader = hmk::RecordReader::open(path);
  if (!reader) return reader.error();
  return Source{reader->target(), [path](const auto& use) -> hmk::Result<void> {
                  auto again = hmk::RecordReader::open(path);
                  if (!again) return again.error();
                  hmk::RecordedFrame frame;
                  for (;;) {
                    const auto more = again->next(frame);
                    if (!more) return more.error();
                    if (!*more) return {};
                    use(frame);
                  }
                }};
}

Source from_frames(const hmk::RecordedTarget& target, std::vector<hmk::RecordedFrame> frames) {
  return {target, [frames = std::move(frames)](const auto& use) -> hmk::Result<void> {
            for (const auto& frame : frames) use(frame);
            return {};
          }};
}

struct Size {
  std::size_t rows = 32, columns = 64;
};

/// What fits the terminal; a fixed size anywhere else.
Size size_of_output(const HeatmapOptions& options) {
  Size size;
  winsize window{};
  const bool is_terminal = options.svg.empty() && isatty(STDOUT_FILENO) != 0 &&
                           ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  if (is_terminal && window.ws_row > kLinesBelow + 4 && window.ws_col > kLabelWidth + 4)
    size = {window.ws_row - kLinesBelow, window.ws_col - kLabelWidth};
  if (options.rows != 0) size.rows = options.rows;
  return size;
}

nlohmann::json to_json(const HeatMap& map, const hmk::RecordedTarget& target) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t row = 0; row < map.rows(); ++row) {
    nlohmann::json cells = nlohmann::json::array();
    for (std::size_t column = 0; column < map.columns(); ++column) {
      const auto heat = map.at(row, column);
      cells.push_back(heat ? nlohmann::json(100 * *heat) : nlohmann::json());
    }
    rows.push_back({{"start", map.address(row)}, {"hotness_percent", cells}});
  }
  return {{"pid", target.pid},
          {"comm", target.comm},
          {"intervals", map.frames()},
          {"time_ns", map.time_ns()},
          {"bytes_per_row", map.bytes_per_row()},
          {"rows", rows}};
}

int write_svg(const Context& context, const std::string& path, const std::string& svg) {
  auto file = hmk::PrivateFile::create(path);
  if (!file) return fail(context, file.error());
  file->write(svg);
  const auto done = file->flush();
  return done ? kOk : fail(context, done.error());
}

int draw(const Context& context, const HeatmapOptions& options, const Source& source) {
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
  const Size size = size_of_output(options);
  HeatMap map(std::move(spans), size.rows, size.columns, frames);
  if (const auto drawn = source.each([&](const auto& frame) { map.add(frame); }); !drawn)
    return fail(context, drawn.error());

  const std::string title =
      source.target.comm + " (PID " + std::to_string(source.target.pid) + "): smoothed hotness";
  if (!options.svg.empty()) return write_svg(context, options.svg, draw_svg(map, title));
  const std::string text = context.as_json ? json_text(to_json(map, source.target), 2)
                                           : draw_text(map, isatty(STDOUT_FILENO) != 0);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

int run_heatmap(const Context& context, const HeatmapOptions& options) {
  if (!options.record.empty()) {
    const auto source = from_file(options.record);
    return source ? draw(context, options, *source) : fail(context, source.error());
  }
  end_watch_on_signals();
  Watch watch(context, options.watch);
  std::vector<hmk::RecordedFrame> frames;
  while (auto frame = watch.next()) frames.push_back(*std::move(frame));
  if (watch.trouble()) return fail(context, *watch.trouble());
  return draw(context, options, from_frames(watch.target(), std::move(frames)));
}

}  // namespace

Run make_heatmap(CLI::App& verb) {
  auto options = std::make_shared<HeatmapOptions>();
  auto* const record =
      verb.add_option("--record", options->record, "draw this recording instead of what comes");
  verb.add_option("--svg", options->svg, "write a picture to this file instead");
  verb.add_option("--rows", options->rows, "how many rows share out the memory")
      ->check(CLI::Range(1, 4096));
  add_watch_options(verb, options->watch);
  for (const char* live : {"--pid", "--for", "--intervals"})
    verb.get_option(live)->excludes(record);
  return [options](const Context& context) { return run_heatmap(context, *options); };
}

}  // namespace hmkctl
