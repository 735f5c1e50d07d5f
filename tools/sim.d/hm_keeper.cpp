// SPDX-License-Identifier: MIT
//
// HM-Keeper: the core that is built into hmk.ko, called in the order of one
// interval (kmod/interval.c), with accessed bits that come from the world.
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>
#include <linux/hmk.h>

#include <algorithm>
#include <cmath>

#include "profiler.hpp"

namespace hmk::sim {

namespace {

constexpr std::uint32_t kTopK = 5;
constexpr std::uint32_t kScoutBp = 1000;
constexpr std::uint32_t kAlphaQ16 = HMK_CORE_Q16_ONE / 2;
constexpr Bytes kMaxRegion = 256ull << 20;

/// What the module's memory comes to, by its own rules: kmod/adapt.c, attach.c, publish.c.
class Room {
 public:
  /// Of the array that is filled next: a quarter more than asked, and never given back.
  void reserve(std::uint64_t regions) {
    if (regions > next_) next_ = regions + regions / 4;
  }
  void swap() { std::swap(now_, next_); }
  /// The table's: at first for twice what is there.
  void publish(std::uint64_t regions, Bytes resident) {
    if (records_ == 0) records_ = 2 * resident / HMK_CORE_BASE_REGION + 256;
    if (regions > records_) records_ = regions + regions / 2;
  }
  void sample(std::uint64_t samples) { samples_ = std::max(samples_, samples); }
  Bytes bytes() const {
    return (now_ + next_) * sizeof(hmk_region) + 2 * records_ * sizeof(hmk_record) +
           samples_ * sizeof(hmk_sample);
  }

 private:
  std::uint64_t now_ = 0, next_ = 0, records_ = 0, samples_ = 0;
};

class HmKeeper final : public Profiler {
 public:
  explicit HmKeeper(const Means& means)
      : means_(means),
        random_(hash(means.seed, 0x6b656570, 0, 0)),
        tau_(hmk_budget_tau_rule(means.num_scans, 0, 0, 0)),
        tau1_(tau_.base_q16) {}

  std::string_view name() const override { return "hm-keeper"; }
  std::uint64_t bytes_per_region() const override { return sizeof(hmk_region); }

  Outcome step(const World& world, std::uint32_t interval) override {
    Outcome out;
    refresh(world);
    out.num_ps = plan_samples();
    if (changed_) assign(0, out);
    out.tau1 = tau1_ / 65536.0;
    out.quota_sum = hmk_quota_sum(now_.data(), nr());
    for (const hmk_region& r : now_) out.quota_room += hmk_quota_cap(&r);
    out.degraded = nr() > out.num_ps;
    hmk_quota_take_turns(now_.data(), nr(), num_ps_, &quota_);
    sample(world, interval);
    out.samples = samples_.size();
    hmk_hotness_gather(now_.data(), nr(), samples_.data());
    hmk_hotness_judge(now_.data(), nr(), kAlphaQ16);
    report(out);
    room_.publish(now_.size(), world.bytes());
    adapt(out);
    out.state_bytes = room_.bytes();
    return out;
  }

 private:
  __u32 nr() const { return static_cast<__u32>(now_.size()); }

  void refresh(const World& world) {
    std::uint64_t room = 2 * now_.size() + world.spans.size();
    for (const hmk_span& s : world.spans) room += (s.end - s.start) / HMK_CORE_BASE_REGION + 2;
    next_.resize(room);
    room_.reserve(room);
    hmk_refresh_result res;
    next_.resize(hmk_regions_refresh(now_.data(), nr(), world.spans.data(),
                                     static_cast<__u32>(world.spans.size()), next_.data(),
                                     static_cast<__u32>(next_.size()), ++generation_, &res));
    now_.swap(next_);
    room_.swap();
    changed_ = res.added || res.dropped || res.clipped;
    for (hmk_region& r : now_)
      r.resident_pages = static_cast<__u32>(hmk_region_pages(&r));  // all of it is present
  }

