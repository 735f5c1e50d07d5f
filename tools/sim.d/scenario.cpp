// SPDX-License-Identifier: MIT
#include "scenario.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace hmk::sim {

namespace {

constexpr Bytes kMiB = 1ull << 20;
constexpr Bytes kGiB = 1ull << 30;
constexpr Bytes kPiece = 2 * kMiB;  // memory and what is hot are whole numbers of these
constexpr std::uint64_t kHeap = 0x7f0000000000;

// GUPS: 10 % of the pages get 90 % of the accesses, so a cold page gets 1/81.
constexpr double kColdShare = 0.1 / 0.9 * (0.1 / 0.9);

hmk_span span(std::uint64_t start, Bytes bytes, unsigned leaf_shift) {
  hmk_span s{};
  s.start = start;
  s.end = start + bytes;
  s.kind = 1;
  s.leaf_shift = static_cast<__u8>(leaf_shift);
  return s;
}

/// `hot` bytes of [kHeap, kHeap + bytes): in one piece at three eighths of it, or
/// in pieces, each at a random place of its own stretch of memory.
RangeSet hot_set(const ScenarioOptions& o, Bytes bytes, Bytes hot, std::uint64_t seed) {
  if (o.layout == Layout::kContiguous) {
    const std::uint64_t first = kHeap + bytes / kPiece * 3 / 8 * kPiece;
    return RangeSet({{first, first + hot / kPiece * kPiece}});
  }
  // Selection sampling (Knuth, algorithm S): each set of pieces is as likely as any other.
  std::vector<Range> chosen;
  const std::uint64_t pieces = bytes / o.piece;
  std::uint64_t left = hot / o.piece;
  Random random(hash(seed, 0x5ca77e7, 0, 0));
  for (std::uint64_t i = 0; i < pieces && left; i++) {
    if (random.below(pieces - i) >= left) continue;
    chosen.push_back({kHeap + i * o.piece, kHeap + (i + 1) * o.piece});
    left--;
  }
  return RangeSet(chosen);
}

void set_rates(World& world, double hot, double cold) {
  world.rates = {hot, cold};
  world.hot_above = std::sqrt(hot * cold);
}

World one_heap(const ScenarioOptions& o, Bytes bytes, Bytes hot, std::uint64_t seed) {
  World world;
  world.spans = {span(kHeap, bytes, o.leaf_shift)};
  world.hot = hot_set(o, bytes, hot, seed);
  set_rates(world, o.hot_rate, o.hot_rate * kColdShare);
  return world;
}

Bytes size(const ScenarioOptions& o, Bytes usual) {
  return (o.bytes ? o.bytes : usual) / kPiece * kPiece;
}

Scenario gups(const ScenarioOptions& o, Bytes usual) {
  const Bytes bytes = size(o, usual);
  return {.intervals = 12, .worlds = {one_heap(o, bytes, bytes / 10, o.seed)}, .from = {0}};
}

Scenario gups_jump(const ScenarioOptions& o) {
  const Bytes bytes = size(o, 512 * kGiB);
  Scenario s{.intervals = 24, .worlds = {one_heap(o, bytes, bytes / 10, o.seed)}, .from = {0, 12}};
  s.worlds.push_back(one_heap(o, bytes, bytes / 10, o.seed + 1));
  if (o.layout == Layout::kContiguous) {
    const std::uint64_t first = kHeap + bytes / kPiece * 6 / 8 * kPiece;
    s.worlds[1].hot = RangeSet({{first, first + bytes / 10 / kPiece * kPiece}});
  }
  return s;
}

Scenario needle(const ScenarioOptions& o) {
  const Bytes bytes = size(o, 160 * kGiB);
  World world = one_heap(o, bytes, std::min(o.hot ? o.hot : 200 * kMiB, bytes / 2), o.seed);
  set_rates(world, o.hot_rate, o.hot_rate / 1000);  // an idle machine around it
  return {.intervals = 15, .worlds = {world}, .from = {0}};
}

// A small heap; then 100,000 mappings of 64 KiB with holes between them, which
// nothing can merge, come and go again. Every tenth is hot.
Scenario region_storm(const ScenarioOptions& o) {
  constexpr std::uint32_t kVmas = 100000;
  constexpr Bytes kVma = 64UL * 1024;
  const Bytes bytes = size(o, 8 * kGiB);
  const World calm = one_heap(o, bytes, bytes / 10, o.seed);
  World storm = calm;
  std::vector<hmk_span> spans;
  std::vector<Range> hot;
  for (std::uint32_t i = 0; i < kVmas; i++) {
    spans.push_back(span(kHeap / 2 + i * (2 * kVma), kVma, HMK_CORE_PAGE_SHIFT));
    if (i % 10 == 3) hot.push_back({spans.back().start, spans.back().end});
  }
  spans.insert(spans.end(), calm.spans.begin(), calm.spans.end());
  hot.insert(hot.end(), calm.hot.ranges().begin(), calm.hot.ranges().end());
  storm.spans = std::move(spans);
  storm.hot = RangeSet(hot);
  return {.intervals = 40, .num_ps = 8192, .worlds = {calm, storm, calm}, .from = {0, 5, 25}};
}

// Twenty levels of heat over four decades, the hottest at the hot rate; each has as much
// memory as any other. Scattered: pieces of 2 MiB, else one stretch each. The hottest two
// are the hot set.
World heats_world(const ScenarioOptions& o, Bytes bytes, std::uint64_t seed) {
  constexpr unsigned kLevels = 20;
  const std::uint64_t per_level = bytes / kPiece / kLevels;
  const bool scattered = o.layout == Layout::kScattered;
  std::vector<unsigned> level((scattered ? per_level : 1) * kLevels);
  for (std::size_t i = 0; i < level.size(); i++) level[i] = static_cast<unsigned>(i % kLevels);
  Random random(hash(seed, 0x4ea75, 0, 0));
  for (std::size_t i = level.size(); i > 1; i--) std::swap(level[i - 1], level[random.below(i)]);
  World world;
  std::vector<Range> hot;
  const Bytes stretch = (scattered ? 1 : per_level) * kPiece;
  for (std::size_t i = 0; i < level.size(); i++) {
    const std::uint64_t start = kHeap + i * stretch;
    const double below_hottest = 4.0 * (kLevels - 1 - level[i]) / (kLevels - 1);
    world.zones.push_back({start, start + stretch, o.hot_rate * std::pow(10, -below_hottest)});
    if (level[i] + 2 >= kLevels) hot.push_back({start, start + stretch});
  }
  world.spans = {span(kHeap, level.size() * stretch, o.leaf_shift)};
  world.hot = RangeSet(hot);
  world.hot_above = o.hot_rate * std::pow(10, -4.0 * 1.5 / (kLevels - 1));
  return world;
}

Scenario heats(const ScenarioOptions& o) {
  const Bytes bytes = size(o, 160 * kGiB);
  return {.intervals = 24,
          .ordered = true,
          .worlds = {heats_world(o, bytes, o.seed), heats_world(o, bytes, o.seed + 1)},
          .from = {0, 12}};
}

// The heat of leaves is Zipf's, and which has which is chance: no region is like its pages. The
// hottest eighth is the hot set, accessed at the hot rate as a whole.
Scenario zipf_pages(const ScenarioOptions& o) {
  constexpr double kExponent = 0.99;  // YCSB's
  constexpr std::uint64_t kFast = 8;
  const Bytes bytes = size(o, 4 * kGiB), leaf = Bytes{1} << o.leaf_shift;
  std::vector<std::uint64_t> rank(bytes / leaf);
  std::iota(rank.begin(), rank.end(), 1);
  Random random(hash(o.seed, 0x21bf, 0, 0));
  for (std::size_t i = rank.size(); i > 1; i--) std::swap(rank[i - 1], rank[random.below(i)]);
  const std::uint64_t fast = rank.size() / kFast;
  const auto heat = [](std::uint64_t of) { return std::pow(of, -kExponent); };
  double sum = 0;
  for (std::uint64_t i = 1; i <= fast; i++) sum += heat(i);
  const double unit = o.hot_rate * static_cast<double>(fast) / sum;
  World world;
  std::vector<Range> hot;
  for (std::size_t i = 0; i < rank.size(); i++) {
    const std::uint64_t start = kHeap + i * leaf;
    world.zones.push_back({start, start + leaf, unit * heat(rank[i])});
    if (rank[i] <= fast) hot.push_back({start, start + leaf});
  }
  world.spans = {span(kHeap, bytes, o.leaf_shift)};
  world.hot = RangeSet(hot);
  world.hot_above = unit * std::sqrt(heat(fast) * heat(fast + 1));
  return {.fast_share = 1.0 / kFast, .worlds = {world}, .from = {0}};
}

}  // namespace

