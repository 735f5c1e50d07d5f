// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "record/reader.hpp"

namespace hmk::sim {

namespace {

constexpr double kSure = 0.999;  // accessed in every scan: the rate is at least this

/// The Poisson rate that sets an accessed bit in a window with the recorded probability.
double rate_of(double hotness, const RecordedFrame& frame) {
  const double seconds = static_cast<double>(frame.end_ns - frame.start_ns) / 1e9;
  const double window_s = seconds * 15 / 16 / frame.num_scans;
  return -std::log1p(-std::min(hotness / frame.num_scans, kSure)) / window_s;
}

World world_of(const RecordedFrame& frame) {
  World world;
  std::vector<Range> hot;
  for (const RecordedRegion& r : frame.regions) {
    const std::uint64_t end = r.start + r.length;
    if (!world.spans.empty() && world.spans.back().end == r.start) {
      world.spans.back().end = end;
    } else {
      hmk_span span{};
      span.start = r.start;
      span.end = end;
      span.kind = 1;
      span.leaf_shift = HMK_CORE_PAGE_SHIFT;
      world.spans.push_back(span);
    }
    world.zones.push_back({r.start, end, rate_of(r.hi_q8 / 256.0, frame)});
    if (2 * r.hi_q8 >= frame.num_scans << 8) hot.push_back({r.start, end});
  }
  world.hot = RangeSet(hot);
  world.hot_above = rate_of(frame.num_scans / 2.0, frame);
  return world;
}

}  // namespace

Replay make_replay(const std::string& path) {
  auto reader = RecordReader::open(path);
  if (!reader) throw std::runtime_error(reader.error().line());
  Replay replay;
  replay.scenario.name = "replay";
  RecordedFrame frame;
  double seconds = 0;
  for (;;) {
    const auto more = reader->next(frame);
    if (!more) throw std::runtime_error(more.error().line());
    if (!*more) break;
    if (frame.regions.empty()) continue;
    replay.scenario.from.push_back(static_cast<std::uint32_t>(replay.scenario.worlds.size()));
    replay.scenario.worlds.push_back(world_of(frame));
    replay.num_scans = frame.num_scans;
    seconds += static_cast<double>(frame.end_ns - frame.start_ns) / 1e9;
  }
  if (replay.scenario.worlds.empty())
    throw std::runtime_error(path + ": holds no interval; record for longer");
  replay.scenario.intervals = static_cast<std::uint32_t>(replay.scenario.worlds.size());
  replay.interval_s = seconds / static_cast<double>(replay.scenario.worlds.size());
  return replay;
}

}  // namespace hmk::sim
