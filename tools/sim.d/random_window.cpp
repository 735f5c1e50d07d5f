// SPDX-License-Identifier: MIT
//
// A random window of 256 MiB (the paper's reading of AutoNUMA and Memory-tiering):
// every page of as many windows as the budget pays for, the last one in part.
// What was seen is kept until its window is seen again, which is more than
// AutoNUMA remembers. Hot: seen in at least half of the scans.
#include <algorithm>
#include <map>

#include "profiler.hpp"

namespace hmk::sim {

namespace {

constexpr Bytes kWindow = 256ull << 20;

class RandomWindow final : public Profiler {
 public:
  explicit RandomWindow(const Means& means)
      : means_(means), random_(hash(means.seed, 0x41d0, 0, 0)) {}

  std::string_view name() const override { return "random-window"; }
  std::uint64_t bytes_per_region() const override { return sizeof(Range); }

  Outcome step(const World& world, std::uint32_t interval) override {
    Outcome out;
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, means_.window_s());
    const std::vector<Range> windows = cut(world);
    const Bytes leaf = 1ull << means_.leaf_shift;
    std::uint64_t left = means_.watched_leaves();
    drop_vanished(windows);
    // No window twice in an interval: its bits would be read by two at once.
    std::vector<bool> seen(windows.size(), false);
    for (std::size_t n = 0; n < windows.size() && left; n++) {
      std::size_t w = random_.below(windows.size());
      while (seen[w]) w = w + 1 < windows.size() ? w + 1 : 0;
      seen[w] = true;
      std::vector<Range>& hot = hot_[windows[w].start];
      hot.clear();
      for (std::uint64_t at = windows[w].start; at < windows[w].end && left; at += leaf, left--) {
        out.samples++;
        if (2 * accesses.count(at, means_.num_scans) < means_.num_scans) continue;
        if (!hot.empty() && hot.back().end == at)
          hot.back().end = at + leaf;
        else
          hot.push_back({at, at + leaf});
      }
    }
    for (const auto& [start, hot] : hot_) out.hot.insert(out.hot.end(), hot.begin(), hot.end());
    out.regions = windows.size();
    out.profiling_ns =
        static_cast<double>(out.samples) * (means_.num_scans + 1) * means_.scan_cost_ns;
    out.state_bytes = out.hot.size() * sizeof(Range);
    return out;
  }

 private:
  static std::vector<Range> cut(const World& world) {
    std::vector<Range> windows;
    for (const hmk_span& s : world.spans)
      for (std::uint64_t at = s.start; at < s.end; at += kWindow)
        windows.push_back({at, std::min<std::uint64_t>(s.end, at + kWindow)});
    return windows;
  }

  void drop_vanished(const std::vector<Range>& windows) {
    std::erase_if(hot_, [&](const auto& entry) {
      return !std::ranges::binary_search(windows, entry.first, {}, &Range::start);
    });
  }

  Means means_;
  Random random_;
  std::map<std::uint64_t, std::vector<Range>> hot_;  // by start of the window
};

}  // namespace

std::unique_ptr<Profiler> make_random_window(const Means& means) {
  return std::make_unique<RandomWindow>(means);
}

}  // namespace hmk::sim