std::string_view to_string(Layout layout) {
  return layout == Layout::kContiguous ? "contiguous" : "scattered";
}

const World& Scenario::at(std::uint32_t interval) const {
  std::size_t i = 0;
  while (i + 1 < worlds.size() && from[i + 1] <= interval) i++;
  return worlds[i];
}

const std::vector<std::string>& scenario_names() {
  static const std::vector<std::string> names = {
      "gups-512g", "gups-jump", "needle-160g", "heats", "region-storm", "scale-1.5t", "zipf-pages"};
  return names;
}

Scenario make_scenario(std::string_view name, const ScenarioOptions& options) {
  if (options.bytes && options.bytes < 64 * kMiB)
    throw std::invalid_argument("memory: at least 64MiB");
  Scenario s;
  if (name == "gups-512g")
    s = gups(options, 512 * kGiB);
  else if (name == "gups-jump")
    s = gups_jump(options);
  else if (name == "needle-160g")
    s = needle(options);
  else if (name == "heats")
    s = heats(options);
  else if (name == "region-storm")
    s = region_storm(options);
  else if (name == "scale-1.5t")
    s = gups(options, 1536 * kGiB);
  else if (name == "zipf-pages")
    s = zipf_pages(options);
  else
    throw std::invalid_argument("unknown scenario '" + std::string(name) + "'");
  s.name = name;
  return s;
}

}  // namespace hmk::sim
