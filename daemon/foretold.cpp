// SPDX-License-Identifier: MIT
#include "foretold.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "policy/pieces.hpp"

namespace hmk {
namespace {

// An interval that ran while it was said, and one that began afterwards.
constexpr std::uint64_t kMeasured = 2;

bool is_use(const Hint& hint) {
  return hint.says == HMK_SAYS_READ || hint.says == HMK_SAYS_WRITE || hint.says == HMK_SAYS_USE;
}

bool is_leave(const Hint& hint) {
  return hint.says == HMK_SAYS_ARCHIVE || hint.says == HMK_SAYS_RETIRED;
}

/// Whether half of what is there was accessed; nothing while most of it was not looked at.
std::optional<bool> was_accessed(const Hint& hint, std::span<const policy::RegionView> regions) {
  double accessed = 0, idle = 0, unknown = 0;  // bytes
  const auto after = std::ranges::upper_bound(regions, hint.start, {}, &policy::RegionView::start);
  auto at = after == regions.begin() ? after : std::prev(after);
  while (at != regions.begin() && std::prev(at)->start == at->start) --at;  // classes of a region
  for (; at != regions.end() && at->start < hint.end; ++at) {
    const std::uint64_t from = std::max(at->start, hint.start),
                        to = std::min(policy::end_of(*at), hint.end);
    if (from >= to) continue;
    const double bytes = static_cast<double>(at->resident) * static_cast<double>(to - from) /
                         static_cast<double>(at->length);
    (at->stale ? unknown : at->hi_q16 > 0 ? accessed : idle) += bytes;
  }
  const double known = accessed + idle;
  if (known == 0 || known < unknown) return std::nullopt;
  return accessed >= idle;
}

}  // namespace

bool Foretold::counts(const Hint& hint, const Word& word, std::uint64_t seq) {
  if (is_use(hint)) return seq < word.since + kMeasured;
  return is_leave(hint) && word.state != Word::State::broken;
}

bool Foretold::heard(std::vector<Hint> hints, std::uint64_t seq) {
  bool is_news = false;
  std::map<std::uint32_t, Word> words;
  for (const Hint& hint : hints) {
    const auto before = words_.find(hint.slot);
    const bool is_new = before == words_.end() || before->second.number != hint.number ||
                        before->second.start != hint.start || before->second.end != hint.end;
    const Word word = is_new ? Word{hint.number, hint.start, hint.end, seq} : before->second;
    words.emplace_hint(words.end(), hint.slot, word);
    is_news |= is_new && is_use(hint);
  }
  hints_ = std::move(hints);
  words_ = std::move(words);
  return is_news && !is_ignored(seq);
}

void Foretold::saw(std::span<const policy::RegionView> regions, std::uint64_t seq) {
  for (const Hint& hint : hints_) {
    Word& word = words_.at(hint.slot);
    if (word.state != Word::State::open || seq < word.since + kMeasured) continue;
    if (hint.says != HMK_SAYS_ARCHIVE && !is_use(hint)) continue;
    const std::optional<bool> accessed = was_accessed(hint, regions);
    if (!accessed) continue;
    const bool came_true = *accessed == is_use(hint);
    word.state = came_true ? Word::State::kept : Word::State::broken;
    judge(came_true, seq);
  }
}

void Foretold::judge(bool came_true, std::uint64_t seq) {
  (came_true ? kept_ : broken_) += 1;
  if (is_ignored(seq)) return;
  judged_ = judged_ << 1 | (came_true ? 1 : 0);
  nr_judged_ = std::min(nr_judged_ + 1, kJudged);
  if (nr_judged_ < kLeastJudged || 2 * static_cast<unsigned>(std::popcount(judged_)) >= nr_judged_)
    return;
  judged_ = nr_judged_ = 0;
  ignored_until_ = seq + kIgnored;
}

std::vector<policy::Expectation> Foretold::expected(std::uint64_t seq) const {
  std::vector<policy::Expectation> all;
  if (is_ignored(seq)) return all;
  for (const Hint& hint : hints_)
    if (counts(hint, words_.at(hint.slot), seq))
      all.push_back({.start = hint.start,
                     .end = hint.end,
                     .passes = is_use(hint) ? hint.passes : 0,
                     .written = hint.says == HMK_SAYS_WRITE || hint.says == HMK_SAYS_USE});
  policy::set_in_order(all);
  return all;
}

}  // namespace hmk
