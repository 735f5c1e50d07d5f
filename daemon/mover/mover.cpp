// SPDX-License-Identifier: MIT
#include "mover/mover.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace hmk {
namespace {

// So much of a tier is empty at most because its room is not used yet.
constexpr std::uint64_t kPieceBytes = 4ull << 20;
constexpr std::uint64_t kPieceAlign = 2ull << 20;  // no huge page is cut
// The module sees less room than there is: pages that it frees stay in the lists of a CPU, for a
// node as much as its low watermark. So what found no room is sent again in so many pieces, of no
// less than the smallest size.
constexpr std::uint64_t kSmallerBy = 8, kSmallestBytes = 32ull << 10;
// It is given up after so many tickets in a row that moved less than such a part of what they left.
constexpr unsigned kMostIdle = 3;
constexpr std::uint64_t kIdlePart = 16;
// A new plan waits for the ticket in flight, and a ticket costs nothing beside its copies.
constexpr std::uint64_t kTicketBytes = 32ull << 20;
constexpr std::size_t kTicketRanges = 4096;
static_assert(kTicketRanges <= HMK_MAX_RANGES);

using Wide = unsigned __int128;

/// How long a piece is. Of a class, which lies scattered, as much as holds a piece of it.
std::uint64_t piece_length(const policy::Move& move) {
  if (move.page_class == 0 || move.bytes == 0) return kPieceBytes;
  return static_cast<std::uint64_t>(Wide{kPieceBytes} * move.length / move.bytes);
}

/// Pieces of at most so many bytes of addresses that end at multiples of `align`, a power of two.
std::vector<policy::Move> in_pieces(const policy::Move& move, std::uint64_t most,
                                    std::uint64_t align) {
  std::vector<policy::Move> pieces;
  const std::uint64_t end = move.start + move.length;
  policy::Move piece = move;
  for (std::uint64_t left = move.bytes; piece.start < end; piece.start += piece.length) {
    const std::uint64_t stop = std::min(end, (piece.start + most) & ~(align - 1));
    piece.length = stop - piece.start;
    // Pages taken as evenly spread; the last piece has what is left.
    const auto share = static_cast<std::uint64_t>(Wide{move.bytes} * piece.length / move.length) &
                       ~(policy::kPage - 1);
    piece.bytes = stop == end ? left : share;
    left -= piece.bytes;
    if (move.bytes != 0)
      piece.saved_ns_per_s =
          move.saved_ns_per_s * static_cast<double>(piece.bytes) / static_cast<double>(move.bytes);
    pieces.push_back(piece);
  }
  return pieces;
}

std::vector<policy::Move> in_pieces(const policy::Move& move) {
  return in_pieces(move, piece_length(move), kPieceAlign);
}

/// What of a piece found no room, in smaller ones. Which pages those are nobody told: they are
/// taken as evenly spread.
std::vector<policy::Move> in_smaller_pieces(policy::Move move, std::uint64_t no_room) {
  if (move.bytes != 0)
    move.saved_ns_per_s *= static_cast<double>(no_room) / static_cast<double>(move.bytes);
  move.bytes = no_room;
  const std::uint64_t align = std::max(std::uint64_t{1} << move.leaf_shift, kSmallestBytes);
  const std::uint64_t parts = std::clamp<std::uint64_t>(no_room / kSmallestBytes, 1, kSmallerBy);
  return in_pieces(move, std::max(move.length / parts, align), align);
}

std::uint32_t range_flags(const policy::Move& move) {
  if (move.page_class == 0) return 0;
  return HMK_RANGE_CLASS(move.page_class - 1u) |
         HMK_RANGE_FROM(static_cast<std::uint32_t>(move.from));
}

template <typename Steps>
std::vector<hmk_range> to_ranges(const Steps& steps) {
  std::vector<hmk_range> ranges;
  ranges.reserve(steps.size());
  for (const auto& step : steps)
    ranges.push_back({.start = step.move.start,
                      .length = step.move.length,
                      .node = step.move.to,
                      .flags = range_flags(step.move),
                      .status = 0});
  return ranges;
}

/// The demotions that make room for promotion number `index`, which lie side by side.
std::span<const policy::Move> victims_of(std::span<const policy::Move> own, std::size_t index) {
  return {std::ranges::lower_bound(own, index, {}, &policy::Move::serves),
          std::ranges::upper_bound(own, index, {}, &policy::Move::serves)};
}

}  // namespace

