// SPDX-License-Identifier: MIT
//
// HM-Keeper: the core that is built into hmk.ko, called in the order of one
// interval (kmod/interval.c), with accessed bits that come from the world.
#include <hmk/core/budget.h>
#include <hmk/core/divide.h>
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/quota.h>
#include <hmk/core/rate.h>
#include <hmk/core/region.h>
#include <linux/hmk.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "dense.hpp"
#include "profiler.hpp"
#include "windows.hpp"

namespace hmk::sim {

namespace {

constexpr std::uint32_t kTopK = 5;
constexpr std::uint32_t kScoutBp = 1000;
constexpr std::uint32_t kAlphaQ16 = HMK_CORE_Q16_ONE / 2;
constexpr Bytes kMaxRegion = 256ull << 20;
constexpr std::uint64_t kDenseParts = 16;  // of the budget: for samples where every page is read
constexpr __u8 kUnread = 0xff;             // count of a sample that was not watched

class HmKeeper final : public Profiler {
 public:
  explicit HmKeeper(const Means& means)
      : means_(means),
        random_(hash(means.seed, 0x6b656570, 0, 0)),
        windows_(means),
        dense_(means),
        tau_(hmk_ladder_tau_rule(&windows_.ladder(), 0, 0, 0)),
        tau1_(tau_.base_q16) {}

  std::string_view name() const override { return "hm-keeper"; }
  std::uint64_t bytes_per_region() const override { return sizeof(hmk_region); }
  void set_budget(double percent) override { means_.budget_percent = percent; }

  Outcome step(const World& world, std::uint32_t interval) override {
    Outcome out;
    refresh(world);
    dense_.begin(world, means_.budget_ns());
    if (dense_.on() && !has(HMK_SWITCH_FIXED_REGIONS)) cut();
    out.num_ps = plan_samples();
    if (changed_) assign(0, out);
    out.tau1 = tau1_ / 65536.0;
    out.quota_sum = hmk_quota_sum(now_.data(), nr());
    for (const hmk_region& r : now_) out.quota_room += hmk_quota_cap(&r);
    out.degraded = nr() > out.num_ps;
    if (!windows_.equal()) hmk_ladder_place(&windows_.ladder(), &crowd_, now_.data(), nr());
    dense_.place(now_);
    fit();
    hmk_quota_take_turns(now_.data(), nr(), num_ps_, &quota_);
    sample(world, interval);
    out.samples = samples_.size();
    out.flushes = windows_.flushes() + dense_.flushes();
    out.dense = dense_.on();
    judge();
    report(world, out);
    if (world.census != nullptr) publish(out);
    split(out);
    adapt(out);
    return out;
  }

 private:
  __u32 nr() const { return static_cast<__u32>(now_.size()); }

  void refresh(const World& world) {
    std::uint64_t room = 2 * now_.size() + world.spans.size();
    for (const hmk_span& s : world.spans) room += (s.end - s.start) / HMK_CORE_BASE_REGION + 2;
    next_.resize(room);
    spans_ = std::max<std::uint64_t>(spans_, world.spans.size());
    if (!table_cap_) table_cap_ = 2 * (world.bytes() / HMK_CORE_BASE_REGION) + 256;
    hmk_refresh_result res;
    next_.resize(hmk_regions_refresh(now_.data(), nr(), world.spans.data(),
                                     static_cast<__u32>(world.spans.size()), next_.data(),
                                     static_cast<__u32>(next_.size()), ++generation_, &res));
    reserve(next_cap_, res.needed);
    now_.swap(next_);
    std::swap(now_cap_, next_cap_);
    make_table_room(now_.size());
    changed_ = res.added || res.dropped || res.clipped;
    for (hmk_region& r : now_) {
      r.resident_pages = static_cast<__u32>(hmk_region_pages(&r));  // all of it is present
      if (world.census != nullptr) world.census->count(r);
    }
  }

  /// As hmk_dense_cut() of kmod/dense_regions.c.
  void cut() {
    const std::vector<__u64> cuts = dense_.cuts(tau_.tau2_q16);
    next_.resize(now_.size() + cuts.size());
    reserve(next_cap_, next_.size());
    next_.resize(hmk_regions_divide(now_.data(), nr(), cuts.data(), static_cast<__u32>(cuts.size()),
                                    next_.data(), static_cast<__u32>(next_.size()), ++generation_));
    changed_ |= next_.size() != now_.size();
    now_.swap(next_);
    std::swap(now_cap_, next_cap_);
  }

