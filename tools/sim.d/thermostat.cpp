// SPDX-License-Identifier: MIT
//
// Thermostat's sampling (ASPLOS'17): one random 4 KiB page stands for its 2 MiB.
// As many 2 MiB pieces as the budget pays for, in rotation; a piece keeps what
// was seen last. Hot: seen in at least half of the scans. Protection faults,
// which the paper counts with, cost more than the scan charged here.
#include <algorithm>

#include "profiler.hpp"

namespace hmk::sim {

namespace {

class Thermostat final : public Profiler {
 public:
  explicit Thermostat(const Means& means)
      : means_(means), random_(hash(means.seed, 0x7e4405, 0, 0)) {}

  std::string_view name() const override { return "thermostat"; }
  std::uint64_t bytes_per_region() const override { return sizeof(Piece); }

  Outcome step(const World& world, std::uint32_t interval) override {
    Outcome out;
    rebuild(world);
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, means_.window_s());
    out.regions = pieces_.size();
    out.samples = std::min<std::uint64_t>(pieces_.size(), means_.watched_leaves());
    for (std::uint64_t i = 0; i < out.samples; i++) {
      if (next_ >= pieces_.size()) next_ = 0;
      Piece& p = pieces_[next_++];
      const std::uint64_t page = random_.below((p.end - p.start) >> HMK_CORE_PAGE_SHIFT);
      p.count = accesses.count(p.start + (page << HMK_CORE_PAGE_SHIFT), means_.num_scans);
    }
    for (const Piece& p : pieces_)
      if (2 * p.count >= means_.num_scans) out.hot.push_back({p.start, p.end});
    out.profiling_ns =
        static_cast<double>(out.samples) * (means_.num_scans + 1) * means_.scan_cost_ns;
    out.state_bytes = pieces_.size() * sizeof(Piece);
    return out;
  }

 private:
  struct Piece {
    std::uint64_t start, end;
    unsigned count;
  };

  void rebuild(const World& world) {
    std::vector<Piece> pieces;
    auto old = pieces_.begin();
    for (const hmk_span& s : world.spans) {
      for (std::uint64_t at = s.start; at < s.end;) {
        const std::uint64_t end =
            std::min<std::uint64_t>(s.end, (at / HMK_CORE_BASE_REGION + 1) * HMK_CORE_BASE_REGION);
        while (old != pieces_.end() && old->start < at) ++old;
        const bool known = old != pieces_.end() && old->start == at && old->end == end;
        pieces.push_back({at, end, known ? old->count : 0});
        at = end;
      }
    }
    pieces_ = std::move(pieces);
  }

  Means means_;
  Random random_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Profiler> make_thermostat(const Means& means) {
  return std::make_unique<Thermostat>(means);
}

}  // namespace hmk::sim
