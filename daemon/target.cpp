// SPDX-License-Identifier: MIT
#include "target.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "config/pins.hpp"
#include "config/whom.hpp"
#include "device/features.hpp"
#include "mover/copy_threads.hpp"
#include "page_classes.hpp"
#include "params.hpp"
#include "policy/foresee.hpp"
#include "policy/pieces.hpp"
#include "policy/put_back.hpp"
#include "record/mappings.hpp"
#include "util/file.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"

namespace hmk {
namespace {

// A descriptor that is readable and yet says nothing would spin the loop.
constexpr unsigned kMaxEmptyWakeups = 1000;

const char* why_stopped(std::uint64_t why) {
  return why == HMK_STOPPED_NOTIFIER
             ? "a virtual machine or a device uses its memory behind its page table"
             : "unknown, the module is newer than hmkd";
}

policy::RegionView to_view(const hmk_record& record) {
  policy::RegionView view;
  view.start = record.start;
  view.length = record.length;
  view.resident = std::uint64_t{record.resident_pages} * HMK_PAGE_SIZE;
  view.away = std::uint64_t{record.away_pages} * HMK_PAGE_SIZE;
  view.stale = (record.flags & HMK_RECORD_STALE) != 0;
  // Of what was not sampled nothing new is known.
  view.hi_q16 = view.stale ? record.whi_q16 : record.hi_q16;
  view.whi_q16 = record.whi_q16;
  view.generation = record.generation;
  view.node = record.node;
  view.away_node = record.away_node;
  view.rate_q8 = record.rate_q8;
  view.rate_dev_q8 = record.rate_dev_q8;
  view.written = 2 * record.writes > record.samples;
  view.leaf_shift = record.leaf_shift;
  view.page_class = page_class(record);
  return view;
}

void to_views(std::span<const hmk_record> records, std::vector<policy::RegionView>& views) {
  views.resize(records.size());
  std::ranges::transform(records, views.begin(), to_view);
}

std::vector<policy::RegionView> to_views(std::span<const hmk_record> records) {
  std::vector<policy::RegionView> views;
  to_views(records, views);
  return views;
}

/// The last region that begins at an address or below it; null where none does.
const hmk_record* last_at(const std::vector<hmk_record>& records, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(records, address, {}, &hmk_record::start);
  return after == records.begin() ? nullptr : &*std::prev(after);
}

RecordedMove to_recorded(const policy::Move& move, std::uint64_t pages) {
  using Reason = RecordedMove::Reason;
  static_assert(static_cast<int>(policy::Reason::kForPin) == static_cast<int>(Reason::for_pin));
  static_assert(static_cast<int>(policy::Reason::kHint) == static_cast<int>(Reason::other));
  return {move.start,
          move.length,
          move.from,
          move.to,
          std::min(pages, move.length / HMK_PAGE_SIZE),
          static_cast<Reason>(move.reason)};
}

/// In ascending order: another order of the tiers is no reason to rank anew.
std::vector<policy::NodeId> nodes_of(const std::vector<Tier>& tiers) {
  std::vector<policy::NodeId> nodes;
  for (const Tier& tier : tiers) nodes.insert(nodes.end(), tier.nodes.begin(), tier.nodes.end());
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

Target::Target(std::int32_t pid, ProcessInfo process, Session session,
               std::shared_ptr<const Config> config)
    : pid_(pid),
      process_(std::move(process)),
      session_(std::move(session)),
      config_(std::move(config)),
      mover_(*session_.device),
      joiner_(pid, session_.advice.collapse),
      pager_(pid, session_.advice.page_out),
      ranking_({}, {}) {
  weighed_cpu_ns_ = process_.cpu_ns;
  mover_.on_end([this](const policy::Move& move, const hmk_range_result& result) {
    history_.ended(move, result);
    doubt(move, result);
    ending_moves_.push_back(to_recorded(move, moved_pages(result)));
    balance_.moved(move, {moved_pages(result) * HMK_PAGE_SIZE,
                          result.prepare_ns + result.copy_ns + result.commit_ns});
  });
}

/// Whether its kind of memory moves at all.
void Target::doubt(const policy::Move& move, const hmk_range_result& result) {
  const hmk_record* const record = last_at(snapshot_.records, move.start);
  if (record == nullptr) return;
  const unsigned kind = record->kind;
  if (!kinds_.ended(kind, moved_pages(result), result.refused[HMK_REFUSED_SHARED],
                    snapshot_.interval.seq))
    return;
  has_new_doubt_ = true;
  spdlog::info(
      "left where it is pid={} comm={} memory={} reason=\"other processes map it, too\" "
      "hint=\"shared: yes moves such memory\"",
      pid_, printable_word(process_.comm), kind == HMK_KIND_SHMEM ? "shared" : "private");
}

Mode Target::mode() const {
  return can_move(session_) ? held_.value_or(config_->mode) : Mode::track_only;
}

void Target::hold(std::optional<Mode> mode) {
  if (is_putting_back_) stop_moves();
  is_putting_back_ = false;
  held_ = mode;
  if (this->mode() != Mode::manage) stop_moves();
}

void Target::put_back(const Surroundings& around) {
  is_putting_back_ = true;
  send_back(around);
}

void Target::follow(std::optional<Follower> follower) {
  stop_moves();
  follower_ = std::move(follower);
}

/// Mappings are read anew each time: the program may have mapped since what the plan tells of.
policy::Plan Target::followed_plan(const Surroundings& around, policy::Bytes most) {
  std::vector<hmk_record> records = snapshot_.records;
  std::erase_if(records, [&](const hmk_record& one) { return !may_move(one); });
  const auto maps = read_text(around.root / "proc" / std::to_string(pid_) / "maps");
  const auto wanted =
      follower_->wanted(parse_mappings(maps.value_or("")), snapshot_.interval.end_ns);
  const Misplaced found = misplaced(records, policy::joined(pinned_, wanted), tier_nodes(), most);
  follower_->found(found);
  policy::Plan plan = policy::put_back(found.extents, tier_views(around));
  for (auto* const moves : {&plan.promotions, &plan.demotions})
    for (policy::Move& move : *moves)
      move.reason = is_pinned(move) ? policy::Reason::kPin : policy::Reason::kPlan;
  return plan;
}

bool Target::is_pinned(const policy::Move& move) const {
  return policy::range_in(std::span(pinned_), move.start, move.start + 1) != nullptr;
}

/// What has moved too often or was read too little is pinned all the same.
std::vector<policy::Ledger::Displaced> Target::misplaced_pins(policy::Bytes most) const {
  if (pinned_.empty()) return {};
  std::vector<hmk_record> records = snapshot_.records;
  std::erase_if(records, [&](const hmk_record& one) {
    return mover_.is_moving(one.start, one.length) ||
           mover_.back_off().is_blocked(one.start, one.length, snapshot_.interval.seq);
  });
  return misplaced(records, pinned_, tier_nodes(), most).extents;
}

std::vector<Presence> Target::pins_there() const {
  return presence_of(snapshot_.records, pinned_, tier_nodes(), config_->pins.size());
}

/// Mappings are read anew each time: the program may have mapped since.
void Target::look_at_pins(const Surroundings& around) {
  has_new_pins_ = false;
  pinned_.clear();
  const auto names_it = [&](const Pin& pin) { return is_pin_of(pin, pid_, process_.comm); };
  if (std::ranges::none_of(config_->pins, names_it)) return;
  const auto maps = read_text(around.root / "proc" / std::to_string(pid_) / "maps");
  pinned_ = pinned_in(config_->pins, pid_, process_.comm, parse_mappings(maps.value_or("")));
}

void Target::hear(std::vector<Hint> hints) {
  if (!config_->hints) hints.clear();
  has_news_ |= foretold_.heard(std::move(hints), snapshot_.interval.seq);
}

bool Target::has_news() const {
  // Caps that are of several processes together are known when all of them are.
  return has_news_ && has_seen_ && mode() == Mode::manage && !follower_ && !is_putting_back_ &&
         !config_->is_together;
}

/// What rises because the program says so.
void Target::name_foretold(policy::Plan& plan) const {
  const std::vector<policy::Expectation> told = foretold_.expected(snapshot_.interval.seq);
  if (told.empty()) return;
  for (policy::Move& move : plan.promotions) {
    const policy::Expectation* const of =
        policy::range_in(std::span(told), move.start, move.start + move.length);
    if (of != nullptr && of->passes > 0 && move.reason == policy::Reason::kHot)
      move.reason = policy::Reason::kHint;
  }
}

void Target::configure(std::shared_ptr<const Config> config) {
  const auto before = std::exchange(config_, std::move(config));
  if (mode() != Mode::manage) stop_moves();
  if (before->pins != config_->pins) {
    stop_moves();
    pinned_.clear();  // by number of a pin
    has_new_pins_ = true;
  }
  if (before->move_shared != config_->move_shared) kinds_ = {};
  if (!config_->join_huge) joiner_.stop();
  if (!config_->page_out) pager_.stop();
  if (before->overhead_bp != config_->overhead_bp && balance_.effort().is_reduced()) spend();
}

/// What is not worth its profiling is watched for less.
void Target::spend() {
  hmk_params params{};
  params.mask = HMK_PARAM_BUDGET;
  params.budget_bp = balance_.effort().budget_bp(config_->overhead_bp);
  if (const Result<void> done = device().set(params); !done)
    spdlog::warn("budget kept pid={} reason=\"{}\"", pid_, done.error().line());
  else
    spdlog::debug("effort pid={} comm={} budget_percent={:.2f} has_changed={}", pid_,
                  printable_word(process_.comm), params.budget_bp / 100.0,
                  balance_.persistence().has_changed());
}

Target::State Target::handle_events(const Surroundings& around) {
  const auto events = device().read_events();
  if (!events) {
    spdlog::error("session lost pid={} reason=\"{}\"", pid_, events.error().line());
    return State::broken;
  }
  empty_wakeups_ = events->empty() ? empty_wakeups_ + 1 : 0;
  if (empty_wakeups_ > kMaxEmptyWakeups) {
    spdlog::error("session lost pid={} reason=\"readable without events\"", pid_);
    return State::broken;
  }
  for (const hmk_event& event : *events) {
    if (event.kind == HMK_EVENT_GONE) return State::gone;
    if (event.kind == HMK_EVENT_STOPPED) {
      spdlog::warn("target left pid={} reason=\"{}\" hint=\"it is profiled no more\"", pid_,
                   why_stopped(event.value));
      return State::stopped;
    }
    if (event.kind == HMK_EVENT_TICKET) finish(event);
    if (event.kind == HMK_EVENT_INTERVAL) step(around);
  }
  return State::alive;
}

/// What else the plan has of a kind that turns out not to move would only make room.
void Target::finish(const hmk_event& event) {
  check(mover_.finish(event.value, event.time_ns));
  if (std::exchange(has_new_doubt_, false)) mover_.abandon();
}

/// One interval (spec 1.4, steps 6 to 8). What is planned from it moves while the
/// module profiles the next one.
void Target::step(const Surroundings& around) {
  if (const Result<void> read = device().snapshot(spare_); !read) {
    if (read.error().err != EAGAIN)
      spdlog::warn("interval not read pid={} reason=\"{}\"", pid_, read.error().line());
    return;
  }
  std::swap(snapshot_, spare_);
  ended_moves_ = std::exchange(ending_moves_, {});
  parts_ = fold(snapshot_);
  mover_.forget_ended_before(snapshot_.counted_ns);
  resident_.reset();
  history_.saw(snapshot_);
  look_around(around);
  look_at_pins(around);
  std::vector<policy::RegionView> regions;
  if (!parts_.empty() || !shared_mappings_.empty()) regions = to_views(snapshot_.records);
  share(around, regions);
  const std::vector<policy::RegionView>& parts = part_views(Counting::yes, around);
  judge_foretold(parts);
  rank(parts);
  weigh(around,
        parts_.empty() ? policy::Balance::Seen(parts) : policy::Balance::Seen(regions, parts));
  // What the last plan has not sent was made of places that are stale by now.
  if (mode() == Mode::manage) {
    plans_replaced_ += mover_.is_busy();
    mover_.abandon();
  }
  ++new_intervals_;
  is_awaited_ = has_seen_ = true;
}

void Target::take(policy::Plan plan, const Surroundings& around) {
  has_news_ = false;
  name_foretold(plan);
  is_awaited_ = std::exchange(new_intervals_, 0) > 0;
  if (!is_awaited_) return serve_others(plan, around);
  account(plan);
  timeline_.add(moment(mode()));
  move(plan, around);
  join(plan, around);
  page_out(around);
}

/// Who has no new interval has been planned from its last one: all that moves is what makes room
/// for others.
void Target::serve_others(const policy::Plan& plan, const Surroundings& around) {
  if (plan.demotions.empty()) return;
  history_.decided(snapshot_.interval.seq, plan);
  planned_demote_bytes_ += plan.demoted;
  move(plan, around);
}

void Target::take_at_once(policy::Plan plan, const Surroundings& around) {
  has_news_ = false;
  name_foretold(plan);
  if (std::ranges::find(plan.promotions, policy::Reason::kHint, &policy::Move::reason) ==
      plan.promotions.end())
    return;
  history_.decided(snapshot_.interval.seq, plan);
  planned_promote_bytes_ += plan.promoted;
  planned_demote_bytes_ += plan.demoted;
  move(plan, around);
}

void Target::judge_foretold(std::span<const policy::RegionView> regions) {
  const std::uint64_t seq = snapshot_.interval.seq;
  const bool was_ignored = foretold_.is_ignored(seq);
  foretold_.saw(regions, seq);
  if (!was_ignored && foretold_.is_ignored(seq))
    spdlog::warn(
        "hints ignored pid={} comm={} came_true={} did_not={} "
        "hint=\"for {} intervals only what is measured counts\"",
        pid_, printable_word(process_.comm), foretold_.nr_kept(), foretold_.nr_broken(),
        Foretold::kIgnored);
}

std::map<int, std::int64_t> Target::arrived_since() const {
  std::map<int, std::int64_t> bytes = mover_.arriving();
  for (const RecordedMove& move : ending_moves_) {
    const auto moved = static_cast<std::int64_t>(move.moved_pages * HMK_PAGE_SIZE);
    bytes[move.to] += moved;
    bytes[move.from] -= moved;
  }
  return bytes;
}

void Target::look_around(const Surroundings& around) {
  renew(process_, around.root, pid_);
  if (looks_.is_due()) looks_.run(around.look_parts, [&] { look_closely(around); });
  order_tiers(around);
}

/// A file for each of its threads, and the long one in which cpusets show.
void Target::look_closely(const Surroundings& around) {
  process_.mems_allowed = read_mems_allowed(around.root, pid_);
  homes_.look(around.root, pid_, around.machine);
  numa_balancing_.look(around.root, pid_);
  shared_mappings_.clear();
  if (!config_->move_shared) return;
  const auto maps = read_text(around.root / "proc" / std::to_string(pid_) / "maps");
  shared_mappings_ = parse_shared_mappings(maps.value_or(""));
}

/// `regions`: each once; they become as hot as all processes make them.
void Target::share(const Surroundings& around, std::span<policy::RegionView> regions) {
  if (around.shared == nullptr) return;
  if (shared_mappings_.empty()) return around.shared->forget(pid_);
  around.shared->saw(pid_, {.mappings = shared_mappings_,
                            .regions = regions,
                            .hotness_max = snapshot_.interval.hotness_max,
                            .cpu = static_cast<double>(process_.cpu_ns - weighed_cpu_ns_) /
                                   seconds_of(snapshot_.interval),
                            .moves = mode() == Mode::manage});
  around.shared->apply(pid_, regions);
}

void Target::prepare(const Surroundings& around) {
  order_tiers(around);
  const bool has_new_pins = has_new_pins_;
  if (has_new_pins) look_at_pins(around);
  // Of who lags, what has moved since is no victim.
  const bool lags = new_intervals_ == 0;
  if (has_new_pins || lags || nodes_of(tiers_) != ranked_nodes_)
    rank(part_views(Counting::no, around));
}

void Target::prepare_at_once(const Surroundings& around) {
  order_tiers(around);
  rank(part_views(Counting::no, around));
}

void Target::order_tiers(const Surroundings& around) {
  tiers_ =
      hmk::order_tiers(around.machine, {homes_.nodes(), process_.mems_allowed, config_->tiers});
}

/// Where others are told page by page it will be, too: its turn comes within few intervals, and
/// until then most of what would move with its hot pages may be cold.
bool Target::waits_to_be_read(const hmk_record& record) const {
  return !parts_.empty() && page_class(record) == 0 && (record.flags & HMK_RECORD_STALE) != 0;
}

/// Whether nothing of it is in flight or to be left alone for a while.
bool Target::may_move(const hmk_record& record) const {
  const std::uint64_t seq = snapshot_.interval.seq;
  return may_move_apart(record) &&
         !mover_.back_off().is_blocked(record.start, record.length, seq) &&
         !mover_.ping_pong().is_blocked(record.start, record.length, seq);
}

/// The same but for what is to be left alone whatever its class.
bool Target::may_move_apart(const hmk_record& record) const {
  const std::uint8_t of = page_class(record);
  return !mover_.is_moving(record.start, record.length) && !waits_to_be_read(record) &&
         (of == 0 ||
          !mover_.back_off().is_blocked(record.start, record.length, snapshot_.interval.seq, of));
}

/// Whether all of a region is. A part of it is set apart.
bool Target::is_left_alone(const hmk_record& record, const LeftAlone& spans, Counting counting) {
  const Spans parts = common(spans.all, record.start, record.start + record.length);
  const std::uint64_t bytes = bytes_of(parts);
  if (bytes == 0) return false;
  if (counting == Counting::yes) {
    const auto resident = [&](std::uint64_t part) {
      const double share = static_cast<double>(part) / static_cast<double>(record.length);
      return static_cast<std::uint64_t>(record.resident_pages * share) * HMK_PAGE_SIZE;
    };
    const std::uint64_t backed_off =
        bytes_of(common(spans.backed_off, record.start, record.start + record.length));
    StayedCounters& stayed = stayed_[record.node];
    stayed.backed_off_bytes += resident(backed_off);
    stayed.thrash_bytes += resident(bytes - backed_off);
  }
  if (bytes == record.length) return true;
  for (const auto& [start, end] : parts)
    if (set_apart_.empty() || set_apart_.back().end <= start)  // else of another class of it
      set_apart_.push_back({.start = start, .end = end});
  return false;
}

const std::vector<policy::RegionView>& Target::part_views(Counting counting,
                                                          const Surroundings& around) {
  to_views(parts(), part_views_);
  const Spans held = mover_.held(snapshot_.interval.seq);
  const LeftAlone alone = mover_.left_alone(snapshot_.interval.seq);
  set_apart_.clear();
  auto next = held.begin();  // of a million records in address order most meet nothing that is held
  for (std::size_t i = 0; i < part_views_.size(); ++i) {
    const hmk_record& record = parts()[i];
    while (next != held.end() && next->second <= record.start) ++next;
    const bool is_held = next != held.end() && next->first < record.start + record.length;
    part_views_[i].movable = is_held
                                 ? may_move_apart(record) && !is_left_alone(record, alone, counting)
                                 : !waits_to_be_read(record);
  }
  if (!pinned_.empty()) set_apart_ = policy::joined(pinned_, set_apart_);
  hold_doubted();
  if (around.shared != nullptr) around.shared->apply(pid_, part_views_);
  return part_views_;
}

/// Of a kind that mostly refuses, at most the hottest region that could rise is tried.
void Target::hold_doubted() {
  for (const unsigned kind : {HMK_KIND_ANON, HMK_KIND_SHMEM}) {
    if (!kinds_.is_doubted(kind)) continue;
    policy::RegionView* hottest = nullptr;
    for (std::size_t i = 0; i < part_views_.size(); ++i) {
      policy::RegionView& view = part_views_[i];
      if (parts()[i].kind != kind || !view.movable) continue;
      view.movable = false;
      const bool could_rise = view.whi_q16 > 0 && tier_of_node(tiers_, view.node) > 0;
      if (could_rise && (hottest == nullptr || view.whi_q16 > hottest->whi_q16)) hottest = &view;
    }
    if (hottest != nullptr) hottest->movable = kinds_.may_try(kind, snapshot_.interval.seq);
  }
}

/// Where they were calibrated.
void Target::price_moves(std::vector<policy::TierView>& views, const Machine& machine) {
  if (machine.moves.empty()) return;
  for (policy::TierView& from : views)
    for (const policy::TierView& to : views) {
      const auto found = machine.moves.find({from.node, to.node});
      const MoveFigures figures = found == machine.moves.end() ? MoveFigures{} : found->second;
      from.page_ns.push_back(figures.page_ns);
      from.huge_ns.push_back(figures.huge_ns * policy::kPage / policy::kHuge);
    }
}

std::vector<policy::TierView> Target::tier_views(const Surroundings& around) const {
  std::vector<policy::TierView> views;
  for (const Tier& tier : tiers_)
    for (const int id : tier.nodes) {
      // It was there when the tiers were ordered, yet the machine may have been read anew since.
      const auto found = around.machine.nodes.find(id);
      const Node node = found == around.machine.nodes.end() ? Node{} : found->second;
      const double share = tier.total_bytes == 0 ? 0
                                                 : static_cast<double>(node.total_bytes) /
                                                       static_cast<double>(tier.total_bytes);
      const auto reserve = static_cast<double>(reserve_for(*config_, tier.total_bytes));
      views.push_back(
          {.node = id,
           .total = node.total_bytes,
           .free = usable_free(node) + (around.cache_room == nullptr ? 0 : node.cache_bytes),
           // Below its watermarks a node has less than no room.
           .reserve =
               static_cast<policy::Bytes>(std::llround(reserve * share)) + below_watermarks(node),
           .latency_ns = tier.latency_ns,
           .write_latency_ns = tier.write_latency_ns,
           .bandwidth_mib = tier.bandwidth_mib / static_cast<std::uint32_t>(tier.nodes.size()),
           .joins = id != tier.nodes.front()});
    }
  for (policy::TierView& from : views)
    for (const policy::TierView& to : views)
      from.distance.push_back(distance(around.machine, from.node, to.node));
  price_moves(views, around.machine);
  return views;
}

/// As they were measured, but for what the program says of them; empty: it says nothing.
std::vector<policy::RegionView> Target::foreseen(
    std::span<const policy::RegionView> regions) const {
  const std::uint64_t seq = snapshot_.interval.seq;
  const std::vector<policy::Expectation> told = foretold_.expected(seq);
  if (told.empty()) return {};
  const policy::Measured measured = balance_.plans_by();
  const double intervals = std::min(horizon_for(*config_, seq), measured.horizon);
  std::vector<policy::RegionView> all =
      policy::foresee(regions, told, intervals * seconds_of(snapshot_.interval), measured.scale);
  for (policy::RegionView& piece : all)
    if (const policy::Expectation* const of =
            policy::range_in(std::span(told), piece.start, policy::end_of(piece));
        !piece.movable && of != nullptr && of->passes > 0)
      piece.movable = may_move_unread(piece);
  return all;
}

/// What the program says of it need not be read page by page first.
bool Target::may_move_unread(const policy::RegionView& piece) const {
  const std::uint64_t seq = snapshot_.interval.seq;
  const hmk_record* const record = last_at(snapshot_.records, piece.start);
  return record != nullptr && waits_to_be_read(*record) && !kinds_.is_doubted(record->kind) &&
         !mover_.is_moving(piece.start, piece.length) &&
         !mover_.back_off().is_blocked(piece.start, piece.length, seq) &&
         !mover_.ping_pong().is_blocked(piece.start, piece.length, seq);
}

/// What is pinned or left alone takes no part: it neither makes room nor competes.
void Target::rank(const std::vector<policy::RegionView>& measured) {
  const std::vector<policy::NodeId> nodes = nodes_of(tiers_);
  const policy::Histogram::Shape shape{config_->buckets, snapshot_.interval.hotness_max};
  if (nodes != ranked_nodes_ || shape.buckets != shape_.buckets ||
      shape.hotness_max != shape_.hotness_max) {
    ranking_.reset(shape, nodes);
    shape_ = shape;
    ranked_nodes_ = nodes;
  }
  const auto process = static_cast<policy::ProcessId>(pid_);
  const std::vector<policy::RegionView> told = foreseen(measured);
  const std::vector<policy::RegionView>& regions = told.empty() ? measured : told;
  if (set_apart_.empty())
    ranking_.update(process, regions);
  else
    ranking_.update(process, policy::set_apart(regions, set_apart_));
}

/// That of the processes for whose accesses this one stands, in ns.
std::uint64_t Target::cpu_of_sharers(const Surroundings& around, std::uint64_t wall_ns) const {
  if (around.shared == nullptr) return 0;
  return static_cast<std::uint64_t>(around.shared->cpu_of_others(pid_) *
                                    static_cast<double>(wall_ns) / 1e9);
}

/// CPU time comes in ticks: up to one more has been used.
void Target::weigh(const Surroundings& around, const policy::Balance::Seen& seen) {
  const hmk_interval& interval = snapshot_.interval;
  const std::uint64_t since = weighed_ns_ == 0 ? interval.start_ns : weighed_ns_;
  if (interval.end_ns <= since) return;
  const std::uint64_t wall_ns = interval.end_ns - since;
  const auto interval_ns = static_cast<std::uint64_t>(config_->interval.count());
  busy_threads_ = static_cast<unsigned>(
      std::max<std::uint64_t>(1, (process_.cpu_ns - weighed_cpu_ns_ + wall_ns - 1) / wall_ns));
  const bool has_changed = balance_.saw(
      seen, tier_views(around),
      {.seconds = static_cast<double>(interval.end_ns - since) / 1e9,
       .cpu_ns =
           process_.cpu_ns - weighed_cpu_ns_ + cpu_tick_ns() + cpu_of_sharers(around, wall_ns),
       .profile_ns = interval.profile_ns,
       .horizon = horizon_for(*config_, interval.seq),
       // What is undone saves nothing; the speed of plans has nothing to learn from it.
       .is_governed = !is_putting_back_ && is_governed(*config_, pid_, process_.comm),
       .is_stretched = interval.end_ns - interval.start_ns > interval_ns + interval_ns / 2,
       .page_ns = page_ns(*config_)});
  weighed_ns_ = interval.end_ns;
  weighed_cpu_ns_ = process_.cpu_ns;
  if (!has_changed) return;
  const policy::Ledger::Figures& total = balance_.ledger().total();
  spdlog::info(
      "governor pid={} comm={} promote_limit=1/{} saved_ms_per_s={:.1f} spent_ms_per_s={:.1f}",
      pid_, printable_word(process_.comm), balance_.governor().divisor(), total.realized / 1e6,
      total.spent / 1e6);
}

/// Of the last interval.
Moment Target::moment(Mode mode) const {
  const hmk_interval& interval = snapshot_.interval;
  Moment moment{.start_ns = interval.start_ns,
                .end_ns = interval.end_ns,
                .is_managed = mode == Mode::manage,
                .profile_ns = interval.profile_ns,
                .promoted_bytes = last_->promoted_bytes,
                .demoted_bytes = last_->demoted_bytes,
                .planned_bytes = mode == Mode::manage
                                     ? last_->planned_promote_bytes + last_->planned_demote_bytes
                                     : 0,
                .accesses = accesses_by_node(parts()),
                .resident_bytes = resident_by_node(snapshot_.records)};
  const double seconds = seconds_of(interval);
  for (auto& [node, accesses] : moment.accesses) accesses *= seconds;
  return moment;
}

void Target::account(const policy::Plan& plan) {
  const MoveCounters& moved = mover_.counters();
  last_ =
      LastInterval{snapshot_.interval, plan.promoted, plan.demoted,
                   moved.promoted_bytes - promoted_before_, moved.demoted_bytes - demoted_before_};
  promoted_before_ = moved.promoted_bytes;
  demoted_before_ = moved.demoted_bytes;
  history_.decided(snapshot_.interval.seq, plan);
  tell_pins(plan);
  if (balance_.planned(plan)) spend();
  planned_promote_bytes_ += plan.promoted;
  planned_demote_bytes_ += plan.demoted;
  for (const policy::Stayed& here : plan.stayed) {
    stayed_[here.node].no_gain_bytes += here.no_gain;
    stayed_[here.node].no_room_bytes += here.no_room;
  }
  spdlog::debug(
      "interval pid={} seq={} regions={} samples={} profile_ns={} budget_ns={} "
      "planned_promote_bytes={} planned_demote_bytes={} promoted_bytes={} "
      "demoted_bytes={} no_gain={} no_room={}",
      pid_, snapshot_.interval.seq, snapshot_.interval.nr_regions, snapshot_.interval.nr_samples,
      snapshot_.interval.profile_ns, snapshot_.interval.budget_ns, plan.promoted, plan.demoted,
      last_->promoted_bytes, last_->demoted_bytes, plan.no_gain, plan.no_room);
}

/// Once, until it fits again.
void Target::tell_pins(const policy::Plan& plan) {
  const bool did_fit = pinned_no_room_.empty();
  pinned_no_room_ = plan.pinned_no_room;
  if (!did_fit) return;
  for (const auto& [node, bytes] : pinned_no_room_)
    spdlog::warn(
        "pins without room pid={} comm={} tier={} bytes={} hint=\"more is pinned to it than fits; "
        "see 'hmkctl status'\"",
        pid_, printable_word(process_.comm), tier_of_node(tiers_, node) + 1, bytes);
}

void Target::move(const policy::Plan& plan, const Surroundings& around) {
  if (is_putting_back_) return send_back(around);
  if (mode() == Mode::track_only) return;
  if (mode() == Mode::manage) return start_moves(plan, around);
  mover_.set_how(how_to_move(plan, around.machine));
  check(mover_.rehearse(plan));
}

/// What the last attempt has left, once that has ended.
void Target::send_back(const Surroundings& around) {
  if (mover_.is_busy()) return;
  const policy::Plan plan =
      policy::put_back(balance_.ledger().displaced(), tier_views(around), to_views(parts()));
  if (plan.promotions.empty() && plan.demotions.empty()) return;
  history_.decided(snapshot_.interval.seq, plan);
  start_moves(plan, around);
}

void Target::start_moves(const policy::Plan& plan, const Surroundings& around) {
  mover_.set_how(how_to_move(plan, around.machine));
  mover_.set_pace(&around.pace);
  mover_.set_cache_room(around.cache_room);
  check(mover_.start(plan, tier_nodes(), snapshot_.interval.seq));
}

/// Memory that all processes see may have huge pages by other rules, and those who map it as well
/// would lose their entries: private memory only. All of it: 2 MiB of which a part were missing
/// would be forgotten.
std::vector<policy::RegionView> Target::join_views() const {
  std::vector<policy::RegionView> views;
  for (const hmk_record& record : parts()) {
    if (record.kind != HMK_KIND_ANON) continue;
    views.push_back(to_view(record));
    views.back().movable = !mover_.is_moving(record.start, record.length);
  }
  return views;
}

/// The records tell what was there when it was counted, and MADV_COLLAPSE fills what the program
/// has given back since.
bool Target::is_there(const policy::Join& join, const policy::Plan& plan) {
  const auto meets = [&](const policy::Move& move) {
    return move.start < join.start + policy::kHuge && join.start < move.start + move.length;
  };
  if (std::ranges::any_of(plan.promotions, meets) || std::ranges::any_of(plan.demotions, meets))
    return false;
  const auto places = device().places(join.start, policy::kHuge);
  return places && std::ranges::all_of(*places, [&](int node) { return node == join.node; });
}

void Target::join(const policy::Plan& plan, const Surroundings& around) {
  const Config& config = *config_;
  const hmk_interval& interval = snapshot_.interval;
  if (!config.join_huge || mode() != Mode::manage || is_putting_back_ || around.is_short_of_memory)
    return joiner_.rest(interval.seq);
  const policy::Measured measured = balance_.plans_by();
  const std::vector<policy::TierView> tiers = tier_views(around);
  const double intervals = std::min(horizon_for(config, interval.seq), measured.horizon);
  const double seconds = seconds_of(interval);
  joiner_.step(join_views(),
               {.root = around.root,
                .terms = {.seq = interval.seq,
                          .horizon_s = intervals * seconds,
                          .scale = measured.scale,
                          .ns_per_page = static_cast<double>(page_ns(config)),
                          .tiers = tiers},
                .resident = interval.resident_pages * HMK_PAGE_SIZE,
                .is_there = [&](const policy::Join& one) { return is_there(one, plan); }});
}

/// Private memory as well as join_views(): what others map stays. Whole regions: of one whose pages
/// differ the cold ones cannot be named.
std::vector<policy::RegionView> Target::last_tier_views() const {
  std::vector<policy::RegionView> views;
  if (tiers_.empty()) return views;
  const std::vector<int>& last = tiers_.back().nodes;
  for (const hmk_record& record : snapshot_.records) {
    if (record.kind != HMK_KIND_ANON || std::ranges::find(last, record.node) == last.end())
      continue;
    views.push_back(to_view(record));
    views.back().movable = !mover_.is_moving(record.start, record.length);
  }
  return policy::set_apart(views, pinned_);
}

void Target::page_out(const Surroundings& around) {
  const Config& config = *config_;
  if (!config.page_out) return pager_.rest();
  const hmk_interval& interval = snapshot_.interval;
  pager_.step(
      last_tier_views(),
      {.root = around.root,
       .interval = {.now_s = static_cast<double>(interval.end_ns) / 1e9,
                    .seconds = seconds_of(interval),
                    .after_s = std::chrono::duration<double>(config.page_out_after).count()},
       .refaults_per_s = config.page_out_refaults / 60.,
       .acts = mode() == Mode::manage && !is_putting_back_});
}

/// By the curve between the two nodes of what is hottest; 0 where it was not calibrated. Nobody
/// tells how much bandwidth the program needs: half of what there is. No more than two threads run
/// beside the program's own, if there are CPUs for them.
std::uint32_t Target::calibrated_copy_threads(const policy::Plan& plan,
                                              const Machine& machine) const {
  if (plan.promotions.empty()) return 0;
  const policy::Move& hottest = plan.promotions.front();
  const auto in = machine.moves.find({hottest.from, hottest.to}),
             out = machine.moves.find({hottest.to, hottest.from});
  const auto slow = machine.nodes.find(hottest.from);
  if (in == machine.moves.end() || out == machine.moves.end() || slow == machine.nodes.end())
    return 0;
  CopyCurve curve{.in_bw = in->second.copy_bw,
                  .out_bw = out->second.copy_bw,
                  .max_out = std::ranges::max(out->second.copy_bw)};
  for (const auto& [home, access] : slow->second.seen_from)
    curve.max_in = std::max(curve.max_in, static_cast<double>(access.bandwidth_mib) * (1 << 20));
  unsigned cpus = 0;
  for (const auto& [id, node] : machine.nodes)
    if (homes_.nodes().empty() || homes_.nodes().contains(id))
      cpus += static_cast<unsigned>(node.cpus.size());
  const hmk_interval& interval = snapshot_.interval;
  return choose_copy_threads({.in_bytes = static_cast<double>(plan.promoted),
                              .out_bytes = static_cast<double>(plan.demoted),
                              .compute_s = seconds_of(interval),
                              .compute_bw = std::min(curve.max_in, curve.max_out) / 2,
                              .threads = busy_threads_,
                              .max_threads = std::min(cpus, busy_threads_ + 2)},
                             curve)
      .copy_threads;
}

MoveHow Target::how_to_move(const policy::Plan& plan, const Machine& machine) {
  const bool paired = has_feature(session_.info, HMK_FEAT_MOVE_PAIRED);
  if (config_->copy_threads != 0 && !has_feature(session_.info, HMK_FEAT_COPY_THREADS) &&
      !std::exchange(has_told_threads_, true))
    spdlog::warn("copy_threads is ignored pid={} reason=\"{}\"", pid_,
                 session_.instead.empty() ? "this hmk.ko does not know it" : "no hmk.ko copies");
  return {
      to_move_flags(*config_) | (paired ? HMK_MOVE_PAIRED : 0),
      config_->copy_threads != 0 ? config_->copy_threads : calibrated_copy_threads(plan, machine)};
}

TierNodes Target::tier_nodes() const {
  TierNodes nodes;
  for (const Tier& tier : tiers_) nodes.push_back(tier.nodes);
  return nodes;
}

void Target::check(const Result<void>& moved) {
  if (moved || moved.error().err == ESRCH) return;  // it has ended; the event is on its way
  spdlog::warn("moves dropped pid={} reason=\"{}\"", pid_, moved.error().line());
}

const std::map<int, std::uint64_t>& Target::resident(const std::filesystem::path& root) {
  if (!resident_) {
    if (snapshot_.interval.resident_pages * HMK_PAGE_SIZE <= Joiner::kMostWalked)
      resident_ = read_resident(root, pid_);
    if (!resident_) {  // large, not allowed or just gone: what the module has counted
      resident_.emplace();
      for (const hmk_record& record : snapshot_.records)
        (*resident_)[record.node] += std::uint64_t{record.resident_pages} * HMK_PAGE_SIZE;
    }
  }
  return *resident_;
}

}  // namespace hmk