/// Victims lead what they make room for by a piece.
void Mover::enqueue(const policy::Move& promotion, std::span<const policy::Move> victims) {
  std::int64_t lead = 0;
  std::vector<policy::Move> down;
  for (const policy::Move& victim : victims)
    std::ranges::copy(in_pieces(victim), std::back_inserter(down));
  auto next = down.begin();
  for (const policy::Move& up : in_pieces(promotion)) {
    for (; next != down.end() && lead < static_cast<std::int64_t>(up.bytes); ++next) {
      lead += static_cast<std::int64_t>(next->bytes);
      waiting_.push_back({*next, false});
    }
    lead -= static_cast<std::int64_t>(up.bytes);
    waiting_.push_back({up, true});
  }
  // What refills the reserve comes last.
  for (; next != down.end(); ++next) waiting_.push_back({*next, false});
}

/// At most one range before the one that begins is still under way: with what makes
/// room a piece further ahead, there is room whichever that is.
void Mover::lead_by_a_piece() {
  std::deque<Step> down, ordered;
  std::ranges::copy_if(waiting_, std::back_inserter(down), [](auto& step) { return !step.rises; });
  std::uint64_t needed = kPieceBytes, led = 0;
  for (const Step& step : waiting_) {
    if (!step.rises) {
      needed += step.move.bytes;
      continue;
    }
    for (; !down.empty() && led < needed; down.pop_front()) {
      led += down.front().move.bytes;
      ordered.push_back(down.front());
    }
    ordered.push_back(step);
  }
  std::ranges::copy(down, std::back_inserter(ordered));
  waiting_ = std::move(ordered);
}

Result<void> Mover::cancel() {
  abandon();
  return in_flight_ ? device_.cancel(in_flight_->cookie) : Result<void>{};
}

Result<void> Mover::start(const policy::Plan& plan, TierNodes tiers, std::uint64_t seq) {
  abandon();
  std::vector<policy::Move> own;
  for (const policy::Move& victim : plan.demotions) {
    if (victim.process == victim.served)
      own.push_back(victim);
    else  // another process waits for the room
      for (const policy::Move& piece : in_pieces(victim)) waiting_.push_back({piece, false});
  }
  for (std::size_t i = 0; i < plan.promotions.size(); ++i)
    enqueue(plan.promotions[i], victims_of(own, i));
  if (is_paired()) lead_by_a_piece();
  tiers_ = std::move(tiers);
  seq_ = seq;
  back_off_.forget_old(seq);
  ping_pong_.forget_old(seq);
  return send();
}

Result<void> Mover::rehearse(const policy::Plan& plan) {
  MoveHow how = how_;
  how.flags |= HMK_MOVE_DRY_RUN;
  std::vector<Step> steps;
  for (const auto* const moves : {&plan.demotions, &plan.promotions})
    for (const policy::Move& move : *moves) steps.push_back({move, false});
  for (std::size_t at = 0; at < steps.size(); at += kTicketRanges) {
    const auto ranges =
        to_ranges(std::span(steps).subspan(at, std::min(kTicketRanges, steps.size() - at)));
    if (Result<void> taken = device_.move(0, ranges, how); !taken) return taken;
  }
  return {};
}

/// Where the tier is one node the module leaves what is there; of a class it takes what is on the
/// node it comes from.
bool Mover::may_be_there(const policy::Move& move) const {
  if (move.page_class != 0) return false;
  const int tier = tier_of(tiers_, move.to);
  return tier >= 0 && tiers_[static_cast<std::size_t>(tier)].size() > 1;
}

/// The parts of a piece that are not in the target's tier; the whole where that cannot be told.
std::vector<Mover::Step> Mover::parts_elsewhere(const Step& step) {
  const auto places = device_.places(step.move.start, step.move.length);
  if (!places) return {step};
  const int tier = tier_of(tiers_, step.move.to);
  const auto elsewhere = [&](std::int32_t node) {
    return node >= 0 && tier_of(tiers_, node) != tier;
  };
  std::vector<Step> parts;
  for (auto at = places->begin(); at != places->end();) {
    const auto first = std::find_if(at, places->end(), elsewhere);
    at = std::find_if_not(first, places->end(), elsewhere);
    if (first == at) break;
    Step part = step;
    part.move.start += static_cast<std::uint64_t>(first - places->begin()) * policy::kPage;
    part.move.length = part.move.bytes = static_cast<std::uint64_t>(at - first) * policy::kPage;
    if (step.move.bytes != 0)
      part.move.saved_ns_per_s *=
          static_cast<double>(part.move.bytes) / static_cast<double>(step.move.bytes);
    parts.push_back(part);
  }
  return parts;
}

/// Of as much as one ticket holds.
void Mover::leave_what_is_there() {
  std::deque<Step> asked;
  for (std::uint64_t bytes = 0; !waiting_.empty() && bytes <= kTicketBytes; waiting_.pop_front()) {
    const Step& next = waiting_.front();
    for (const Step& step : may_be_there(next.move) ? parts_elsewhere(next) : std::vector{next}) {
      bytes += step.move.bytes;
      asked.push_back(step);
    }
  }
  waiting_.insert(waiting_.begin(), asked.begin(), asked.end());
}