  __u32 plan_samples() {
    const auto interval_ns = static_cast<__u64>(means_.interval_s * 1e9);
    const auto bp = static_cast<__u32>(std::lround(means_.budget_percent * 100));
    if (has(HMK_SWITCH_NO_BUDGET)) return num_ps_ = std::max(nr(), 1u) * HMK_CORE_MAX_QUOTA;
    if (means_.num_ps) return num_ps_ = means_.num_ps;
    const __u64 budget_ns = hmk_budget_ns(interval_ns, bp);
    if (dense_.on())  // they are chosen, not looked at, and only guide the regions
      return num_ps_ =
                 hmk_budget_plan(budget_ns / kDenseParts, means_.aim_percent, choice_ns(), 0, 0);
    return num_ps_ = hmk_budget_plan(budget_ns, means_.aim_percent, sample_cost_ns_, 0, fixed_ns());
  }

  /// A page is chosen by a visit of its leaf.
  __u32 choice_ns() const { return static_cast<__u32>(std::lround(means_.scan_cost_ns)); }

  __u64 fixed_ns() const {
    return static_cast<__u64>(means_.region_cost_ns * static_cast<double>(now_.size()) +
                              means_.flush_cost_ns * static_cast<double>(windows_.flushes()));
  }

  bool has(std::uint32_t a_switch) const { return (means_.switches & a_switch) != 0; }

  /// The ablation, as in kmod/adapt.c: one sample each, the rest wherever chance puts it.
  void assign_at_random() {
    for (hmk_region& r : now_) r.quota = 1;
    for (__u32 left = num_ps_ > nr() ? num_ps_ - nr() : 0; left; left--) {
      hmk_region& r = now_[random_.below(now_.size())];
      if (r.quota < hmk_quota_cap(&r)) r.quota++;
    }
  }

  void assign(__u64 freed, Outcome& out) {
    if (has(HMK_SWITCH_RANDOM_SAMPLES)) {
      assign_at_random();
      out.quota_sum = hmk_quota_sum(now_.data(), nr());
      return;
    }
    const hmk_quota_rule rule = {
        .num_ps = num_ps_, .top_k = kTopK, .scout_bp = kScoutBp, .by_size = !windows_.equal()};
    hmk_quota_result res;
    hmk_quota_assign(now_.data(), nr(), freed, &rule, &quota_, &res);
    out.quota_sum = res.sum;
  }

  /// As adapt_fit() of kmod/adapt.c.
  void fit() {
    const __u32 most = windows_.group(0);
    if (!windows_.equal() && num_ps_ > most) hmk_quota_fit(now_.data(), nr(), most);
  }

  /// A leaf is chosen once.
  void choose(std::uint32_t interval) {
    samples_.clear();
    samples_cap_ = std::max(samples_cap_, hmk_quota_sum(now_.data(), nr()));
    for (hmk_region& r : now_) {
      if (hmk_region_is(&r, HMK_REGION_STALE)) continue;
      const auto first = static_cast<std::ptrdiff_t>(samples_.size());
      for (__u32 k = 0; k < r.quota; k++) {
        hmk_sample s{};
        s.addr = hmk_region_sample(&r, &windows_.ladder(), k, r.quota, interval, random_.next());
        const auto same = [&](const hmk_sample& other) {
          return s.addr >> means_.leaf_shift == other.addr >> means_.leaf_shift;
        };
        if (std::none_of(samples_.begin() + first, samples_.end(), same)) samples_.push_back(s);
      }
      r.quota = static_cast<__u16>(static_cast<std::ptrdiff_t>(samples_.size()) - first);
    }
    chosen_ = samples_.size();
  }

  /// What samples cost that are not looked at.
  double chosen_ns() const {
    return dense_.on() ? means_.scan_cost_ns * static_cast<double>(chosen_) : 0;
  }

  /// What the budget leaves to dense reading.
  double left_ns() const {
    return has(HMK_SWITCH_NO_BUDGET)
               ? HUGE_VAL
               : means_.budget_ns() - static_cast<double>(fixed_ns()) - chosen_ns();
  }

  __u8 count(const Accesses& accesses, const hmk_sample& s, const hmk_region& r) {
    if (dense_.on()) return dense_.count(s, r).value_or(kUnread);
    return windows_.take(r.rung) ? windows_.count(accesses, s.addr, r.rung) : kUnread;
  }

