// SPDX-License-Identifier: MIT
#include "mover/mover.hpp"

#include <algorithm>
#include <cerrno>

namespace hmk {
namespace {

// Small enough that room made by a demotion is used soon, large enough that a
// ticket costs nothing beside its copies.
constexpr std::uint64_t kTicketBytes = 32ull << 20;
constexpr std::size_t kTicketRanges = 4096;
static_assert(kTicketRanges <= HMK_MAX_RANGES);

std::vector<hmk_range> to_ranges(std::span<const policy::Move> moves) {
  std::vector<hmk_range> ranges;
  ranges.reserve(moves.size());
  for (const policy::Move& move : moves)
    ranges.push_back(
        {.start = move.start, .length = move.length, .node = move.to, .flags = 0, .status = 0});
  return ranges;
}

}  // namespace

Result<void> Mover::start(const policy::Plan& plan, Room room, std::vector<int> tier_nodes,
                          std::uint64_t seq) {
  promotions_.waiting.assign(plan.promotions.begin(), plan.promotions.end());
  demotions_.waiting.assign(plan.demotions.begin(), plan.demotions.end());
  room_ = std::move(room);
  tier_nodes_ = std::move(tier_nodes);
  seq_ = seq;
  lead_bytes_ = 0;
  back_off_.forget_old(seq);
  return pump();
}

Result<void> Mover::rehearse(const policy::Plan& plan) {
  for (const auto* const moves : {&plan.demotions, &plan.promotions})
    for (std::size_t at = 0; at < moves->size(); at += kTicketRanges) {
      const auto ranges =
          to_ranges(std::span(*moves).subspan(at, std::min(kTicketRanges, moves->size() - at)));
      if (Result<void> taken = device_.move(0, ranges, flags_ | HMK_MOVE_DRY_RUN); !taken)
        return taken;
    }
  return {};
}

void Mover::abandon() {
  promotions_.waiting.clear();
  demotions_.waiting.clear();
}

bool Mover::is_busy() const {
  return promotions_.in_flight || demotions_.in_flight || !promotions_.waiting.empty() ||
         !demotions_.waiting.empty();
}

Result<void> Mover::pump() {
  // Demotions run ahead of the promotions they serve, but not far: what has left
  // a tier and is not yet replaced is memory the tier does not use.
  const bool may_demote =
      lead_bytes_ < static_cast<std::int64_t>(kTicketBytes) || !promotions_.in_flight;
  if (may_demote)
    if (Result<void> sent = send(demotions_, false); !sent) return sent;
  // When no demotion is left to wait for, what still does not fit is sent all
  // the same: the module knows the free pages of this moment, we do not.
  const bool more_room_comes = demotions_.in_flight || !demotions_.waiting.empty();
  return send(promotions_, more_room_comes);
}

/// How many of the waiting moves go into the next ticket, in their order.
std::size_t Mover::batch_size(const Lane& lane, bool needs_room) {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (const policy::Move& move : lane.waiting) {
    if (count == kTicketRanges || (count > 0 && bytes + move.bytes > kTicketBytes)) break;
    std::int64_t& room = room_[move.to];
    const auto needed = static_cast<std::int64_t>(move.bytes);
    if (needs_room && room < needed) break;
    room -= needed;
    bytes += move.bytes;
    ++count;
  }
  return count;
}

Result<void> Mover::send(Lane& lane, bool needs_room) {
  if (lane.in_flight || lane.waiting.empty()) return {};
  const Room room_before = room_;
  const std::size_t count = batch_size(lane, needs_room);
  if (count == 0) return {};
  const auto end = lane.waiting.begin() + static_cast<std::ptrdiff_t>(count);
  Ticket ticket{next_cookie_, {lane.waiting.begin(), end}};
  if (const Result<void> sent = device_.move(ticket.cookie, to_ranges(ticket.moves), flags_);
      !sent) {
    room_ = room_before;
    if (sent.error().err == EAGAIN) return {};  // queue full: retry() at the next event
    abandon();
    return sent;
  }
  ++next_cookie_;
  for (const policy::Move& move : ticket.moves)
    lead_bytes_ += (&lane == &demotions_ ? 1 : -1) * static_cast<std::int64_t>(move.bytes);
  lane.waiting.erase(lane.waiting.begin(), end);
  lane.in_flight = std::move(ticket);
  return {};
}

Result<void> Mover::finish(std::uint64_t cookie) {
  for (Lane* const lane : {&demotions_, &promotions_}) {
    if (!lane->in_flight || lane->in_flight->cookie != cookie) continue;
    const std::vector<policy::Move> moves = std::move(lane->in_flight->moves);
    const auto results = device_.result(cookie, moves.size());
    lane->in_flight.reset();
    if (!results) {
      abandon();
      return results.error();
    }
    for (std::size_t i = 0; i < moves.size() && i < results->size(); ++i)
      account(*lane, moves[i], (*results)[i]);
    return pump();
  }
  return {};  // a ticket of nobody: nothing to account for
}

void Mover::account(const Lane& lane, const policy::Move& move, const hmk_range_result& result) {
  on_end_(move, result);
  // Gathering brings the rest of a region to where most of it is: from anywhere.
  const bool gathers = move.from == move.to;
  counters_.add(
      {&lane == &promotions_, gathers ? -1 : tier_of(move.from), tier_of(move.to), move.length},
      result);
  const auto arrived = static_cast<std::int64_t>(moved_pages(result) * HMK_PAGE_SIZE);
  if (!gathers) room_[move.from] += arrived;
  room_[move.to] += static_cast<std::int64_t>(move.bytes) - arrived;  // what did not come
  // A range that gave nothing, or mostly refused, would do so again at once.
  if (result.error != 0 || moved_pages(result) == 0 || refused_pages(result) > moved_pages(result))
    back_off_.failed(move.start, move.length, seq_);
  else
    back_off_.succeeded(move.start);
}

int Mover::tier_of(int node) const {
  const auto found = std::ranges::find(tier_nodes_, node);
  return found == tier_nodes_.end() ? -1 : static_cast<int>(found - tier_nodes_.begin());
}

}  // namespace hmk
