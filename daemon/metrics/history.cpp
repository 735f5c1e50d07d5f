// SPDX-License-Identifier: MIT
#include "metrics/history.hpp"

#include <algorithm>
#include <cstring>

#include "metrics/counters.hpp"

namespace hmk {

void History::saw(const Snapshot& snapshot) {
  std::vector<Sighting> seen;
  nr_sightings_ += snapshot.records.size();
  while (intervals_.size() == kIntervals || (nr_sightings_ > kSightings && !intervals_.empty())) {
    seen = std::move(intervals_.front().regions);  // its memory serves again
    nr_sightings_ -= seen.size();
    intervals_.pop_front();
  }
  seen.clear();
  seen.reserve(snapshot.records.size());
  for (const hmk_record& record : snapshot.records)
    seen.push_back({snapshot.interval.seq, record.start, record.length, record.hi_q16,
                    record.whi_q16, record.resident_pages, static_cast<std::int16_t>(record.node),
                    record.samples,
                    static_cast<std::int16_t>(record.rate_q8 - 256 * (record.leaf_shift - 12))});
  const hmk_interval& interval = snapshot.interval;
  intervals_.push_back(
      {interval.seq, interval.start_ns, interval.end_ns, interval.hotness_max, std::move(seen)});
}

void History::decided(std::uint64_t seq, const policy::Plan& plan) {
  Plan made;
  for (const auto* const moves : {&plan.demotions, &plan.promotions})
    for (const policy::Move& move : *moves) {
      made.decisions.emplace_back(move.start, forgotten_ + decisions_.size());
      decisions_.push_back({seq, move, moves == &plan.promotions, false, {}});
    }
  made.end = forgotten_ + decisions_.size();
  std::ranges::sort(made.decisions);
  if (!made.decisions.empty()) plans_.push_back(std::move(made));
  for (; decisions_.size() > kDecisions; ++forgotten_) decisions_.pop_front();
  while (!plans_.empty() && plans_.front().end <= forgotten_) plans_.pop_front();
}

namespace {

// Moves that begin where a region does: of its classes, from and to each node.
constexpr unsigned kBeside = 64;

bool is_part_of(const policy::Move& piece, const policy::Move& whole) {
  return piece.process == whole.process && piece.page_class == whole.page_class &&
         piece.from == whole.from && piece.to == whole.to && piece.start >= whole.start &&
         piece.start + piece.length <= whole.start + whole.length;
}

/// What `why` tells of a result.
void add(hmk_range_result& sum, const hmk_range_result& piece) {
  sum.pages_clean += piece.pages_clean;
  sum.pages_recopied += piece.pages_recopied;
  sum.pages_sync += piece.pages_sync;
  for (std::size_t i = 0; i < std::size(sum.refused); ++i) sum.refused[i] += piece.refused[i];
  if (sum.error == 0) sum.error = piece.error;
}

}  // namespace

/// Of the newest plan that holds it: the same range may have been planned before.
Decision* History::newest_of(const policy::Move& piece) {
  for (auto plan = plans_.rbegin(); plan != plans_.rend(); ++plan) {
    auto at =
        std::ranges::upper_bound(plan->decisions, piece.start, {}, [](auto& d) { return d.first; });
    for (unsigned n = 0; at != plan->decisions.begin() && n < kBeside; ++n)
      if (const std::size_t number = (--at)->second; number >= forgotten_)
        if (Decision& one = decisions_[number - forgotten_]; is_part_of(piece, one.move))
          return &one;
  }
  return nullptr;
}

void History::ended(const policy::Move& piece, const hmk_range_result& result) {
  Decision* const found = newest_of(piece);
  if (found == nullptr) return;
  found->has_ended = true;
  add(found->result, result);
}

std::vector<Sighting> History::sightings(std::uint64_t address) const {
  std::vector<Sighting> out;
  for (const PastInterval& past : intervals_) {
    const std::vector<Sighting>& seen = past.regions;
    auto at = std::ranges::upper_bound(seen, address, {}, &Sighting::start);
    if (at == seen.begin()) continue;
    --at;
    if (address - at->start < at->length) out.push_back(*at);
  }
  return out;
}

const PastInterval* History::interval(std::size_t age) const {
  return age < intervals_.size() ? &intervals_[intervals_.size() - 1 - age] : nullptr;
}

std::vector<Decision> History::decisions(std::uint64_t start, std::uint64_t end) const {
  std::vector<Decision> out;
  std::ranges::copy_if(decisions_, std::back_inserter(out), [&](const Decision& d) {
    return d.move.start < end && start < d.move.start + d.move.length;
  });
  return out;
}

std::string_view action_name(const Decision& decision) {
  if (decision.move.reason == policy::Reason::kGather) return "gather";
  return decision.is_promotion ? "promote" : "demote";
}

std::string_view reason_text(policy::Reason reason) {
  switch (reason) {
    case policy::Reason::kHot:
      return "hotter than what the faster tier holds, or room there";
    case policy::Reason::kGather:
      return "the rest of it is in the fastest tier";
    case policy::Reason::kMadeRoom:
      return "makes room for hotter memory";
    case policy::Reason::kExchange:
      return "lower tiers are full: changes places with hotter memory";
    case policy::Reason::kShare:
      return "another process has less of the tier than its weight gives it";
    case policy::Reason::kPutBack:
      return "hmkctl ab compares: back to where it lay before its first move";
    case policy::Reason::kPlan:
      return "the plan that was loaded has it there now";
    case policy::Reason::kPin:
      return "pinned to that tier";
    case policy::Reason::kForPin:
      return "makes room for pinned memory";
    case policy::Reason::kHint:
      return "the program says that it is about to use it";
  }
  return "";
}

std::string outcome_text(const Decision& decision) {
  const hmk_range_result& result = decision.result;
  if (!decision.has_ended) return "not moved";
  if (result.error != 0) return std::string("refused: ") + std::strerror(-result.error);
  if (refused_pages(result) <= moved_pages(result))
    return moved_pages(result) ? "moved" : "nothing to move";
  const auto* const most = std::max_element(std::begin(result.refused), std::end(result.refused));
  return "refused: " +
         std::string(refusal_name(static_cast<unsigned>(most - std::begin(result.refused))));
}

}  // namespace hmk
