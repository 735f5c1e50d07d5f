// SPDX-License-Identifier: MIT
#include "movable.hpp"

#include "page_classes.hpp"
#include "region_views.hpp"

namespace hmk {

void Movable::saw(const Snapshot& snapshot, std::span<const hmk_record> parts) {
  seq_ = snapshot.interval.seq;
  first_looks_ = FirstLooks(snapshot.interval);
  regions_ = snapshot.records;
  has_parts_ = !parts.empty();
  records_ = has_parts_ ? parts : regions_;
}

/// Where others are told page by page it will be, too: its turn comes within few intervals, and
/// until then most of what would move with its hot pages may be cold.
bool Movable::waits_to_be_read(const hmk_record& record) const {
  return has_parts_ && page_class(record) == 0 && (record.flags & HMK_RECORD_STALE) != 0;
}

bool Movable::is_at_rest(std::uint64_t start, std::uint64_t length) const {
  return !mover_.is_moving(start, length) && !mover_.back_off().is_blocked(start, length, seq_) &&
         !mover_.ping_pong().is_blocked(start, length, seq_);
}

bool Movable::may_move(const hmk_record& record) const {
  return is_at_rest(record.start, record.length) && may_move_apart(record);
}

/// The same but for what is to be left alone whatever its class.
bool Movable::may_move_apart(const hmk_record& record) const {
  const std::uint8_t of = page_class(record);
  return !mover_.is_moving(record.start, record.length) && !waits_to_be_read(record) &&
         (of == 0 || !mover_.back_off().is_blocked(record.start, record.length, seq_, of));
}

bool Movable::may_move_unread(const policy::RegionView& piece) const {
  const hmk_record* const record = last_at(regions_, piece.start);
  return record != nullptr && waits_to_be_read(*record) && !kinds_.is_doubted(record->kind) &&
         is_at_rest(piece.start, piece.length);
}

/// Whether all of a region is. A part of it is set apart.
bool Movable::is_left_alone(const hmk_record& record, const LeftAlone& spans, Stayed* stayed) {
  const Spans parts = common(spans.all, record.start, record.start + record.length);
  const std::uint64_t bytes = bytes_of(parts);
  if (bytes == 0) return false;
  if (stayed != nullptr) {
    const auto resident = [&](std::uint64_t part) {
      const double share = static_cast<double>(part) / static_cast<double>(record.length);
      return static_cast<std::uint64_t>(record.resident_pages * share) * HMK_PAGE_SIZE;
    };
    const std::uint64_t backed_off =
        bytes_of(common(spans.backed_off, record.start, record.start + record.length));
    StayedCounters& here = (*stayed)[record.node];
    here.backed_off_bytes += resident(backed_off);
    here.thrash_bytes += resident(bytes - backed_off);
  }
  if (bytes == record.length) return true;
  for (const auto& [start, end] : parts)
    if (apart_.empty() || apart_.back().end <= start)  // else of another class of it
      apart_.push_back({.start = start, .end = end});
  return false;
}

void Movable::mark(std::span<policy::RegionView> views, const std::vector<Tier>& tiers,
                   Stayed* stayed) {
  const Spans held = mover_.held(seq_);
  const LeftAlone alone = mover_.left_alone(seq_);
  apart_.clear();
  auto next = held.begin();  // of a million records in address order most meet nothing that is held
  for (std::size_t i = 0; i < views.size(); ++i) {
    const hmk_record& record = records_[i];
    while (next != held.end() && next->second <= record.start) ++next;
    const bool is_held = next != held.end() && next->first < record.start + record.length;
    views[i].movable = is_held ? may_move_apart(record) && !is_left_alone(record, alone, stayed)
                               : !waits_to_be_read(record);
    if (first_looks_.leave_open(record)) views[i].movable = false;
  }
  hold_doubted(views, tiers);
}

/// Of a kind that mostly refuses, at most the hottest region that could rise is tried.
void Movable::hold_doubted(std::span<policy::RegionView> views, const std::vector<Tier>& tiers) {
  for (const unsigned kind : {HMK_KIND_ANON, HMK_KIND_SHMEM}) {
    if (!kinds_.is_doubted(kind)) continue;
    policy::RegionView* hottest = nullptr;
    for (std::size_t i = 0; i < views.size(); ++i) {
      policy::RegionView& view = views[i];
      if (records_[i].kind != kind || !view.movable) continue;
      view.movable = false;
      const bool could_rise = view.whi_q16 > 0 && tier_of_node(tiers, view.node) > 0;
      if (could_rise && (hottest == nullptr || view.whi_q16 > hottest->whi_q16)) hottest = &view;
    }
    if (hottest != nullptr) hottest->movable = kinds_.may_try(kind, seq_);
  }
}

std::optional<unsigned> Movable::ended(const policy::Move& move, const hmk_range_result& result) {
  const hmk_record* const record = last_at(regions_, move.start);
  if (record == nullptr ||
      !kinds_.ended(record->kind, moved_pages(result), result.refused[HMK_REFUSED_SHARED], seq_))
    return std::nullopt;
  return record->kind;
}

std::vector<policy::RegionView> Movable::private_views(std::span<const hmk_record> records) const {
  std::vector<policy::RegionView> views;
  for (const hmk_record& record : records) {
    if (record.kind != HMK_KIND_ANON) continue;
    views.push_back(to_view(record));
    views.back().movable = !mover_.is_moving(record.start, record.length);
  }
  return views;
}

}  // namespace hmk