/// What overlaps becomes one: classes of a region do.
Spans Mover::joined(Spans spans) {
  std::ranges::sort(spans);
  Spans apart;
  for (const auto& span : spans)
    if (apart.empty() || apart.back().second < span.first)
      apart.push_back(span);
    else
      apart.back().second = std::max(apart.back().second, span.second);
  return apart;
}

/// For what one ticket brings to each node, beside what it takes away.
bool Mover::has_room() const {
  if (cache_room_ == nullptr) return true;
  std::map<int, std::int64_t> more;  // bytes, by node
  std::uint64_t bytes = 0;
  for (const Step& step : waiting_) {
    if ((bytes += step.move.bytes) > kTicketBytes && !more.empty()) break;
    more[step.move.to] += static_cast<std::int64_t>(step.move.bytes);
    more[step.move.from] -= static_cast<std::int64_t>(step.move.bytes);
  }
  std::map<int, std::uint64_t> arriving;
  for (const auto& [node, of] : more)
    if (of > 0) arriving[node] = static_cast<std::uint64_t>(of);
  return cache_room_->is_ready(arriving);
}

Result<void> Mover::send() {
  if (in_flight_) return {};
  leave_what_is_there();
  if (waiting_.empty()) return {};
  held_until_.reset();
  if (!has_room()) {
    held_until_ = cache_room_->ready_at();
    return {};
  }
  Ticket ticket{next_cookie_, plan_, {}, {}};
  std::uint64_t bytes = 0;
  for (const Step& step : waiting_) {
    bytes += step.move.bytes;
    if (ticket.steps.size() == kTicketRanges || (!ticket.steps.empty() && bytes > kTicketBytes))
      break;
    if (pace_ != nullptr && !pace_->take(pair_of(step), step.move.bytes)) {
      held_until_ = pace_->ready_at(pair_of(step));
      break;
    }
    ticket.steps.push_back(step);
    ticket.spans.emplace_back(step.move.start, step.move.start + step.move.length);
  }
  if (ticket.steps.empty()) return {};
  if (Result<void> sent = device_.move(ticket.cookie, to_ranges(ticket.steps), how_); !sent) {
    for (const Step& step : ticket.steps) give_back(step, step.move.bytes);
    if (sent.error().err == EAGAIN) return {};  // queue full: retry() at the next event
    abandon();
    return sent;
  }
  ++next_cookie_;
  waiting_.erase(waiting_.begin(),
                 waiting_.begin() + static_cast<std::ptrdiff_t>(ticket.steps.size()));
  ticket.spans = joined(std::move(ticket.spans));
  in_flight_ = std::move(ticket);
  return {};
}

Result<void> Mover::finish(std::uint64_t cookie, std::uint64_t time_ns) {
  if (!in_flight_ || in_flight_->cookie != cookie) return {};  // nobody's: nothing to account for
  const std::vector<Step> steps = std::move(in_flight_->steps);
  const bool is_of_this_plan = in_flight_->plan == plan_;
  ended_.push_back({time_ns, std::move(in_flight_->spans)});
  in_flight_.reset();
  const auto results = device_.result(cookie, steps.size());
  if (!results) {
    abandon();
    return results.error();
  }
  std::uint64_t moved = 0, no_room = 0;  // pages
  for (const hmk_range_result& result : *results) {
    moved += moved_pages(result);
    no_room += result.refused[HMK_REFUSED_NO_ROOM];
  }
  const bool is_idle = moved * kIdlePart < no_room;
  std::vector<Step> again;
  for (std::size_t i = 0; i < steps.size() && i < results->size(); ++i) {
    const hmk_range_result& result = (*results)[i];
    const std::uint64_t moved_bytes = moved_pages(result) * policy::kPage;
    give_back(steps[i], steps[i].move.bytes - std::min(steps[i].move.bytes, moved_bytes));
    const std::uint64_t pages = result.refused[HMK_REFUSED_NO_ROOM];
    const unsigned idle = is_idle ? steps[i].idle + 1 : 0;
    const bool goes_on = is_of_this_plan && pages != 0 && result.error == 0 && idle < kMostIdle;
    account(steps[i], result, goes_on);
    if (!goes_on) continue;
    for (const policy::Move& piece : in_smaller_pieces(steps[i].move, pages * policy::kPage))
      again.push_back({piece, steps[i].rises, idle});
  }
  send_next(again);
  return send();
}

