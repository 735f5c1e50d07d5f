// SPDX-License-Identifier: MIT
//
// HM-Keeper: the core that is built into hmk.ko, called in the order of one
// interval (kmod/interval.c), with accessed bits that come from the world.
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>

#include <algorithm>
#include <array>

#include "profiler.hpp"

namespace hmk::sim {

namespace {

constexpr std::uint32_t kTopK = 5;
constexpr std::uint32_t kScoutBp = 1000;
constexpr std::uint32_t kAlphaQ16 = HMK_CORE_Q16_ONE / 2;
constexpr Bytes kMaxRegion = 256ull << 20;
constexpr __u32 kTurns = 4;
constexpr Bytes kSampleBytes = 16;  // of one sample in the module

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
    choose_turns(out.num_ps);
    out.samples = sample(world, interval);
    hmk_hotness_judge(now_.data(), nr(), kAlphaQ16);
    report(out);
    adapt(out);
    return out;
  }

 private:
  __u32 nr() const { return static_cast<__u32>(now_.size()); }

  void refresh(const World& world) {
    std::uint64_t room = 2 * now_.size() + world.spans.size();
    for (const hmk_span& s : world.spans) room += (s.end - s.start) / HMK_CORE_BASE_REGION + 2;
    next_.resize(room);
    hmk_refresh_result res;
    next_.resize(hmk_regions_refresh(now_.data(), nr(), world.spans.data(),
                                     static_cast<__u32>(world.spans.size()), next_.data(),
                                     static_cast<__u32>(next_.size()), ++generation_, &res));
    now_.swap(next_);
    changed_ = res.added || res.dropped || res.clipped;
    for (hmk_region& r : now_)
      r.resident_pages = static_cast<__u32>(hmk_region_pages(&r));  // all of it is present
  }

  /// Eq. 8.1 with the fixed work charged, as the module does it.
  __u32 plan_samples() {
    const auto interval_ns = static_cast<__u64>(means_.interval_s * 1e9);
    const auto bp = static_cast<__u32>(means_.budget_percent * means_.aim_percent + 0.5);
    const __u64 fixed = std::min(fixed_ns(), hmk_budget_ns(interval_ns, bp) / 4 * 3);
    num_ps_ = means_.num_ps ? means_.num_ps
                            : hmk_budget_num_ps(interval_ns, bp,
                                                static_cast<__u32>(means_.scan_cost_ns + 0.5),
                                                means_.num_scans + 1, fixed);
    return num_ps_;
  }

  __u64 fixed_ns() const {
    return static_cast<__u64>(means_.region_cost_ns * static_cast<double>(now_.size()));
  }

  void assign(__u64 freed, Outcome& out) {
    const hmk_quota_rule rule = {.num_ps = num_ps_, .top_k = kTopK, .scout_bp = kScoutBp};
    hmk_quota_result res;
    hmk_quota_assign(now_.data(), nr(), freed, &rule, &quota_, &res);
    out.quota_sum = res.sum;
  }

  /// More regions than samples: as many as can be, from where the last turn ended.
  void choose_turns(std::uint64_t num_ps) {
    const bool all = hmk_quota_sum(now_.data(), nr()) <= num_ps;
    for (hmk_region& r : now_) {
      hmk_region_clear(&r, HMK_REGION_STALE);
      if (!all) hmk_region_set(&r, HMK_REGION_STALE);
    }
    if (all) return;
    const auto first = std::ranges::upper_bound(now_, turn_, {}, &hmk_region::end);
    std::size_t i = first == now_.end() ? 0 : static_cast<std::size_t>(first - now_.begin());
    std::uint64_t left = num_ps;
    for (std::size_t n = 0; n < now_.size(); n++, i = i + 1 < now_.size() ? i + 1 : 0) {
      if (now_[i].quota > left) break;
      left -= now_[i].quota;
      hmk_region_clear(&now_[i], HMK_REGION_STALE);
      turn_ = now_[i].end;
    }
  }

  /// Fresh random leaves for each region, each once. Quota becomes how many were found.
  std::uint64_t sample(const World& world, std::uint32_t interval) {
    const Accesses accesses(world, means_.seed, interval, means_.leaf_shift, means_.window_s());
    std::uint64_t total = 0;
    for (hmk_region& r : now_) {
      if (hmk_region_is(&r, HMK_REGION_STALE)) continue;
      std::array<std::uint64_t, HMK_CORE_MAX_QUOTA> watched;
      unsigned found = 0;
      r.accesses = 0;
      r.count_min = 0xff;
      r.count_max = 0;
      for (unsigned k = 0; k < r.quota; k++) {
        const std::uint64_t page = random_.below(hmk_region_pages(&r));
        const std::uint64_t at = r.start + (page << HMK_CORE_PAGE_SHIFT);
        const std::uint64_t leaf = at >> means_.leaf_shift;
        if (std::find(watched.begin(), watched.begin() + found, leaf) != watched.begin() + found)
          continue;
        watched[found++] = leaf;
        const unsigned count = accesses.count(at, means_.num_scans);
        r.accesses += count;
        r.count_min = std::min(r.count_min, static_cast<__u8>(count));
        r.count_max = std::max(r.count_max, static_cast<__u8>(count));
      }
      r.quota = static_cast<__u16>(found);
      total += found;
    }
    return total;
  }

  /// Hot: smoothed hotness of at least half of all scans.
  void report(Outcome& out) const {
    for (const hmk_region& r : now_) {
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
    out.state_bytes = 2 * now_.size() * sizeof(hmk_region) + out.samples * kSampleBytes;
  }

  void adapt(Outcome& out) {
    hmk_merge_result merged;
    const hmk_merge_rule merge = {kMaxRegion, tau1_, ++generation_};
    if (hmk_budget_may_split(tau1_, &tau_)) {
      const hmk_split_rule split = {tau_.tau2_q16, generation_};
      hmk_split_result res;
      next_.resize(2 * now_.size());
      next_.resize(hmk_regions_split(now_.data(), nr(), next_.data(),
                                     static_cast<__u32>(next_.size()), &split, &res));
      now_.swap(next_);
      out.splits = res.splits;
    }
    now_.resize(hmk_regions_merge(now_.data(), nr(), &merge, &merged));
    out.merges = merged.merges;
    Outcome next;
    assign(merged.freed_quota, next);
    // As kmod/adapt.c: new regions cannot merge yet, rotation revisits the rest within kTurns.
    const auto judged = std::ranges::count_if(
        now_, [](const hmk_region& r) { return !hmk_region_is(&r, HMK_REGION_NEW); });
    tau1_ = hmk_budget_tau1(tau1_, &tau_, static_cast<__u32>(judged), kTurns * num_ps_);
  }

  Means means_;
  Random random_;
  hmk_tau_rule tau_;
  hmk_quota_state quota_{};
  std::vector<hmk_region> now_, next_;
  __u32 tau1_;
  __u32 num_ps_ = 0;
  __u32 generation_ = 0;
  std::uint64_t turn_ = 0;  // address where rotation goes on
  bool changed_ = false;    // refresh added, dropped or clipped regions
};

}  // namespace

std::unique_ptr<Profiler> make_hm_keeper(const Means& means) {
  return std::make_unique<HmKeeper>(means);
}

}  // namespace hmk::sim
