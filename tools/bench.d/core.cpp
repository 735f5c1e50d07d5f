// SPDX-License-Identifier: MIT
//
// What hmk.ko does once in an interval beside scanning, in its order (kmod/interval.c):
// gather, judge, publish, split, merge, quotas, tau1, and before the next one place and turns.
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>
#include <hmk/core/rate.h>
#include <hmk/core/region.h>
#include <hmk/core/residency.h>
#include <linux/hmk.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench.hpp"
#include "core_input.hpp"

namespace hmk::bench {

namespace {

constexpr __u32 kAlphaQ16 = HMK_CORE_Q16_ONE / 2;
constexpr __u64 kMaxRegion = 256ull << 20;
constexpr __u32 kSlice = 4096;  // HMK_SLICE of the module: what is judged at a time
constexpr unsigned kRoom = 2;   // arrays hold so many times the regions

/// Milliseconds of each stage, in the order in which they first ended.
class Stages {
 public:
  void begin() {
    at_ = Clock::now();
    for (auto& [name, times] : stages_) times.push_back(0);
    passes_.push_back(0);
  }
  /// Since the last one ended; of a stage that ends several times in a pass, the sum.
  void end(const char* name) {
    const Clock::time_point now = Clock::now();
    const double took = ms(now - at_);
    auto stage = std::ranges::find(stages_, name, &Stage::first);
    if (stage == stages_.end()) stage = stages_.insert(stage, {name, {0.0}});
    stage->second.back() += took;
    passes_.back() += took;
    at_ = now;
  }

  const std::vector<double>& passes() const { return passes_; }
  void tell(nlohmann::ordered_json& row) const {
    for (const auto& [name, times] : stages_) row[name + "_ms"] = median(times);
  }

 private:
  using Stage = std::pair<std::string, std::vector<double>>;
  Clock::time_point at_{};
  std::vector<Stage> stages_;
  std::vector<double> passes_;
};

/// Regions in an array that begins with a page, as kvmalloc() gives it, and never grows.
class Regions {
 public:
  explicit Regions(std::size_t room)
      : room_(static_cast<hmk_region*>(std::aligned_alloc(4096, bytes(room)))) {
    if (!room_) throw std::bad_alloc();
    std::memset(room_.get(), 0, bytes(room));  // no page faults later
  }
  hmk_region* at() { return room_.get(); }

  __u32 nr = 0;

 private:
  static std::size_t bytes(std::size_t room) { return (room * sizeof(hmk_region) | 4095) + 1; }
  struct Free {
    void operator()(hmk_region* regions) const { std::free(regions); }
  };
  std::unique_ptr<hmk_region[], Free> room_;
};

/// One interval's state, as a session of the module has it.
struct Session {
  hmk_ladder windows;
  hmk_tau_rule tau;
  Regions now, next;
  std::vector<hmk_record> table;
  hmk_crowd crowd{};
  hmk_quota_state quota{};
  __u32 splits = 0, merges = 0;

  Session(bool is_ladder, std::uint32_t nr)
      : windows(bench::windows(is_ladder)),
        tau(hmk_ladder_tau_rule(&windows, 0, 0, 0)),
        now(kRoom * std::size_t{nr}),
        next(kRoom * std::size_t{nr}),
        table(nr) {}

  bool climbs() const { return hmk_ladder_climbs(&windows); }

  /// The interval before was like this one.
  void begin(const std::vector<hmk_region>& regions) {
    std::copy(regions.begin(), regions.end(), now.at());
    now.nr = static_cast<__u32>(regions.size());
    quota = {};
    crowd = {};
    for (const hmk_region& r : regions) {
      hmk_region before = r;
      hmk_region_set(&before, HMK_REGION_STALE);
      hmk_ladder_judge(&windows, &crowd, &before, 1);
    }
    hmk_crowd_take(&crowd, &windows);
  }

  /// One slice; its samples begin at `samples`. Return: where the next one's do.
  const hmk_sample* gather(__u32 first, __u32 many, const hmk_sample* samples) {
    hmk_hotness_gather(now.at() + first, many, samples);
    return hmk_residency_guess(now.at() + first, many, samples);
  }
  void judge(__u32 first, __u32 many) {
    if (climbs())
      hmk_ladder_judge(&windows, &crowd, now.at() + first, many);
    else
      hmk_hotness_judge(now.at() + first, many, kAlphaQ16);
  }

  hmk_record record(const hmk_region& r) const;
  void publish() {
    for (std::size_t i = 0; i < table.size(); i++) table[i] = record(now.at()[i]);
  }

