// SPDX-License-Identifier: MIT
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gauge.hpp"
#include "topology/calibration.hpp"
#include "topology/tiers.hpp"
#include "util/file.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

using hmk::BandwidthByThreads;
using hmk::Calibration;
using hmk::Error;
using hmk::Result;
using nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::size_t kMostThreads = 16, kLine = 64;
constexpr std::size_t kLeastBytes = 64ul << 20, kMostBytes = 1ul << 30;
constexpr std::size_t kMovedBytes = 16ul << 20;
constexpr std::size_t kMostSteps = 200'000;
constexpr double kLongestStep = 1e9;  // ns
constexpr nanoseconds kAll = std::chrono::seconds(20), kLeast = std::chrono::milliseconds(20),
                      kMost = std::chrono::milliseconds(150);
constexpr std::uint32_t kAlikePercent = 20;

/// On a terminal: how far it is, and the time left at the pace so far.
class Bar {
 public:
  explicit Bar(std::size_t steps) : steps_(steps) {}
  ~Bar() {
    if (is_shown_) std::fputs("\r\x1b[K", stderr);
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void step(const std::string& what) {
    if (is_shown_) {
      const auto passed = std::chrono::duration<double>(Clock::now() - begin_).count();
      const double left =
          passed * static_cast<double>(steps_ - done_) / static_cast<double>(std::max(done_, 1ul));
      const std::size_t full = kWidth * done_ / steps_;
      std::fprintf(stderr, "\r[%s%s] %.0f s left, %s\x1b[K", std::string(full, '#').c_str(),
                   std::string(kWidth - full, ' ').c_str(), left, what.c_str());
    }
    ++done_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kWidth = 30;

  std::size_t steps_, done_ = 0;
  bool is_shown_ = ::isatty(STDERR_FILENO) != 0;
  Clock::time_point begin_ = Clock::now();
};

/// The last level's size, so that what is measured does not lie in it; 0 where nobody says.
std::size_t cache_bytes(const std::filesystem::path& root) {
  std::size_t largest = 0;
  for (int level = 0; level < 5; ++level) {
    const auto text = hmk::read_text(root / "sys/devices/system/cpu/cpu0/cache" /
                                     ("index" + std::to_string(level)) / "size");
    if (text)
      largest = std::max<std::size_t>(largest, std::strtoull(text->c_str(), nullptr, 10) << 10);
  }
  return largest;
}

std::string pair_text(int from, int to) {
  return std::to_string(from) + " -> " + std::to_string(to);
}

class Calibrator {
 public:
  Calibrator(const hmk::Machine& machine, std::string cpu, std::size_t cache)
      : machine_(machine), measured_(hmk::shape_of(machine, std::move(cpu))), cache_bytes_(cache) {
    want_bytes_ = std::clamp(4 * cache, kLeastBytes, kMostBytes);
    for (const auto& [id, node] : machine.nodes) {
      if (!node.cpus.empty()) homes_.push_back(id);
      if (node.total_bytes > 0) memories_.push_back(id);
    }
    for (const int home : homes_) steps_ += memories_.size() * (2 + cpus_of(home).size());
    for (const int to : memories_)
      steps_ += (memories_.size() - 1) * (2 + cpus_of(home_of(to)).size());
    time_ = std::clamp(kAll / static_cast<long>(std::max(steps_, 1ul)), kLeast, kMost);
  }

  Result<Calibration> run() {
    Bar bar(steps_);
    for (const int to : memories_)
      if (Result<void> done = measure_access(to, bar); !done) return done.error();
    for (const int from : memories_)
      for (const int to : memories_)
        if (from != to)
          if (Result<void> done = measure_move(from, to, bar); !done) return done.error();
    return measured_;
  }
  bool by_module() const { return by_module_; }

 private:
  /// As many of a node's CPUs as copy at most.
  std::vector<int> cpus_of(int home) const {
    const std::set<int>& all = machine_.nodes.at(home).cpus;
    std::vector<int> cpus(all.begin(), all.end());
    cpus.resize(std::min(cpus.size(), kMostThreads));
    return cpus;
  }

  /// Whose CPUs copy into a node: its own, else those of the nearest that has some.
  int home_of(int node) const {
    return *std::ranges::min_element(homes_, {}, [&](int home) {
      return home == node ? 0 : hmk::distance(machine_, home, node);
    });
  }

  Result<NodeMemory> memory_on(int node, std::size_t bytes, Pages pages) const {
    const std::uint64_t room = machine_.nodes.at(node).free_bytes / 4;
    const std::size_t least = std::min(bytes, kMovedBytes);
    if (room < least)
      return Error{"node " + std::to_string(node) + " has " +
                       to_text(machine_.nodes.at(node).free_bytes, Unit::bytes) + " free, want " +
                       to_text(4 * least, Unit::bytes),
                   "free some memory there and try again"};
    return NodeMemory::on(node, std::min<std::uint64_t>(bytes, room), pages);
  }

  template <class Measure>
  BandwidthByThreads curve(const std::vector<int>& cpus, const std::string& what, Bar& bar,
                           Measure measure) const {
    BandwidthByThreads rates;
    for (std::size_t c = 1; c <= cpus.size(); ++c) {
      bar.step(what + ", " + std::to_string(c) + (c == 1 ? " thread" : " threads"));
      rates.push_back(measure(std::vector<int>(cpus.begin(), cpus.begin() + static_cast<long>(c))));
    }
    return rates;
  }

  Result<void> measure_access(int to, Bar& bar) {
    const auto memory = memory_on(to, want_bytes_, Pages::huge);
    if (!memory) return memory.error();
    Chain chain(*memory);
    // What the cache holds of laying it goes first.
    chain.step_ns(::sched_getcpu(), cache_bytes_ / kLine, Chain::Way::read);
    const auto latency = [&](int home, Chain::Way way, const char* what) {
      bar.step(what + pair_text(home, to));
      const std::size_t steps = std::min(memory->bytes() / kLine, kMostSteps);
      const int cpu = *machine_.nodes.at(home).cpus.begin();
      double ns = kLongestStep;
      for (int n = 0; n < 3; ++n) ns = std::min(ns, chain.step_ns(cpu, steps, way));
      return static_cast<std::uint32_t>(std::max(ns, 1.0));
    };
    std::vector<Calibration::Access> rows;
    for (const int home : homes_)
      rows.push_back({home,
                      to,
                      latency(home, Chain::Way::read, "latency "),
                      latency(home, Chain::Way::write, "write latency "),
                      {}});
    for (Calibration::Access& row : rows) {
      row.bandwidth = curve(cpus_of(row.from), "bandwidth " + pair_text(row.from, to), bar,
                            [&](const auto& cpus) { return read_bandwidth(*memory, cpus, time_); });
      measured_.access.push_back(row);
    }
    return {};
  }

  Result<void> measure_move(int from, int to, Bar& bar) {
    Calibration::Move row{.from = from, .to = to, .copy = {}};
    {
      const auto source = memory_on(from, want_bytes_, Pages::huge),
                 target = memory_on(to, want_bytes_, Pages::huge);
      if (!source) return source.error();
      if (!target) return target.error();
      row.copy =
          curve(cpus_of(home_of(to)), "copies " + pair_text(from, to), bar,
                [&](const auto& cpus) { return copy_bandwidth(*source, *target, cpus, time_); });
    }
    for (const Pages pages : {Pages::base, Pages::huge}) {
      bar.step("moves " + pair_text(from, to));
      const auto memory = memory_on(from, kMovedBytes, pages);
      if (!memory) return memory.error();
      const auto cost = move_cost(*memory, to);
      if (!cost) continue;
      by_module_ = cost->by_module;
      (pages == Pages::base ? row.page_ns : row.huge_ns) =
          cost->ns_per_page * (pages == Pages::base ? 1 : 512);
    }
    measured_.moves.push_back(row);
    return {};
  }

  const hmk::Machine& machine_;
  Calibration measured_;
  std::vector<int> homes_, memories_;  // nodes with CPUs, with memory
  std::size_t cache_bytes_, want_bytes_, steps_ = 0;
  nanoseconds time_{};
  bool by_module_ = false;
};

/// Latencies that HMAT tells otherwise, one line each.
std::vector<std::string> disagreements(const hmk::Machine& machine, const Calibration& measured) {
  std::vector<std::string> lines;
  for (const Calibration::Access& one : measured.access) {
    const auto& said = machine.nodes.at(one.to).access;
    if (!said || !said->initiators.contains(one.from)) continue;
    const auto [less, more] = std::minmax(said->latency_ns, one.latency_ns);
    if (std::uint64_t{more} * 100 > std::uint64_t{less} * (100 + kAlikePercent))
      lines.push_back("HMAT says " + std::to_string(said->latency_ns) + " ns from node " +
                      pair_text(one.from, one.to));
  }
  return lines;
}

json rate_list(const BandwidthByThreads& curve) {
  json list = json::array();
  for (const double rate : curve) list.push_back(static_cast<std::uint64_t>(rate));
  return list;
}

std::string rate_text(const BandwidthByThreads& curve) {
  std::string text;
  for (const double rate : curve)
    text +=
        (text.empty() ? "" : " ") + to_text(static_cast<std::uint64_t>(rate), Unit::bytes) + "/s";
  return text;
}

json answer_of(const Calibration& measured, const std::string& file, bool by_module,
               const std::vector<std::string>& differs) {
  json access = json::array(), moves = json::array();
  for (const auto& one : measured.access)
    access.push_back({{"from", one.from},
                      {"to", one.to},
                      {"latency_ns", one.latency_ns},
                      {"write_latency_ns", one.write_latency_ns},
                      {"bandwidth_bytes_per_s", rate_list(one.bandwidth)},
                      {"text", rate_text(one.bandwidth)}});
  for (const auto& one : measured.moves)
    moves.push_back({{"from", one.from},
                     {"to", one.to},
                     {"page_ns", one.page_ns > 0 ? json(one.page_ns) : json()},
                     {"huge_ns", one.huge_ns > 0 ? json(one.huge_ns) : json()},
                     {"copy_bytes_per_s", rate_list(one.copy)},
                     {"text", rate_text(one.copy)}});
  return {{"calibration",
           {{"file", file}, {"cpu", measured.cpu}, {"moved_by", by_module ? "hmk" : "move_pages"}}},
          {"access", access},
          {"moves", moves},
          {"differs_from_hmat", differs}};
}

void print_answer(json answer, bool as_json) {
  static const std::vector<Table> kTables{
      {"access",
       {{"from", "CPU NODE"},
        {"to", "MEMORY"},
        {"latency_ns", "LATENCY", Unit::ns},
        {"write_latency_ns", "WRITTEN", Unit::ns},
        {"text", "READ BY 1, 2, ... THREADS"}}},
      {"moves",
       {{"from", "FROM"},
        {"to", "TO"},
        {"page_ns", "4 KiB", Unit::ns},
        {"huge_ns", "2 MiB", Unit::ns},
        {"text", "COPY BY 1, 2, ... THREADS"}}},
  };
  if (!as_json) return print(answer, kTables, false);
  for (const char* key : {"access", "moves"})
    for (json& row : answer[key]) row.erase("text");
  std::fputs(json_text(answer, 2).c_str(), stdout);
}

int run_calibrate(const Context& context, const std::string& file, const std::string& root) {
  // Before a minute of measuring: it may not be ours to write.
  const auto place = std::filesystem::path(file).parent_path();
  if (::access(place.empty() ? "." : place.c_str(), W_OK) != 0)
    return fail(context, Error{place.string() + " cannot be written",
                               "run it as root, or name another file with -o"});
  const hmk::Machine machine = hmk::read_machine(root);
  Calibrator calibrator(machine, hmk::cpu_model(root), cache_bytes(root));
  const Result<Calibration> measured = calibrator.run();
  if (!measured) return fail(context, measured.error());
  std::ofstream out(file, std::ios::trunc);
  out << hmk::to_yaml(*measured);
  if (!out.flush()) return fail(context, Error{file + " cannot be written"});
  const auto differs = disagreements(machine, *measured);
  print_answer(answer_of(*measured, file, calibrator.by_module(), differs), context.as_json);
  if (context.as_json) return kOk;
  for (const std::string& line : differs) std::printf("%s\n", line.c_str());
  std::printf("written to %s; moves by %s; take it over with 'hmkctl reload'\n", file.c_str(),
              calibrator.by_module() ? "hmk.ko" : "move_pages(2)");
  return kOk;
}

}  // namespace

Run make_calibrate(CLI::App& verb) {
  auto file = std::make_shared<std::string>("/var/lib/hmk/machine.yaml");
  auto root = std::make_shared<std::string>("/");
  verb.add_option("-o,--output", *file, "write the measurements here")->capture_default_str();
  verb.add_option("--root", *root, "read /proc and /sys below this folder")->group("");
  verb.footer(
      "Run it while the machine is idle: it takes half a minute, and fills a quarter of a\n"
      "node's free memory at most.");
  return [file, root](const Context& context) { return run_calibrate(context, *file, *root); };
}

}  // namespace hmkctl
