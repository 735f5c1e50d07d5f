// SPDX-License-Identifier: MIT
#include "target.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "calibrated_copy.hpp"
#include "config/pins.hpp"
#include "config/whom.hpp"
#include "device/features.hpp"
#include "page_classes.hpp"
#include "params.hpp"
#include "policy/foresee.hpp"
#include "policy/pieces.hpp"
#include "policy/put_back.hpp"
#include "record/mappings.hpp"
#include "region_views.hpp"
#include "tier_views.hpp"
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

}  // namespace

Target::Target(std::int32_t pid, ProcessInfo process, Session session,
               std::shared_ptr<const Config> config)
    : pid_(pid),
      process_(std::move(process)),
      session_(std::move(session)),
      config_(std::move(config)),
      mover_(*session_.device),
      movable_(mover_),
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
  const std::optional<unsigned> kind = movable_.ended(move, result);
  if (!kind) return;
  has_new_doubt_ = true;
  spdlog::info(
      "left where it is pid={} comm={} memory={} reason=\"other processes map it, too\" "
      "hint=\"shared: yes moves such memory\"",
      pid_, printable_word(process_.comm), *kind == HMK_KIND_SHMEM ? "shared" : "private");
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
  std::erase_if(records, [&](const hmk_record& one) { return !movable_.may_move(one); });
  const auto maps = read_text(around.root / "proc" / std::to_string(pid_) / "maps");
  const auto wanted =
      follower_->wanted(parse_mappings(maps.value_or("")), snapshot_.interval.end_ns);
  const Misplaced found =
      misplaced(records, policy::joined(pinned_, wanted), tier_nodes(tiers_), most);
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
  return misplaced(records, pinned_, tier_nodes(tiers_), most).extents;
}