  /// In the order of turns: what finds no place in the interval is not watched in it.
  void watch(const World& world, std::uint32_t interval) {
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, means_.window_s());
    const __u32 turn = hmk_region_at(now_.data(), nr(), windows_.equal() ? 0 : quota_.turn_at);
    const std::vector<std::size_t> first = first_samples();
    hmk_quota_unread unread{};
    windows_.begin();
    if (dense_.on()) dense_.watch(world, accesses, left_ns());
    for (__u32 n = 0; n < nr(); n++) {
      const std::size_t at = (turn + n) % nr();
      hmk_region& r = now_[at];
      const __u32 chosen = hmk_region_is(&r, HMK_REGION_STALE) ? 0 : r.quota;
      __u32 read = 0;
      for (hmk_sample& s : std::span(samples_).subspan(first[at], chosen)) {
        s.count = count(accesses, s, r);
        if (s.count == kUnread) continue;
        s.dirty = world.census != nullptr && world.census->is_written(s.addr);
        read++;
      }
      hmk_quota_watched(&unread, &r, read);
    }
    std::erase_if(samples_, [](const hmk_sample& s) { return s.count == kUnread; });
    hmk_quota_settle(&unread, &quota_);
  }

  /// Where the samples of each region begin.
  std::vector<std::size_t> first_samples() const {
    std::vector<std::size_t> first;
    std::size_t sum = 0;
    for (const hmk_region& r : now_) {
      first.push_back(sum);
      sum += hmk_region_is(&r, HMK_REGION_STALE) ? 0 : r.quota;
    }
    return first;
  }

  void sample(const World& world, std::uint32_t interval) {
    choose(interval);
    watch(world, interval);
    if (dense_.on())
      dense_.judge();
    else if (!samples_.empty())
      sample_cost_ns_ = hmk_budget_track(
          sample_cost_ns_,
          static_cast<__u32>(static_cast<double>(windows_.visits()) * means_.scan_cost_ns /
                             static_cast<double>(samples_.size())));
  }

  void judge() {
    hmk_hotness_gather(now_.data(), nr(), samples_.data());
    if (windows_.equal()) {
      hmk_hotness_judge(now_.data(), nr(), kAlphaQ16);
    } else {
      hmk_ladder_judge(&windows_.ladder(), &crowd_, now_.data(), nr());
      hmk_crowd_take(&crowd_, &windows_.ladder());
    }
    if (dense_.on()) dense_.judge(now_);
  }

  int rate_q8(const hmk_region& r) const {
    const __u32 hotness = windows_.equal() ? r.whi_q16 : hmk_crowd_shrink_q16(&crowd_, &r);
    return hmk_ladder_rate_q8(&windows_.ladder(), hotness);
  }

  /// Hot: published to be accessed more often than what lies between hot and cold; with
  /// equal windows, smoothed hotness of at least half of all scans.
  void report(const World& world, Outcome& out) {
    const double border = 256 * std::log2(world.hot_above);
    std::uint64_t records = now_.size();
    for (const hmk_region& r : now_) {
      const std::size_t before = out.rates.size();
      if (const std::uint64_t classes = dense_.tell(r, out.rates)) {
        records += classes - 1;
        for (const Estimate& e : std::span(out.rates).subspan(before))
          if (e.rate_q8 >= border) add_hot(out, e.start, e.end);
        continue;
      }
      if (hmk_region_is(&r, HMK_REGION_NEW)) continue;
      const int rate = rate_q8(r);
      out.rates.push_back({r.start, r.end, rate});
      if (windows_.equal() ? r.whi_q16 < (means_.num_scans << 16) / 2 : rate < border) continue;
      add_hot(out, r.start, r.end);
    }
    make_table_room(records);
    out.regions = now_.size();
    out.profiling_ns = windows_.cost_ns() + dense_.cost_ns() + chosen_ns() +
                       means_.region_cost_ns * static_cast<double>(out.regions);
    out.dense_bytes = dense_.bytes();
    out.state_bytes = state_bytes();
  }

  static void add_hot(Outcome& out, std::uint64_t start, std::uint64_t end) {
    if (!out.hot.empty() && out.hot.back().end == start)
      out.hot.back().end = end;
    else
      out.hot.push_back({start, end});
  }