/// Before all that waits, in turns of a piece down and a piece up: where the tiers on both sides
/// are full, each turn makes the room of the next.
void Mover::send_next(std::span<const Step> steps) {
  std::deque<Step> down, ordered;
  std::ranges::copy_if(steps, std::back_inserter(down), [](auto& step) { return !step.rises; });
  std::int64_t lead = 0;  // bytes; in pairs of a piece more
  for (const Step& step : steps) {
    if (!step.rises) continue;
    const auto bytes = static_cast<std::int64_t>(step.move.bytes);
    const std::int64_t needed = is_paired() ? 2 * bytes : bytes;
    for (; !down.empty() && lead < needed; down.pop_front()) {
      lead += static_cast<std::int64_t>(down.front().move.bytes);
      ordered.push_back(down.front());
    }
    lead -= bytes;
    ordered.push_back(step);
  }
  std::ranges::copy(down, std::back_inserter(ordered));
  waiting_.insert(waiting_.begin(), ordered.begin(), ordered.end());
}

std::map<int, std::int64_t> Mover::arriving() const {
  std::map<int, std::int64_t> bytes;
  if (!in_flight_) return bytes;
  for (const Step& step : in_flight_->steps) {
    bytes[step.move.to] += static_cast<std::int64_t>(step.move.bytes);
    bytes[step.move.from] -= static_cast<std::int64_t>(step.move.bytes);
  }
  return bytes;
}

void Mover::forget_ended_before(std::uint64_t counted_ns) {
  std::erase_if(ended_, [=](const Ended& ended) { return ended.time_ns < counted_ns; });
}

bool Mover::is_moving(std::uint64_t start, std::uint64_t length) const {
  const auto meets = [=](const Spans& spans) {  // apart: their ends rise as their starts do
    const auto first =
        std::ranges::upper_bound(spans, start, {}, [](auto& span) { return span.second; });
    return first != spans.end() && first->first < start + length;
  };
  return (in_flight_ && meets(in_flight_->spans)) ||
         std::ranges::any_of(ended_, meets, &Ended::spans);
}

LeftAlone Mover::left_alone(std::uint64_t seq) const {
  Spans backed_off;
  back_off_.add_blocked(seq, backed_off, 0);
  Spans all = backed_off;
  ping_pong_.add_blocked(seq, all);
  return {joined(std::move(all)), joined(std::move(backed_off))};
}

Spans Mover::held(std::uint64_t seq) const {
  Spans spans;
  const auto add = [&](const Spans& more) { spans.insert(spans.end(), more.begin(), more.end()); };
  if (in_flight_) add(in_flight_->spans);
  for (const Ended& ended : ended_) add(ended.spans);
  back_off_.add_blocked(seq, spans);
  ping_pong_.add_blocked(seq, spans);
  return joined(std::move(spans));
}

/// `goes_on`: what found no room is sent again, and is no refusal yet.
void Mover::account(const Step& step, hmk_range_result result, bool goes_on) {
  const policy::Move& move = step.move;
  const bool no_room = result.refused[HMK_REFUSED_NO_ROOM] != 0;
  if (goes_on) result.refused[HMK_REFUSED_NO_ROOM] = 0;
  on_end_(move, result);
  // Gathering brings the rest of a region to where most of it is: from anywhere.
  const bool gathers = move.from == move.to;
  counters_.add({step.rises, gathers ? -1 : tier_of(tiers_, move.from), tier_of(tiers_, move.to),
                 move.length, move.reason},
                result);
  // What is put back was no error of the plan, and may be promoted again; what a plan beforehand,
  // a pin or the program brings back was to come back. Of a class an address does not say whether
  // it is the same pages.
  using policy::Reason;
  const bool is_told = move.reason == Reason::kPutBack || move.reason == Reason::kPlan ||
                       move.reason == Reason::kPin || move.reason == Reason::kHint;
  if (!gathers && !is_told && move.page_class == 0 && moved_pages(result) > 0)
    counters_.returned_bytes +=
        ping_pong_.moved(move.start, move.length, {move.from, move.to}, tiers_, seq_);
  // A range that gave nothing, or mostly refused, would do so again at once. A tier
  // without room is not the range's fault, nor is that of a class all pages are elsewhere. What is
  // where it was to go is as good as moved.
  const auto there = moved_pages(result) + result.pages_already;
  const auto refused = refused_pages(result) - result.refused[HMK_REFUSED_NO_ROOM];
  const bool is_empty = there == 0 && !no_room && move.page_class == 0;
  if (result.error == -ECANCELED) return;
  if (result.error != 0 || refused > there || is_empty)
    back_off_.failed(move.start, move.length, seq_, move.page_class);
  else
    back_off_.succeeded(move.start, move.page_class);
}

/// What is gathered comes from anywhere: no pair of tiers is limited for it.
Pace::Pair Mover::pair_of(const Step& step) const {
  return {tier_of(tiers_, step.move.from), tier_of(tiers_, step.move.to)};
}

/// What did not move is no use of the bandwidth, and may be sent again.
void Mover::give_back(const Step& step, std::uint64_t bytes) const {
  if (pace_ != nullptr) pace_->give_back(pair_of(step), bytes);
}

}  // namespace hmk
