// SPDX-License-Identifier: MIT
#include "machine/workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "load/hot_set.hpp"
#include "machine/document.hpp"
#include "util/suggest.hpp"
#include "util/units.hpp"

namespace hmk::sim {

namespace {

constexpr Bytes kPage = 4096, kHuge = 2 << 20;
constexpr std::size_t kMostPhases = 64;
constexpr const char* kPhasesWanted = "want 1 to 64 of them";
constexpr Bytes kMostMemory = 64ull << 30;  // a byte and some floats are kept for each page

Bytes size_of(const Document& doc, Bytes unit, Bytes most) {
  const auto value = parse_size(doc.text());
  if (!value || *value == 0 || *value % unit != 0 || *value > most)
    doc.fail("'" + doc.text() + "' is no multiple of " + format_size(unit) + " up to " +
             format_size(most));
  return *value;
}

double seconds_of(const Document& doc) {
  const auto value = parse_duration(doc.text());
  if (!value || *value < std::chrono::milliseconds(100) || *value > std::chrono::hours(24))
    doc.fail("'" + doc.text() + "' is no time of 100ms .. 24h");
  return std::chrono::duration<double>(*value).count();
}

Layer read_layer(const Document& doc, Bytes memory) {
  doc.allow({"bytes", "at", "pieces", "draw", "visits", "lines", "writes", "zipf", "order"});
  Layer layer{.bytes = memory, .visits = doc.get("visits").number(0, 1e6)};
  if (const auto bytes = doc.find("bytes")) layer.bytes = size_of(*bytes, kPage, memory);
  if (const auto at = doc.find("at")) layer.at = size_of(*at, kPage, memory - layer.bytes);
  if (const auto pieces = doc.find("pieces")) {
    layer.piece = size_of(*pieces, kPage, layer.bytes);
    if (layer.at != 0) pieces->fail("lie anywhere; leave 'at' out");
    if (!std::has_single_bit(layer.piece) || layer.bytes % layer.piece != 0)
      pieces->fail("want 4KiB, 8KiB, ... that share 'bytes' evenly");
    if (memory % layer.piece != 0) pieces->fail("do not share 'memory' evenly");
  }
  if (const auto draw = doc.find("draw")) layer.draw = static_cast<unsigned>(draw->number(0, 1000));
  if (const auto lines = doc.find("lines")) layer.lines = lines->number(0, 64);
  if (const auto writes = doc.find("writes")) layer.written = writes->share();
  if (const auto zipf = doc.find("zipf")) layer.zipf = zipf->number(0.01, 4);
  if (const auto order = doc.find("order")) {
    if (order->text() != "address" && order->text() != "scattered")
      order->fail("want address or scattered");
    layer.by_address = order->text() == "address";
  }
  return layer;
}

Phase read_phase(const Document& doc, Bytes memory) {
  doc.allow({"for", "instructions", "heat"});
  Phase phase{.execution = {.instructions = doc.get("instructions").number(1, 1e9)}};
  if (const auto lasts = doc.find("for")) {
    if (lasts->text().ends_with('%'))
      phase.share = lasts->share();
    else
      phase.seconds = seconds_of(*lasts);
  }
  const Document heat = doc.get("heat");
  if (heat.size() == 0) heat.fail("want at least one part of the memory");
  for (std::size_t i = 0; i < heat.size(); ++i)
    phase.layers.push_back(read_layer(heat.at(i), memory));
  return phase;
}

Phase read_counted_phase(const Document& doc) {
  doc.allow({"operations", "instructions", "other"});
  Phase phase{.operations = doc.get("operations").number(1, 1e15),
              .execution = {.instructions = doc.get("instructions").number(1e-3, 1e12)}};
  if (const auto other = doc.find("other")) phase.execution.other_ns = other->number(0, 1e12);
  return phase;
}

/// The file has, in 32 bits each, least significant byte first, the node of every page, and phase
/// by phase the misses of every page, then those streamed, lines written back and visits.
void read_pages(const Document& doc, const std::filesystem::path& folder, Workload& load) {
  const std::size_t nr = load.memory / kPage, bytes = nr * (1 + load.phases.size() * 4) * 4;
  const std::string path = folder / doc.text();
  std::ifstream file(path, std::ios::binary);
  std::error_code problem;
  if (!file || std::filesystem::file_size(path, problem) != bytes || problem)
    doc.fail(path + " cannot be read or has not " + std::to_string(bytes) + " bytes");
  const auto read = [&](std::vector<std::uint32_t>& column) {
    static_assert(std::endian::native == std::endian::little);
    column.resize(nr);
    file.read(reinterpret_cast<char*>(column.data()), static_cast<std::streamsize>(nr * 4));
  };
  read(load.nodes);
  for (Phase& phase : load.phases) {
    auto counted = std::make_shared<Counted>();
    for (auto* column : {&counted->misses, &counted->streamed, &counted->written, &counted->visits})
      read(*column);
    phase.counted = std::move(counted);
  }
  if (!file) doc.fail(path + " cannot be read");
}

Workload read_counted(const Document& root, const std::filesystem::path& path) {
  if (const auto format = root.find("format"); !format || format->text() != "3")
    root.fail("want 'format: 3'; count the program again");
  root.allow({"format", "memory", "pages", "phases"});
  Workload load{.name = path.stem().string(),
                .memory = size_of(root.get("memory"), kHuge, kMostMemory)};
  const Document phases = root.get("phases");
  if (phases.size() == 0 || phases.size() > kMostPhases) phases.fail(kPhasesWanted);
  for (std::size_t i = 0; i < phases.size(); ++i)
    load.phases.push_back(read_counted_phase(phases.at(i)));
  read_pages(root.get("pages"), path.parent_path(), load);
  return load;
}

/// Where the pieces of `draw` lie: as hmk-load-gups draws its hot sets, one after the other, so
/// that the same seed has the same pieces as in a guest.
std::vector<load::Range> pieces_of(const Workload& work, const Layer& layer, std::uint64_t seed) {
  constexpr std::uint64_t kWord = 8;
  load::Random random(seed);
  (void)random.next();  // of its first thread
  const load::HotSet::Plan plan{.words = work.memory / kWord,
                                .chunk_words = layer.piece / kWord,
                                .nr_hot = layer.bytes / layer.piece,
                                .hot_accesses = 1};
  for (unsigned draw = 0;; ++draw)
    if (const load::HotSet set(plan, random); draw == layer.draw) return set.ranges();
}

/// The layer's pages, those that are hottest first.
std::vector<std::uint32_t> pages_of(const Workload& work, const Layer& layer, std::uint64_t seed) {
  std::vector<std::uint32_t> pages;
  const std::vector<load::Range> ranges = layer.piece == 0
                                              ? std::vector<load::Range>{{layer.at, layer.bytes}}
                                              : pieces_of(work, layer, seed);
  for (const load::Range& range : ranges)
    for (std::uint64_t page = 0; page < range.length / kPage; ++page)
      pages.push_back(static_cast<std::uint32_t>(range.start / kPage + page));
  Random random(hash(seed, 0x7a697066, layer.draw, layer.bytes));
  if (layer.zipf > 0 && !layer.by_address)
    for (std::size_t i = pages.size(); i > 1; --i) std::swap(pages[i - 1], pages[random.below(i)]);
  return pages;
}

}  // namespace

Workload read_workload(const std::string& path) {
  const Document root = Document::load(path);
  if (root.find("pages")) return read_counted(root, path);
  root.allow({"memory", "seconds", "cycle", "phases"});
  Workload load{.name = std::filesystem::path(path).stem().string(),
                .memory = size_of(root.get("memory"), kHuge, kMostMemory),
                .seconds = seconds_of(root.get("seconds"))};
  if (const auto cycle = root.find("cycle")) {
    if (cycle->text() != "yes" && cycle->text() != "no") cycle->fail("want yes or no");
    load.is_cycle = cycle->text() == "yes";
  }
  const Document phases = root.get("phases");
  if (phases.size() == 0 || phases.size() > kMostPhases) phases.fail(kPhasesWanted);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    load.phases.push_back(read_phase(phases.at(i), load.memory));
    const bool has_length = load.phases[i].seconds > 0 || load.phases[i].share > 0;
    if (has_length == (!load.is_cycle && i + 1 == phases.size()))
      phases.at(i).fail(has_length ? "the last phase lasts to the end: leave 'for' out"
                                   : "'for' is missing");
  }
  return load;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HMK_SIM_SCENARIOS))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::string workload_path(const std::string& name) {
  if (name.ends_with(".yaml")) return name;
  const std::vector<std::string> names = workload_names();
  if (std::ranges::find(names, name) != names.end())
    return std::string(HMK_SIM_SCENARIOS "/") + name + ".yaml";
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  throw std::invalid_argument("unknown scenario '" + name + "'; there are " + all +
                              ", or name a file that ends in .yaml");
}