  /// As kmod/publish.c and hmk_windows_tell() of kmod/windows.c, which are not in the core.
  void publish(Outcome& out) const {
    out.hotness_max = windows_.ladder().nr;
    for (const hmk_region& r : now_) {
      const bool is_stale = hmk_region_is(&r, HMK_REGION_STALE);
      hmk_record& record = out.table.emplace_back();
      record.start = r.start;
      record.length = r.end - r.start;
      record.hi_q16 = r.hi_q16;
      record.whi_q16 = r.whi_q16;
      __u32 samples_q4 =
          static_cast<__u32>(__u64{r.quota} * 16 * (2 * HMK_CORE_Q16_ONE - kAlphaQ16) / kAlphaQ16);
      if (!windows_.equal()) {
        samples_q4 = r.trust + crowd_.kappa;
        if (r.whi_q16) record.whi_q16 = hmk_crowd_shrink_q16(&crowd_, &r);
      }
      record.rate_q8 = hmk_ladder_rate_q8(&windows_.ladder(), record.whi_q16);
      record.rate_dev_q8 = hmk_rate_dev_q8(&windows_.ladder(), record.whi_q16, samples_q4);
      record.resident_pages = r.resident_pages;
      record.away_pages = r.away_pages;
      record.node = r.node;
      record.away_node = r.away_pages ? r.away_node : -1;
      record.generation = r.generation;
      record.samples = is_stale ? __u16{0} : r.quota;
      record.writes = r.writes;
      record.leaf_shift = r.leaf_shift;
      record.kind = r.kind;
      record.flags = is_stale ? HMK_RECORD_STALE : 0;
    }
  }

  /// What hmk.ko allocates for a session: both arrays of regions at their capacity, a table of
  /// two buffers, samples, spans, the ladder, and what is kept of all pages.
  std::uint64_t state_bytes() const {
    return (now_cap_ + next_cap_) * sizeof(hmk_region) + 2 * table_cap_ * sizeof(hmk_record) +
           samples_cap_ * sizeof(hmk_sample) + spans_ * sizeof(hmk_span) + sizeof(hmk_ladder) +
           sizeof(hmk_crowd) + dense_.bytes();
  }

  /// As table_grow() of kmod/publish.c.
  void make_table_room(std::uint64_t records) {
    if (records > table_cap_) table_cap_ = records + records / 2;
  }

  /// As hmk_regions_reserve(): a sixteenth more than asked.
  static void reserve(std::uint64_t& cap, std::uint64_t want) {
    if (want > cap) cap = want + want / 16;
  }

  __u64 max_region() const {
    if (windows_.equal()) return kMaxRegion;
    __u64 bytes = 0;
    for (const hmk_region& r : now_) bytes += hmk_region_bytes(&r);
    return hmk_quota_max_region(bytes, num_ps_, kMaxRegion);
  }

  void split(Outcome& out) {
    generation_++;
    if (dense_.on() || has(HMK_SWITCH_FIXED_REGIONS) || !hmk_budget_may_split(tau1_, &tau_)) return;
    const hmk_split_rule rule = {tau_.tau2_q16, kAlphaQ16, generation_, &windows_.ladder()};
    hmk_split_result res;
    next_.resize(hmk_regions_split_room(now_.data(), nr(), &rule));
    reserve(next_cap_, next_.size());
    next_.resize(hmk_regions_split(now_.data(), nr(), samples_.data(), next_.data(),
                                   static_cast<__u32>(next_.size()), &rule, &res));
    now_.swap(next_);
    std::swap(now_cap_, next_cap_);
    out.splits = res.splits;
  }

  void adapt(Outcome& out) {
    hmk_merge_result merged{};
    if (!has(HMK_SWITCH_FIXED_REGIONS)) {
      const hmk_merge_rule rule = {max_region(), tau1_, generation_};
      now_.resize(hmk_regions_merge(now_.data(), nr(), &rule, &merged));
      out.merges = merged.merges;
    }
    Outcome next;
    assign(merged.freed_quota, next);
    if (!has(HMK_SWITCH_FIXED_REGIONS))
      tau1_ = hmk_budget_next_tau1(tau1_, &tau_, now_.data(), nr(), num_ps_);
  }

  Means means_;
  Random random_;
  Windows windows_;
  Dense dense_;
  hmk_crowd crowd_{};
  // A sample is cleared once and read num_scans times at most.
  __u32 sample_cost_ns_ = static_cast<__u32>((means_.num_scans + 1) * means_.scan_cost_ns);
  hmk_tau_rule tau_;
  hmk_quota_state quota_{};
  std::vector<hmk_region> now_, next_;
  std::vector<hmk_sample> samples_;
  std::size_t chosen_ = 0;  // before those went that were not read
  __u64 samples_cap_ = 0;
  std::uint64_t now_cap_ = 0, next_cap_ = 0, table_cap_ = 0, spans_ = 0;  // of the module
  __u32 tau1_;
  __u32 num_ps_ = 0;
  __u32 generation_ = 0;
  bool changed_ = false;  // refresh added, dropped or clipped regions
};

}  // namespace

std::unique_ptr<Profiler> make_hm_keeper(const Means& means) {
  return std::make_unique<HmKeeper>(means);
}

}  // namespace hmk::sim
