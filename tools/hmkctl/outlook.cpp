// SPDX-License-Identifier: MIT
#include "outlook.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "policy/gain.hpp"

namespace hmkctl {
namespace {

constexpr double kPage = 4096;

double accesses(const SeenRegion& region) {
  return region.rate * static_cast<double>(region.bytes) / kPage;
}

SizeCurve curve_of(const SeenInterval& interval) {
  std::vector<Warmth> memory;
  memory.reserve(interval.size());
  for (const SeenRegion& region : interval) memory.push_back({region.bytes, accesses(region)});
  return SizeCurve(std::move(memory));
}

/// Resident bytes and accesses by tier, as the pages lie now.
std::vector<Serving> places_of(const SeenInterval& interval, const std::vector<SeenTier>& tiers) {
  std::vector<Serving> all(tiers.size());
  const auto add = [&](int tier, std::uint64_t bytes, double rate) {
    if (tier < 0 || static_cast<std::size_t>(tier) >= all.size()) return;
    Serving& here = all[static_cast<std::size_t>(tier)];
    here.resident_bytes += bytes;
    here.now += rate * static_cast<double>(bytes) / kPage;
  };
  double total = 0;
  for (const SeenRegion& region : interval) {
    const std::uint64_t away = std::min(region.away_bytes, region.bytes);
    add(region.tier, region.bytes - away, region.rate);
    add(region.away_tier, away, region.rate);
    total += accesses(region);
  }
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (total > 0) all[t].now /= total;
    all[t].room_bytes = all[t].resident_bytes + tiers[t].free_bytes;
  }
  return all;
}

/// The hottest memory into the fastest tier that has room, and so on; the last takes the rest.
void place_best(const SizeCurve& curve, std::vector<Serving>& tiers) {
  std::uint64_t room = 0;
  double served = 0;
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    room += tiers[t].room_bytes;
    const double until = t + 1 == tiers.size() ? curve.share(curve.bytes()) : curve.share(room);
    tiers[t].best = until - served;
    served = until;
  }
}

struct Span {
  std::uint64_t start, end;
};

/// Where the hottest `room` bytes lie, in address order.
std::vector<Span> hottest(const SeenInterval& interval, std::uint64_t room) {
  std::vector<const SeenRegion*> order;
  for (const SeenRegion& region : interval)
    if (region.bytes > 0) order.push_back(&region);
  std::ranges::stable_sort(order, std::greater{}, &SeenRegion::rate);
  std::vector<Span> spans;
  for (const SeenRegion* const region : order) {
    const std::uint64_t taken = std::min(room, region->bytes);
    if (taken == 0) break;
    room -= taken;
    const double part = static_cast<double>(taken) / static_cast<double>(region->bytes);
    const auto length = static_cast<std::uint64_t>(part * static_cast<double>(region->length));
    spans.push_back({region->start, region->start + length});
  }
  std::ranges::sort(spans, {}, &Span::start);
  return spans;
}

/// Share of an interval's accesses that go to `spans`.
double served_by(const std::vector<Span>& spans, const SeenInterval& interval) {
  double served = 0, total = 0;
  auto span = spans.begin();
  for (const SeenRegion& region : interval) {
    const std::uint64_t end = region.start + region.length;
    total += accesses(region);
    while (span != spans.end() && span->end <= region.start) ++span;
    std::uint64_t both = 0;
    for (auto at = span; at != spans.end() && at->start < end; ++at)
      both += std::min(end, at->end) - std::max(region.start, at->start);
    served += accesses(region) * static_cast<double>(both) / static_cast<double>(region.length);
  }
  return total > 0 ? served / total : 0;
}

/// See Outlook::kept; none where no interval had anything to gain either.
std::optional<double> kept_of(const Seen& seen) {
  double kept = 0, best = 0;
  for (std::size_t i = 1; i < seen.intervals.size(); ++i) {
    const SeenInterval& before = seen.intervals[i - 1];
    const SeenInterval& now = seen.intervals[i];
    const Serving fastest = places_of(now, seen.tiers).front();
    kept += served_by(hottest(before, fastest.room_bytes), now) - fastest.now;
    best += curve_of(now).share(fastest.room_bytes) - fastest.now;
  }
  if (best <= 0) return std::nullopt;
  return kept / best;
}

void estimate_times(const Seen& seen, Outlook& out) {
  double now = 0, best = 0;
  for (std::size_t t = 0; t < seen.tiers.size(); ++t) {
    if (seen.tiers[t].latency_ns == 0) return;
    now += out.tiers[t].now * seen.tiers[t].latency_ns;
    best += out.tiers[t].best * seen.tiers[t].latency_ns;
  }
  if (now <= 0) return;
  out.latency_now_ns = now;
  out.latency_best_ns = best;
  if (seen.cpu_ns_per_s <= 0) return;
  // It cannot wait for longer than it runs, whatever the model takes for misses.
  const double misses = out.curve.rate() * hmk::policy::GainModel::kMissesPerVisit;
  out.saved_ns_per_s =
      std::max(0.0, std::min(misses * (now - best), seen.cpu_ns_per_s * (1 - best / now)));
}

/// At least, whatever the last digits of a sum are.
bool reaches(double value, double limit) {
  return value >= limit - 1e-9;
}

Verdict judge(const Seen& seen, const Outlook& out) {
  const Serving& fastest = out.tiers.front();
  const auto measured = static_cast<double>(out.measured_bytes);
  if (seen.tiers.size() < 2) return Verdict::one_tier;
  const bool is_accessed = out.curve.rate() > 0;
  const bool fits = reaches(static_cast<double>(fastest.resident_bytes) / measured, 1 - kOutside);
  if (is_accessed && !fits && reaches(fastest.best - fastest.now, kLeastGain))
    return out.kept && !reaches(*out.kept, kLeastKept) ? Verdict::streams : Verdict::gain;
  if (seen.resident_bytes > 2 * out.measured_bytes) return Verdict::unmeasured;
  if (!is_accessed) return Verdict::idle;
  if (fits) return Verdict::fits;
  if (reaches(out.curve.skew(), kLeastSkew)) return Verdict::placed;
  return reaches(out.huge, 0.5) ? Verdict::huge_pages : Verdict::alike;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::array<std::string_view, 10> kNames{
      "gain",    "placed",     "fits", "alike",    "huge-pages",
      "streams", "unmeasured", "idle", "one-tier", "virtual-machine"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Outlook look_ahead(const Seen& seen) {
  const SeenInterval& last = seen.intervals.back();
  Outlook out;
  out.curve = curve_of(last);
  out.tiers = places_of(last, seen.tiers);
  place_best(out.curve, out.tiers);
  out.measured_bytes = out.curve.bytes();
  std::uint64_t huge = 0;
  for (const SeenRegion& region : last)
    if (region.leaf_bytes > 4096) huge += region.bytes;
  if (huge > 0) out.huge = static_cast<double>(huge) / static_cast<double>(out.measured_bytes);
  out.kept = kept_of(seen);
  estimate_times(seen, out);
  out.verdict = judge(seen, out);
  return out;
}

}  // namespace hmkctl