  __u32 plan_samples() {
    const auto interval_ns = static_cast<__u64>(means_.interval_s * 1e9);
    const auto bp = static_cast<__u32>(std::lround(means_.budget_percent * 100));
    if (has(HMK_SWITCH_NO_BUDGET)) return num_ps_ = std::max(nr(), 1u) * HMK_CORE_MAX_QUOTA;
    num_ps_ = means_.num_ps ? means_.num_ps
                            : hmk_budget_plan(hmk_budget_ns(interval_ns, bp), means_.aim_percent,
                                              static_cast<__u32>(std::lround(means_.scan_cost_ns)),
                                              means_.num_scans, fixed_ns());
    return num_ps_;
  }

  __u64 fixed_ns() const {
    return static_cast<__u64>(means_.region_cost_ns * static_cast<double>(now_.size()));
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
    const hmk_quota_rule rule = {.num_ps = num_ps_, .top_k = kTopK, .scout_bp = kScoutBp};
    hmk_quota_result res;
    hmk_quota_assign(now_.data(), nr(), freed, &rule, &quota_, &res);
    out.quota_sum = res.sum;
  }

  /// One visit of every chosen leaf in each round; a leaf is chosen once.
  void sample(const World& world, std::uint32_t interval) {
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, means_.window_s());
    samples_.clear();
    room_.sample(hmk_quota_sum(now_.data(), nr()));
    for (hmk_region& r : now_) {
      if (hmk_region_is(&r, HMK_REGION_STALE)) continue;
      const auto first = static_cast<std::ptrdiff_t>(samples_.size());
      for (unsigned k = 0; k < r.quota; k++) {
        const std::uint64_t at = hmk_region_sample(&r, k, r.quota, interval, random_.next());
        const auto same = [&](const hmk_sample& s) {
          return s.addr >> means_.leaf_shift == at >> means_.leaf_shift;
        };
        if (std::any_of(samples_.begin() + first, samples_.end(), same)) continue;
        hmk_sample s{};
        s.addr = at;
        s.count = static_cast<__u8>(accesses.count(at, means_.num_scans));
        samples_.push_back(s);
      }
      r.quota = static_cast<__u16>(static_cast<std::ptrdiff_t>(samples_.size()) - first);
    }
  }

  /// Hot: smoothed hotness of at least half of all scans.
  void report(Outcome& out) const {
    for (const hmk_region& r : now_) {
      out.ranked.push_back({{r.start, r.end}, r.whi_q16 / 65536.0});
      if (r.whi_q16 < (means_.num_scans << 16) / 2) continue;
      if (!out.hot.empty() && out.hot.back().end == r.start)
        out.hot.back().end = r.end;
      else
        out.hot.push_back({r.start, r.end});
    }
    out.regions = now_.size();
    out.profiling_ns =
        static_cast<double>(out.samples) * (means_.num_scans + 1) * means_.scan_cost_ns +
        static_cast<double>(fixed_ns());
  }

  void adapt(Outcome& out) {
    hmk_merge_result merged;
    const hmk_merge_rule merge = {kMaxRegion, tau1_, ++generation_};
    if (has(HMK_SWITCH_FIXED_REGIONS)) {
      Outcome next;
      assign(0, next);
      return;
    }
    if (hmk_budget_may_split(tau1_, &tau_)) {
      const hmk_split_rule split = {tau_.tau2_q16, kAlphaQ16, generation_};
      hmk_split_result res;
      next_.resize(hmk_regions_split_room(now_.data(), nr(), &split));
      room_.reserve(next_.size());
      next_.resize(hmk_regions_split(now_.data(), nr(), samples_.data(), next_.data(),
                                     static_cast<__u32>(next_.size()), &split, &res));
      now_.swap(next_);
      room_.swap();
      out.splits = res.splits;
    }
    now_.resize(hmk_regions_merge(now_.data(), nr(), &merge, &merged));
    out.merges = merged.merges;
    Outcome next;
    assign(merged.freed_quota, next);
    tau1_ = hmk_budget_next_tau1(tau1_, &tau_, now_.data(), nr(), num_ps_);
  }

  Means means_;
  Random random_;
  hmk_tau_rule tau_;
  hmk_quota_state quota_{};
  std::vector<hmk_region> now_, next_;
  Room room_;
  std::vector<hmk_sample> samples_;
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
