// SPDX-License-Identifier: MIT
#include "machine/recorded.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include "machine/memory.hpp"

namespace hmk::sim {

namespace {

constexpr Bytes kWhole = 2 << 20;      // memory is a multiple of it
constexpr double kMost = 4ull << 30;   // bytes: beyond, a page stands for several
constexpr double kBandwidth = 10'000;  // MB/s, where it was not recorded
constexpr double kLeastInstructions = 1e-3;

using Pieces = std::vector<hmkctl::HeatPieces::Piece>;

/// As in HeatPieces: what is in a window was there in these intervals.
struct Window {
  double ns = 0;         // its intervals
  double memory_ns = 0;  // its accesses, where memory lay then
};

class Reader {
 public:
  Reader(const hmkctl::PlanInput& input)
      : input_(input), pieces_(input.heat.pieces()), windows_(input.heat.windows()) {
    const double bytes =
        std::accumulate(pieces_.begin(), pieces_.end(), 0.0,
                        [](double sum, const auto& piece) { return sum + piece.bytes; });
    while (bytes / scale_ > kMost) scale_ *= 2;
    const auto& tiers = input.frames.context->machine.tiers;
    for (std::uint32_t i = 0; i < tiers.size(); ++i)
      for (const std::int32_t node : tiers[i].nodes) tier_of_.emplace(node, i);
    for (const auto& piece : pieces_) {
      first_page_.push_back(nodes_.size());
      const double pages = std::ceil(piece.bytes / scale_ / Memory::kPage);
      nodes_.resize(nodes_.size() + static_cast<std::size_t>(pages), slowest() + 1);  // not known
    }
    first_page_.push_back(nodes_.size());
  }

  void read() {
    const auto done = input_.frames.each([&](const RecordedFrame& frame) { add(frame); });
    if (!done) throw std::invalid_argument(done.error().line());
  }

  unsigned scale() const { return scale_; }

  Workload workload(const std::string& name) const {
    Workload load{.name = name, .memory = memory()};
    load.nodes = nodes_;
    load.nodes.resize(load.memory / Memory::kPage, slowest());
    for (std::size_t window = 0; window < windows_.size(); ++window)
      load.phases.push_back(phase(window));
    return load;
  }

  LabMachine machine() const {
    LabMachine machine{.name = "recorded", .mlp = 1};
    const auto& recorded = input_.frames.context->machine.tiers;
    for (std::size_t i = 0; i < input_.tiers.size(); ++i) {
      const hmkctl::PlanTier& tier = input_.tiers[i];
      const auto bytes = std::isfinite(tier.bytes) ? static_cast<Bytes>(tier.bytes / scale_)
                                                   : memory() + memory() / 8;
      if (bytes < Memory::kPage)
        throw std::invalid_argument("the process had nothing in tier " + std::to_string(i + 1) +
                                    "; say how large it is, for example --tier " +
                                    std::to_string(i + 1) + "=4GiB");
      machine.nodes.push_back({.bytes = bytes,
                               .has_cpus = i == 0,
                               .latency_ns = tier.latency_ns * scale_,
                               .write_latency_ns = tier.latency_ns * scale_,
                               .bandwidth_mbps = recorded[i].bandwidth_mib == 0
                                                     ? kBandwidth
                                                     : recorded[i].bandwidth_mib * 1.048576});
      machine.tiers.push_back(static_cast<int>(i));
    }
    return machine;
  }

 private:
  std::uint32_t slowest() const { return static_cast<std::uint32_t>(input_.tiers.size() - 1); }
  std::uint32_t tier_of(const RecordedRegion& region) const {
    const auto found = tier_of_.find(region.node);
    return found == tier_of_.end() ? slowest() : found->second;
  }

  void add(const RecordedFrame& frame) {
    Window& window = windows_[seen_++ * windows_.size() / input_.heat.frames()];
    const double ns = static_cast<double>(frame.end_ns - frame.start_ns);
    window.ns += ns;
    for (const RecordedRegion& region : frame.regions) {
      window.memory_ns += static_cast<double>(region.resident_pages) * region.rate() * ns / 1e9 *
                          input_.tiers[tier_of(region)].latency_ns;
      place(region);
    }
  }

  /// Its pieces that are there for the first time.
  void place(const RecordedRegion& region) {
    auto piece = std::ranges::lower_bound(
        pieces_, region.start, {}, [](const auto& one) { return one.start + one.length - 1; });
    for (; piece != pieces_.end() && piece->start < region.start + region.length; ++piece) {
      if (piece->first != seen_) continue;
      const auto i = static_cast<std::size_t>(piece - pieces_.begin());
      std::fill(nodes_.begin() + static_cast<std::ptrdiff_t>(first_page_[i]),
                nodes_.begin() + static_cast<std::ptrdiff_t>(first_page_[i + 1]), tier_of(region));
    }
  }

  Phase phase(std::size_t window) const {
    double accesses = 0;
    for (const auto& piece : pieces_) accesses += piece.accesses[window];
    const double operations = std::max(accesses / scale_, 1.0);
    const double rest_ns = windows_[window].ns - windows_[window].memory_ns;
    Phase phase{
        .operations = operations,
        .execution = {.instructions = std::max(rest_ns / operations / LabMachine::kNsPerInstruction,
                                               kLeastInstructions)}};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].accesses[window] > 0)
        phase.layers.push_back({.bytes = (first_page_[i + 1] - first_page_[i]) * Memory::kPage,
                                .at = first_page_[i] * Memory::kPage,
                                .visits = pieces_[i].accesses[window] / scale_ / operations});
    }
    return phase;
  }

  Bytes memory() const { return (nodes_.size() * Memory::kPage + kWhole - 1) / kWhole * kWhole; }

  const hmkctl::PlanInput& input_;
  Pieces pieces_;
  std::vector<Window> windows_;
  unsigned scale_ = 1;
  std::map<std::int32_t, std::uint32_t> tier_of_;
  std::vector<std::size_t> first_page_;  // by piece, and where the last one ends
  std::vector<std::uint32_t> nodes_;     // by page: a tier
  std::size_t seen_ = 0;                 // intervals
};

}  // namespace

bool is_recording(const std::string& path) {
  return path.ends_with(".hmkrec") || (path.find('/') != path.npos && !path.ends_with(".yaml"));
}

void set_recorded(Question& question, const std::string& path, const hmkctl::TierOptions& options) {
  const auto input = hmkctl::plan_input(path, options);
  if (!input) throw std::invalid_argument(input.error().line());
  Reader reader(*input);
  reader.read();
  question.workload = reader.workload(std::filesystem::path(path).stem().string());
  question.machine = reader.machine();
  question.taken = 0;
  question.scale = reader.scale();
  if (question.prices.page_ns == 0) question.prices.page_ns = input->page_ns;
  for (double* const cost : {&question.prices.page_ns, &question.prices.exposed_ns,
                             &question.means.scan_cost_ns, &question.means.page_cost_ns})
    *cost *= question.scale;
}

}  // namespace hmk::sim