  void split(const std::vector<hmk_sample>& samples) {
    const hmk_split_rule rule = {tau.tau2_q16, kAlphaQ16, 2, &windows};
    hmk_split_result res;
    const __u32 room = hmk_regions_split_room(now.at(), now.nr, &rule);
    if (room > kRoom * table.size()) throw std::length_error("core: more splits than foreseen");
    next.nr = hmk_regions_split(now.at(), now.nr, samples.data(), next.at(), room, &rule, &res);
    std::swap(now, next);
    splits = res.splits;
  }

  __u64 merge() {
    const hmk_merge_rule rule = {kMaxRegion, tau.base_q16, 2};
    hmk_merge_result res;
    now.nr = hmk_regions_merge(now.at(), now.nr, &rule, &res);
    merges = res.merges;
    return res.freed_quota;
  }

  void assign(__u32 num_ps, __u64 freed) {
    const hmk_quota_rule rule = {
        .num_ps = num_ps, .top_k = 5, .scout_bp = 1000, .by_size = climbs()};
    hmk_quota_result res;
    hmk_quota_assign(now.at(), now.nr, freed, &rule, &quota, &res);
  }
};

/// As kmod/publish.c and kmod/windows.c write it.
hmk_record Session::record(const hmk_region& r) const {
  __u32 samples_q4 = r.quota * 48u, whi = r.whi_q16;
  if (climbs()) {
    samples_q4 = r.trust + crowd.kappa;
    if (whi) whi = hmk_crowd_shrink_q16(&crowd, &r);
  }
  return {.start = r.start,
          .length = r.end - r.start,
          .hi_q16 = r.hi_q16,
          .whi_q16 = whi,
          .rate_q8 = hmk_ladder_rate_q8(&windows, whi),
          .rate_dev_q8 = hmk_rate_dev_q8(&windows, whi, samples_q4),
          .resident_pages = r.resident_pages,
          .away_pages = r.away_pages,
          .node = r.node,
          .generation = r.generation,
          .samples = r.quota,
          .writes = r.writes,
          .leaf_shift = r.leaf_shift,
          .kind = r.kind,
          .flags = 0,
          .away_node = r.away_node};
}

/// A quarter is what 5 % of 10 s pay for at 1.5 TiB: 190,000 samples.
struct View {
  bool is_ladder;
  unsigned watched_percent;  // of the regions; the others wait for their turn
};
constexpr View kViews[] = {{true, 100}, {true, 25}, {false, 100}};

/// In the next interval half of the regions wait for their turn.
void pass(Session& s, const std::vector<hmk_sample>& samples, Stages& stages) {
  const __u32 num_ps = 2 * s.now.nr;
  stages.begin();
  const hmk_sample* next = samples.data();
  for (__u32 i = 0; i < s.now.nr; i += kSlice) {
    const __u32 many = std::min(kSlice, s.now.nr - i);
    next = s.gather(i, many, next);
    stages.end("gather");
    s.judge(i, many);
    stages.end("judge");
  }
  if (s.climbs()) hmk_crowd_take(&s.crowd, &s.windows);
  s.publish();
  stages.end("publish");
  s.split(samples);
  stages.end("split");
  const __u64 freed = s.merge();
  stages.end("merge");
  s.assign(num_ps, freed);
  stages.end("quota");
  (void)hmk_budget_next_tau1(s.tau.base_q16, &s.tau, s.now.at(), s.now.nr, num_ps);
  stages.end("tau1");
  if (s.climbs()) hmk_ladder_place(&s.windows, &s.crowd, s.now.at(), s.now.nr);
  stages.end("place");
  hmk_quota_take_turns(s.now.at(), s.now.nr, num_ps / 2, &s.quota);
  stages.end("turns");
}

nlohmann::ordered_json row(const View& view, std::uint32_t nr, unsigned repetitions) {
  Session session(view.is_ladder, nr);
  Stages stages;
  const Interval input = interval(session.windows, nr, view.watched_percent);
  for (unsigned i = 0; i < repetitions; i++) {
    session.begin(input.regions);
    pass(session, input.samples, stages);
  }
  const std::vector<double>& passes = stages.passes();
  nlohmann::ordered_json told = {{"windows", view.is_ladder ? "ladder" : "equal"},
                                 {"regions", nr},
                                 {"watched_percent", view.watched_percent},
                                 {"splits", session.splits},
                                 {"merges", session.merges},
                                 {"pass_ms", median(passes)},
                                 {"pass_ms_p10", quantile(passes, 0.1)},
                                 {"pass_ms_p90", quantile(passes, 0.9)},
                                 {"ns_per_region", median(passes) * 1e6 / nr}};
  stages.tell(told);
  return told;
}

}  // namespace

nlohmann::ordered_json core(const std::vector<std::uint32_t>& sizes, unsigned repetitions) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::uint32_t nr : sizes)
    for (const View& view : kViews) rows.push_back(row(view, nr, repetitions));
  return rows;
}

}  // namespace hmk::bench