Heat heat_of(const Workload& load, const Phase& phase, std::uint64_t seed) {
  const std::size_t nr = load.memory / kPage;
  Heat heat(nr);
  if (phase.counted) {
    const Counted& counted = *phase.counted;
    const auto each = [&](double lines) { return static_cast<float>(lines / phase.operations); };
    for (std::size_t page = 0; page < nr; ++page) {
      heat.visits[page] = each(counted.visits[page]);
      heat.misses[page] = each(counted.misses[page]);
      heat.streamed[page] = each(counted.streamed[page]);
      heat.written[page] = each(counted.written[page]);
    }
  }
  for (const Layer& layer : phase.layers) {
    const std::vector<std::uint32_t> pages = pages_of(load, layer, seed);
    const auto weight = [&](std::size_t rank) {
      return layer.zipf == 0 ? 1 : std::pow(static_cast<double>(rank), -layer.zipf);
    };
    double all = 0;
    for (std::size_t rank = 1; rank <= pages.size(); ++rank) all += weight(rank);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const double visits = layer.visits * weight(i + 1) / all;
      heat.visits[pages[i]] += static_cast<float>(visits);
      heat.misses[pages[i]] += static_cast<float>(visits * layer.lines);
      heat.written[pages[i]] += static_cast<float>(visits * layer.lines * layer.written);
    }
  }
  return heat;
}

}  // namespace hmk::sim