std::vector<Presence> Target::pins_there() const {
  return presence_of(snapshot_.records, pinned_, tier_nodes(tiers_), config_->pins.size());
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

void Target::configure(std::shared_ptr<const Config> config) {
  const auto before = std::exchange(config_, std::move(config));
  if (mode() != Mode::manage) stop_moves();
  if (before->pins != config_->pins) {
    stop_moves();
    pinned_.clear();  // by number of a pin
    has_new_pins_ = true;
  }
  if (before->move_shared != config_->move_shared) movable_.forget_kinds();
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
  movable_.saw(snapshot_, parts_);
  mover_.forget_ended_before(snapshot_.counted_ns);
  resident_.reset();
  history_.saw(snapshot_);
  look_around(around);
  look_at_pins(around);
  std::vector<policy::RegionView> regions;
  if (!parts_.empty() || !shared_mappings_.empty()) regions = to_views(snapshot_.records);
  share(around, regions);
  const std::vector<policy::RegionView>& parts = part_views(&stayed_, around);
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
  policy::name_told(plan.promotions, told_);
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
  policy::name_told(plan.promotions, told_);
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
  if (has_new_pins || lags || ranked_nodes(tiers_) != ranked_nodes_)
    rank(part_views(nullptr, around));
}

void Target::prepare_at_once(const Surroundings& around) {
  order_tiers(around);
  rank(part_views(nullptr, around));
}

void Target::order_tiers(const Surroundings& around) {
  tiers_ =
      hmk::order_tiers(around.machine, {homes_.nodes(), process_.mems_allowed, config_->tiers});
}

/// What is pinned or left alone is set apart.
const std::vector<policy::RegionView>& Target::part_views(Movable::Stayed* stayed,
                                                          const Surroundings& around) {
  to_views(parts(), part_views_);
  movable_.mark(part_views_, tiers_, stayed);
  set_apart_ = pinned_.empty() ? movable_.apart() : policy::joined(pinned_, movable_.apart());
  if (around.shared != nullptr) around.shared->apply(pid_, part_views_);
  return part_views_;
}

std::vector<policy::TierView> Target::tier_views(const Surroundings& around) const {
  return hmk::tier_views(tiers_, around.machine, *config_,
                         around.cache_room == nullptr ? CacheIs::in_use : CacheIs::room);
}

/// As they were measured, but for what the program says of them; empty: it says nothing.
std::vector<policy::RegionView> Target::foreseen(
    std::span<const policy::RegionView> regions) const {
  if (told_.empty()) return {};
  const policy::Measured measured = balance_.plans_by();
  const double intervals =
      std::min(horizon_for(*config_, snapshot_.interval.seq), measured.horizon);
  std::vector<policy::RegionView> all =
      policy::foresee(regions, told_, intervals * seconds_of(snapshot_.interval), measured.scale);
  for (policy::RegionView& piece : all)
    if (const policy::Expectation* const of =
            policy::range_in(std::span(told_), piece.start, policy::end_of(piece));
        !piece.movable && of != nullptr && of->passes > 0)
      piece.movable = movable_.may_move_unread(piece);
  return all;
}

/// What is pinned or left alone takes no part: it neither makes room nor competes.
void Target::rank(const std::vector<policy::RegionView>& measured) {
  const std::vector<policy::NodeId> nodes = ranked_nodes(tiers_);
  const policy::Histogram::Shape shape{config_->buckets, snapshot_.interval.hotness_max};
  if (nodes != ranked_nodes_ || shape.buckets != shape_.buckets ||
      shape.hotness_max != shape_.hotness_max) {
    ranking_.reset(shape, nodes);
    shape_ = shape;
    ranked_nodes_ = nodes;
  }
  const auto process = static_cast<policy::ProcessId>(pid_);
  told_ = foretold_.expected(snapshot_.interval.seq);
  const std::vector<policy::RegionView> foreseen = this->foreseen(measured);
  const std::vector<policy::RegionView>& regions = foreseen.empty() ? measured : foreseen;
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
  check(mover_.start(plan, tier_nodes(tiers_), snapshot_.interval.seq));
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

/// Of all private memory: 2 MiB of which a part were missing would be forgotten.
void Target::join(const policy::Plan& plan, const Surroundings& around) {
  const Config& config = *config_;
  const hmk_interval& interval = snapshot_.interval;
  if (!config.join_huge || mode() != Mode::manage || is_putting_back_ || around.is_short_of_memory)
    return joiner_.rest(interval.seq);
  const policy::Measured measured = balance_.plans_by();
  const std::vector<policy::TierView> tiers = tier_views(around);
  const double intervals = std::min(horizon_for(config, interval.seq), measured.horizon);
  const double seconds = seconds_of(interval);
  joiner_.step(movable_.private_views(parts()),
               {.root = around.root,
                .terms = {.seq = interval.seq,
                          .horizon_s = intervals * seconds,
                          .scale = measured.scale,
                          .ns_per_page = static_cast<double>(page_ns(config)),
                          .tiers = tiers},
                .resident = interval.resident_pages * HMK_PAGE_SIZE,
                .is_there = [&](const policy::Join& one) { return is_there(one, plan); }});
}

/// Whole regions: of one whose pages differ the cold ones cannot be named.
std::vector<policy::RegionView> Target::last_tier_views() const {
  if (tiers_.empty()) return {};
  std::vector<policy::RegionView> views = movable_.private_views(snapshot_.records);
  const std::vector<int>& last = tiers_.back().nodes;
  std::erase_if(views, [&](const policy::RegionView& view) {
    return std::ranges::find(last, view.node) == last.end();
  });
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

MoveHow Target::how_to_move(const policy::Plan& plan, const Machine& machine) {
  const bool paired = has_feature(session_.info, HMK_FEAT_MOVE_PAIRED);
  if (config_->copy_threads != 0 && !has_feature(session_.info, HMK_FEAT_COPY_THREADS) &&
      !std::exchange(has_told_threads_, true))
    spdlog::warn("copy_threads is ignored pid={} reason=\"{}\"", pid_,
                 session_.instead.empty() ? "this hmk.ko does not know it" : "no hmk.ko copies");
  return {to_move_flags(*config_) | (paired ? HMK_MOVE_PAIRED : 0),
          config_->copy_threads != 0
              ? config_->copy_threads
              : calibrated_copy_threads(plan, machine,
                                        {.homes = homes_.nodes(),
                                         .seconds = seconds_of(snapshot_.interval),
                                         .threads = busy_threads_})};
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
