// SPDX-License-Identifier: MIT
#include "policy/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "policy/demote.hpp"
#include "policy/gain.hpp"
#include "policy/pinned.hpp"
#include "policy/rank.hpp"
#include "policy/shares.hpp"

namespace hmk::policy {
namespace {

using Id = Histogram::Id;
using Entry = Histogram::Entry;

// After so many candidates of one list in a row without a place, the rest of it is left alone.
constexpr std::uint32_t kMostMisses = 64;
// Rates rise with WHI, within an octave where they are told by other means than windows.
constexpr std::int32_t kRateMargin = 256;
constexpr std::int32_t kNoRate = std::numeric_limits<std::int16_t>::max();
// A tier that is nearly full takes part of a region only when the part is worth a move.
constexpr Bytes kWorthAMove = Bytes{2} << 20;

/// The tiers whose nodes the histogram knows.
std::vector<TierView> known_of(const Histogram& histogram, std::span<const TierView> tiers) {
  std::vector<TierView> known;
  std::uint32_t number = 0, last = 0;  // of tiers
  for (const TierView& tier : tiers) {
    number += !tier.joins;
    bool is_known = false;
    for (std::uint32_t n = 0; n < histogram.nodes(); ++n)
      is_known |= histogram.node(n) == tier.node;
    if (!is_known) continue;
    known.push_back(tier);
    known.back().joins = known.size() > 1 && number == last;
    last = number;
  }
  return known;
}

/// Risers that found no victim in a tier. Victims only get hotter as a stage goes on, so what is no
/// hotter and no better known than one of these does not search. (A search looks at kMostPassedOver
/// victims, and the next might see others: so it is for one of 2000 random machines.)
class InVain {
 public:
  bool covers(const Heat& riser) const { return riser.whi_q16 <= hottest_[known(riser)]; }
  void add(const Heat& riser) {
    for (std::size_t less = 0; less <= known(riser); ++less)
      hottest_[less] = std::max(hottest_[less], riser.whi_q16);
  }

 private:
  static std::size_t known(const Heat& riser) {
    return 63u - std::min(riser.rate_dev_q8 / 32u, 63u);
  }

  std::array<HotnessQ16, 64> hottest_{};  // known so well or better; 0: none
};

class Planner {
 public:
  Planner(std::span<const ProcessView> processes, const PolicyParams& params)
      : params_(params), processes_(processes), shares_(make_shares(processes)) {}

  std::vector<Plan> run() {
    take_pinned(false);  // makes room for what rises
    take_pinned(true);
    if (shares_.by_weight()) {
      run(Stage::kEntitled);
      run(Stage::kOwnLimit);
    }
    run(Stage::kRemainder);
    std::vector<Plan> plans;
    for (Owner& owner : owners_) plans.push_back(std::move(owner.plan));
    return plans;
  }

 private:
  using Stage = Shares::Stage;
  enum class Outcome { kTaken, kNoGain, kNoRoom, kNoBudget };

  /// One process, the number of its holder and of its shares.
  struct Owner {
    const Histogram& histogram;
    std::uint64_t margin_q16;
    GainModel model;
    Plan plan;
    std::vector<InVain> in_vain;     // by node of its list
    std::int32_t rate_q8 = kNoRate;  // no region of this bucket or a lower one has more
  };

  /// The regions of one process and node in the bucket at hand.
  struct List {
    std::size_t owner;
    std::uint32_t from;
    Shortlist ids;
    std::uint32_t misses = 0;
  };

  /// Fills owners, holders and room: the nodes that any process has in its tiers are places here.
  Shares make_shares(std::span<const ProcessView> processes) {
    std::vector<NodeId> nodes;  // by place
    std::vector<Claimant> claimants;
    for (const ProcessView& process : processes) {
      const Histogram& histogram = *process.histogram;
      const std::vector<TierView> tiers = known_of(histogram, process.tiers);
      std::vector<std::uint32_t> places;
      for (const TierView& tier : tiers) {
        const auto known = std::ranges::find(nodes, tier.node);
        places.push_back(static_cast<std::uint32_t>(known - nodes.begin()));
        if (known != nodes.end()) continue;
        nodes.push_back(tier.node);
        room_.push_back(static_cast<std::int64_t>(tier.free) -
                        static_cast<std::int64_t>(tier.reserve));
      }
      owners_.push_back({histogram,
                         std::uint64_t{histogram.width_q16()} * params_.gain_margin,
                         GainModel(tiers, params_, process.measured),
                         {},
                         {},
                         kNoRate});
      holders_.emplace_back(histogram, tiers, std::move(places), params_.turn);
    }
    for (std::size_t i = 0; i < processes.size(); ++i)
      claimants.push_back(claimant_of(processes[i], holders_[i]));
    return {std::move(claimants), room_, params_.promote_limit, params_.shares_by_weight};
  }

  Claimant claimant_of(const ProcessView& process, const Holder& holder) const {
    constexpr std::uint32_t kNone = ~0u;
    Claimant claimant{.weight = process.weight,
                      .promote_limit = process.promote_limit,
                      .held = std::vector<Bytes>(room_.size(), 0),
                      .tiers = std::vector<std::uint32_t>(room_.size(), kNone),
                      .group = process.group};
    for (std::uint32_t n = 0; n < holder.places.size(); ++n) {
      const std::uint32_t place = holder.places[n], tier = holder.order.tier(n);
      claimant.tiers[place] = tier;
      if (n < process.held.size()) claimant.held[place] = process.held[n];
      claimant.cap.resize(tier + 1, kNoBound);
      claimant.floor.resize(tier + 1, 0);
      if (tier < process.cap.size()) claimant.cap[tier] = process.cap[tier];
      if (tier < process.floor.size()) claimant.floor[tier] = process.floor[tier];
    }
    // Places outside of its tiers are a tier of which it may have nothing.
    std::ranges::replace(claimant.tiers, kNone, static_cast<std::uint32_t>(claimant.cap.size()));
    claimant.cap.push_back(0);
    claimant.floor.push_back(0);
    return claimant;
  }

  void take_pinned(bool rises) {
    for (std::size_t index = 0; index < processes_.size(); ++index) {
      const TierOrder& order = holders_[index].order;
      for (const Ledger::Displaced& what : processes_[index].pinned) {
        const auto first = order.find(what.first), now = order.find(what.now);
        if (!first || !now || (*first < *now) != rises) continue;
        const Bytes limit = rises ? shares_.limit(index, Stage::kPinned) : what.bytes;
        const auto most = first_part(what, limit);
        if (!most) continue;  // with a later interval
        const auto move = move_pinned(holders_, index, *most, room_, shares_);
        if (move) take(index, *move);
        const Bytes left = most->bytes - (move ? move->what.bytes : 0);
        if (left != 0) owners_[index].plan.pinned_no_room[what.first] += left;
      }
    }
  }

  void take(std::size_t index, const PinnedMove& pinned) {
    Plan& plan = owners_[index].plan;
    const ProcessId process = processes_[index].process;
    const auto serves = static_cast<std::uint32_t>(plan.promotions.size());
    const ProcessId served = pinned.rises ? process : kNobody;
    for (const RoomMade::Victim& victim : pinned.made.victims)
      demote(victim, served, serves, Reason::kForPin);
    (pinned.rises ? plan.promoted : plan.demoted) += pinned.what.bytes;
    (pinned.rises ? plan.promotions : plan.demotions)
        .push_back({.process = process,
                    .start = pinned.what.start,
                    .length = pinned.what.length,
                    .bytes = pinned.what.bytes,
                    .from = holders_[index].order.node(pinned.from),
                    .to = holders_[index].order.node(pinned.to),
                    .reason = Reason::kPin,
                    .leaf_shift = kLargestLeaf,
                    .served = served,
                    .serves = serves});
  }

  void run(Stage stage) {
    stage_ = stage;
    std::uint32_t buckets = 0;
    for (Owner& owner : owners_) {  // what the last stage leaves is what counts
      owner.plan.no_gain = owner.plan.no_room = 0;
      owner.plan.stayed.clear();
      owner.plan.limit_reached = false;
      owner.in_vain.assign(owner.histogram.nodes(), {});
      owner.rate_q8 = kNoRate;
      buckets = std::max(buckets, owner.histogram.buckets());
    }
    for (std::uint32_t bucket = buckets; bucket-- > 0 && !all_spent();) take_bucket(bucket);
  }

  bool is_spent(std::size_t owner) const {
    return owners_[owner].plan.limit_reached && shares_.limit(owner, stage_) < kPage;
  }
  bool all_spent() const {
    for (std::size_t owner = 0; owner < owners_.size(); ++owner)
      if (!is_spent(owner)) return false;
    return true;
  }

  /// A victim must be colder than this for something of `whi` to replace it.
  static HotnessQ16 victim_below(const Owner& owner, std::uint64_t whi_q16) {
    const std::uint64_t margin = owner.margin_q16;
    if (margin == 0) return static_cast<HotnessQ16>(whi_q16);
    return whi_q16 < margin ? 0 : static_cast<HotnessQ16>(whi_q16 - margin + 1);
  }

  /// The nodes [first, end) are a promotion for the regions of a node: whole tiers. Those of the
  /// fastest tier are gathered on their own.
  struct Destinations {
    std::uint32_t first, end;
  };
  Destinations destinations(const TierOrder& order, std::uint32_t from) const {
    if (order.tier(from) == 0) return {from, from + 1};
    const std::uint32_t end = order.first_of(from);
    return {params_.tier_by_tier ? order.first_of(end - 1) : 0, end};
  }

  Bytes room_on(const Holder& holder, std::uint32_t node) const {
    return static_cast<Bytes>(std::max<std::int64_t>(holder.room_on(node, room_), 0));
  }

  /// Buckets below this one are no hotter than what is in it.
  static void lower_rate(std::uint32_t bucket, Owner& owner) {
    if (bucket >= owner.histogram.buckets()) return;
    for (std::uint32_t column = 0; column < owner.histogram.columns(); ++column)
      owner.histogram.for_each(bucket, column, [&](Id id) {
        owner.rate_q8 = std::min(owner.rate_q8, owner.histogram[id].rate_q8 + kRateMargin);
        return false;
      });
  }

  /// Whether the hottest page that can be left would pay, in an empty tier: or all that are left
  /// would be looked at, and none moved.
  bool can_pay(std::uint32_t from, std::size_t index) const {
    const Owner& owner = owners_[index];
    const auto [first, end] = destinations(holders_[index].order, from);
    for (std::uint32_t to = first; to < end; ++to)
      for (const bool written : {false, true}) {
        const Heat hottest{
            .whi_q16 = 1, .rate_q8 = static_cast<std::int16_t>(owner.rate_q8), .written = written};
        const std::uint32_t source = source_of(owner, from, to);
        const double cost = std::min(owner.model.cost_ns(kPage, source, to, 12),
                                     owner.model.cost_ns(kPage, source, to, 21));
        if (owner.model.saved_ns(hottest, kPage, source, to) > cost) return true;
      }
    return false;
  }

  /// Whether any node has room for, or something colder than, a region of this bucket.
  bool has_a_chance(std::uint32_t bucket, std::uint32_t from, std::size_t index) {
    const Owner& owner = owners_[index];
    const Holder& holder = holders_[index];
    const std::uint64_t hottest = bucket + 1 < owner.histogram.buckets()
                                      ? owner.histogram.lower_edge_q16(bucket + 1) - 1
                                      : ~HotnessQ16{0};
    RoomWanted wanted{.owner = index, .stage = stage_};
    wanted.victim_below_q16 = victim_below(owner, hottest);
    const auto [first, end] = destinations(holder.order, from);
    for (std::uint32_t to = first; to < end; ++to) {
      wanted.place = holder.places[to];
      const Bytes growth = shares_.growth(index, wanted.place, stage_);
      if (room_on(holder, to) > 0 && growth >= kPage) return true;
      wanted.from_others = growth;
      wanted.from_own = from_own(growth);
      if (has_victim(holders_, wanted, shares_)) return true;
    }
    return false;
  }

  /// Where a process is entitled to more it takes from others first; elsewhere, and later, it
  /// exchanges its own.
  Bytes from_own(Bytes growth) const {
    return stage_ == Stage::kEntitled && growth >= kPage ? 0 : kNoBound;
  }

  /// What of a process and node may rise.
  struct Risers {
    std::uint32_t count = 0;
    Bytes bytes = 0;
  };
  Risers risers(std::uint32_t bucket, std::uint32_t from, std::size_t index) const {
    const Histogram& histogram = owners_[index].histogram;
    const std::uint32_t column = holders_[index].columns[from];
    Risers all;
    for (const std::uint32_t of : {column, histogram.away_column(column)}) {
      if (of == column && holders_[index].order.tier(from) == 0) continue;
      all.count += histogram.count(bucket, of);
      all.bytes += histogram.resident(bucket, of);
    }
    return all;
  }

  void take_bucket(std::uint32_t bucket) {
    std::vector<List> lists;
    for (std::size_t index = 0; index < owners_.size(); ++index) {
      Owner& owner = owners_[index];
      if (bucket >= owner.histogram.buckets() || is_spent(index)) continue;
      for (std::uint32_t from = 0; from < holders_[index].order.size(); ++from) {
        const Risers all = risers(bucket, from, index);
        if (all.count == 0) continue;
        if (!can_pay(from, index) || !has_a_chance(bucket, from, index)) {
          owner.plan.no_gain += all.count;
          if (bucket > 0) stayed(index, from).no_gain += all.bytes;
          continue;
        }
        lists.push_back({index, from, shortlist(bucket, from, index)});
      }
    }
    for (Owner& owner : owners_) lower_rate(bucket, owner);
    promote_first_ones(lists);
  }

  /// All tiers and processes compete together (HK-32): the first of all lists goes first.
  void promote_first_ones(std::vector<List>& lists) {
    const auto goes_after = [this](const List* a, const List* b) {
      return promotes_before(first_of(*b), first_of(*a));
    };
    std::vector<List*> heap;
    for (List& list : lists)
      if (!list.ids.empty()) heap.push_back(&list);
    std::ranges::make_heap(heap, goes_after);
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, goes_after);
      List& list = *heap.back();
      if (!is_spent(list.owner)) {
        const Id id = list.ids.front();
        list.ids.pop();
        if (!holders_[list.owner].taken.any(id)) count(id, list, promote(id, list));
        if (!list.ids.empty() && list.misses < kMostMisses) {
          std::ranges::push_heap(heap, goes_after);
          continue;
        }
      }
      heap.pop_back();
    }
  }

  const Entry& first_of(const List& list) const {
    return owners_[list.owner].histogram[list.ids.front()];
  }

  Shortlist shortlist(std::uint32_t bucket, std::uint32_t from, std::size_t index) const {
    const Histogram& histogram = owners_[index].histogram;
    const Holder& holder = holders_[index];
    const std::uint32_t column = holder.columns[from];
    const bool gathers = holder.order.tier(from) == 0;
    Shortlist ids(histogram, promotes_before);
    if (!gathers) ids.add(bucket, column, [&](Id id) { return may_rise(histogram[id]); });
    ids.add(bucket, histogram.away_column(column), [&](Id id) {
      const auto away = gathers ? holder.order.find(histogram.away_node(id)) : std::nullopt;
      return may_rise(histogram[id]) && (!away || holder.order.tier(*away) != 0);
    });
    ids.seal();
    return ids;
  }

  bool may_rise(const Entry& region) const {
    return region.whi_q16 >= std::max<HotnessQ16>(params_.promote_at_least_q16, 1);
  }

  void count(Id id, List& list, Outcome outcome) {
    Owner& owner = owners_[list.owner];
    list.misses = outcome == Outcome::kTaken ? 0 : list.misses + 1;
    if (outcome == Outcome::kNoBudget) owner.plan.limit_reached = true;
    if (outcome == Outcome::kNoGain) {
      ++owner.plan.no_gain;
      stayed(list.owner, list.from).no_gain += owner.histogram[id].resident();
    }
    if (outcome == Outcome::kNoRoom) {
      ++owner.plan.no_room;
      stayed(list.owner, list.from).no_room += owner.histogram[id].resident();
    }
  }

  Stayed& stayed(std::size_t index, std::uint32_t from) {
    std::vector<Stayed>& all = owners_[index].plan.stayed;
    const NodeId node = holders_[index].order.node(from);
    const auto known = std::ranges::find(all, node, &Stayed::node);
    if (known != all.end()) return *known;
    all.push_back({.node = node});
    return all.back();
  }

  Outcome promote(Id id, const List& list) {
    const TierOrder& order = holders_[list.owner].order;
    Outcome outcome = Outcome::kNoGain;
    auto [first, end] = destinations(order, list.from);
    if (first == list.from) return promote_to(id, list, first);
    for (; first < end; first = order.end_of(first))
      for (const std::uint32_t to : nodes_for(id, list, first)) {
        const Outcome tried = promote_to(id, list, to);
        if (tried == Outcome::kTaken || tried == Outcome::kNoBudget) return tried;
        if (tried == Outcome::kNoRoom) outcome = tried;
      }
    return outcome;
  }

  /// The nodes of the tier that begins at `first` in the order in which a region tries them: the
  /// nearest that has room for it, then where the coldest would leave, then the others.
  std::vector<std::uint32_t> nodes_for(Id id, const List& list, std::uint32_t first) {
    Holder& holder = holders_[list.owner];
    const auto nearest = holder.order.nearest(list.from, first);
    std::vector<std::uint32_t> nodes(nearest.begin(), nearest.end());
    if (nodes.size() == 1) return nodes;
    const NodeId away = holder.histogram->away_node(id);
    std::erase_if(nodes, [&](std::uint32_t to) { return !holder.order.may_take(to, away); });
    const Bytes wanted =
        std::min((*holder.histogram)[id].resident(), shares_.limit(list.owner, stage_));
    std::ranges::stable_sort(nodes, {}, [&](std::uint32_t to) -> std::uint32_t {
      if (room_on(holder, to) >= wanted) return 0;
      const auto victim = holder.queues[to].peek(holder.taken);
      return victim ? 1 + (*holder.histogram)[*victim].bucket : ~0u;
    });
    return nodes;
  }

  Outcome promote_to(Id id, const List& list, std::uint32_t to) {
    Owner& owner = owners_[list.owner];
    const std::vector<std::uint32_t>& places = holders_[list.owner].places;
    const Entry& region = owner.histogram[id];
    const std::uint32_t from = list.from;
    const bool gathers = from == to;
    const Bytes all = gathers ? region.away() : region.resident();
    const Bytes left = shares_.limit(list.owner, stage_);

    const auto cut_to = [&](Bytes want) { return cut_for(region, all, want, params_.turn); };
    Cut cut = cut_to(left);
    if (cut.length == 0) return Outcome::kNoBudget;
    const Bytes growth = shares_.growth(list.owner, places[to], stage_);
    if (from_own(growth) == 0 && cut.bytes > growth) cut = cut_to(growth);
    const Bytes wanted = cut.bytes;
    if (gain_ns(owner, region, wanted, from, to, Lasts::here) <= 0) return Outcome::kNoGain;

    const Bytes free = std::min(room_on(holders_[list.owner], to), growth);
    RoomMade made;
    if (free < wanted && !owner.in_vain[to].covers(region.heat())) {
      made = make_room(holders_,
                       {.owner = list.owner,
                        .place = places[to],
                        .bytes = wanted,
                        .free = free,
                        .from_others = growth - free,
                        .from_own = from_own(growth),
                        .source = places[from],
                        .leaving_source = gathers ? 0 : cut.leaves,
                        .victim_below_q16 = victim_below(owner, region.whi_q16),
                        .riser = region.heat(),
                        .model = &owner.model,
                        .stage = stage_},
                       room_, shares_);
      if (made.victims.empty() && !made.nowhere) owner.in_vain[to].add(region.heat());
    }
    if (free + made.bytes < wanted) cut = cut_to(free + made.bytes);
    const bool worth = cut.bytes >= wanted / 2 || cut.bytes >= kWorthAMove;
    // What goes by weight is no race: it is worth what it saves while it is here.
    const Lasts lasts = std::ranges::all_of(made.victims, &RoomMade::Victim::by_share)
                            ? Lasts::here
                            : Lasts::beyond_others;
    const bool pays = gain_ns(owner, region, cut.bytes, from, to, lasts) > loss_ns(made, cut.bytes);
    if (cut.length == 0 || !worth || !pays || made.exchanged > cut.leaves) {
      undo_room(made, holders_, room_, shares_);
      return made.nowhere ? Outcome::kNoRoom : Outcome::kNoGain;
    }
    occupy(id, list, to, cut);
    if (processes_[list.owner].only_fills && lasts == Lasts::beyond_others)
      wait(id, list, to, cut, made);
    else
      take(id, list, to, cut, made);
    return Outcome::kTaken;
  }

  void occupy(Id id, const List& list, std::uint32_t to, const Cut& cut) {
    Holder& holder = holders_[list.owner];
    const std::uint32_t from = list.from;
    const Bytes leaves = from == to ? 0 : cut.leaves;
    holder.taken.set_all(id);
    room_[holder.places[to]] -= static_cast<std::int64_t>(cut.bytes);
    room_[holder.places[from]] += static_cast<std::int64_t>(leaves);
    shares_.spend(list.owner, cut.bytes, stage_);
    shares_.moved(list.owner, holder.places[from], leaves, holder.places[to], cut.bytes);
  }

  /// As if it were taken, so that nothing else counts the same victims.
  void wait(Id id, const List& list, std::uint32_t to, const Cut& cut, const RoomMade& made) {
    Owner& owner = owners_[list.owner];
    owner.plan.waiting += cut.bytes;
    owner.plan.waiting_ns_per_s += owner.model.saved_ns_per_s(owner.histogram[id].heat(), cut.bytes,
                                                              source_of(owner, list.from, to), to);
    for (const RoomMade::Victim& victim : made.victims) {
      const Owner& loser = owners_[victim.owner];
      owner.plan.waiting_ns_per_s += loser.model.saved_ns_per_s(
          loser.histogram[victim.id].heat(), victim.arrives, victim.from, victim.to);
    }
  }

  void take(Id id, const List& list, std::uint32_t to, const Cut& cut, const RoomMade& made) {
    Owner& owner = owners_[list.owner];
    Holder& holder = holders_[list.owner];
    const Entry& region = owner.histogram[id];
    const std::uint32_t from = list.from;
    const bool gathers = from == to;
    const Bytes bytes = cut.bytes;
    owner.plan.promoted += bytes;
    owner.plan.cut += cut.length < region.length();
    const auto serves = static_cast<std::uint32_t>(owner.plan.promotions.size());
    owner.plan.promotions.push_back({.process = region.process,
                                     .generation = region.generation,
                                     .start = region.start + cut.offset,
                                     .length = cut.length,
                                     .bytes = bytes,
                                     .page_class = static_cast<std::uint8_t>(region.page_class),
                                     .from = holder.order.node(from),
                                     .to = holder.order.node(to),
                                     .reason = gathers ? Reason::kGather : Reason::kHot,
                                     .leaf_shift = static_cast<std::uint8_t>(region.leaf_shift),
                                     .whi_q16 = region.whi_q16,
                                     .served = region.process,
                                     .serves = serves,
                                     .saved_ns_per_s = owner.model.saved_ns_per_s(
                                         region.heat(), bytes, source_of(owner, from, to), to)});
    for (const RoomMade::Victim& victim : made.victims)
      demote(victim, region.process, serves, why(victim));
  }

  static Reason why(const RoomMade::Victim& victim) {
    if (victim.by_share) return Reason::kShare;
    return victim.exchange ? Reason::kExchange : Reason::kMadeRoom;
  }

  void demote(const RoomMade::Victim& victim, ProcessId served, std::uint32_t serves,
              Reason reason) {
    Owner& owner = owners_[victim.owner];
    const TierOrder& order = holders_[victim.owner].order;
    const Entry& region = owner.histogram[victim.id];
    owner.plan.demoted += victim.arrives;
    owner.plan.demotions.push_back({.process = region.process,
                                    .generation = region.generation,
                                    .start = region.start + victim.offset,
                                    .length = victim.length,
                                    .bytes = victim.arrives,
                                    .page_class = static_cast<std::uint8_t>(region.page_class),
                                    .from = order.node(victim.from),
                                    .to = order.node(victim.to),
                                    .reason = reason,
                                    .leaf_shift = static_cast<std::uint8_t>(region.leaf_shift),
                                    .whi_q16 = region.whi_q16,
                                    .served = served,
                                    .serves = serves,
                                    .saved_ns_per_s = owner.model.saved_ns_per_s(
                                        region.heat(), victim.arrives, victim.from, victim.to)});
  }

  /// What is gathered comes from the next tier, or from further away.
  static std::uint32_t source_of(const Owner& owner, std::uint32_t from, std::uint32_t to) {
    return from == to ? owner.model.next(to) : from;
  }

  /// Without what victims lose: loss_ns().
  static double gain_ns(const Owner& owner, const Entry& region, Bytes bytes, std::uint32_t from,
                        std::uint32_t to, Lasts lasts) {
    from = source_of(owner, from, to);
    const Heat heat = region.heat();
    return owner.model.saved_ns(heat, bytes, from, to, lasts) -
           owner.model.cost_ns(bytes, from, to, heat.leaf_shift);
  }

  /// What the victims lose and cost. Refilling the reserve is not charged to the promotion, nor
  /// what another process loses of more than its share.
  double loss_ns(const RoomMade& made, Bytes promoted) const {
    double loss = 0;
    for (const RoomMade::Victim& victim : made.victims) {
      const Owner& owner = owners_[victim.owner];
      const Entry& region = owner.histogram[victim.id];
      const Heat heat = victim.by_share ? Heat{} : region.heat();
      loss -=
          owner.model.saved_ns(heat, victim.leaves, victim.from, victim.to, Lasts::beyond_others);
      loss += owner.model.cost_ns(victim.arrives, victim.from, victim.to,
                                  static_cast<std::uint8_t>(region.leaf_shift));
    }
    return made.bytes > promoted
               ? loss * static_cast<double>(promoted) / static_cast<double>(made.bytes)
               : loss;
  }

  const PolicyParams& params_;
  std::span<const ProcessView> processes_;
  std::vector<Owner> owners_;
  std::vector<Holder> holders_;  // of the same processes
  Room room_;
  Shares shares_;
  Stage stage_ = Stage::kRemainder;
};

}  // namespace

std::vector<Plan> make_plans(std::span<const ProcessView> processes, const PolicyParams& params) {
  return Planner(processes, params).run();
}

Plan make_plan(const Histogram& histogram, std::span<const TierView> tiers,
               const PolicyParams& params) {
  const ProcessView all{.histogram = &histogram, .tiers = tiers};
  return std::move(make_plans({&all, 1}, params).front());
}

Plan make_plan(std::span<const RegionView> regions, std::span<const TierView> tiers,
               const PolicyParams& params) {
  std::vector<NodeId> nodes;
  for (const TierView& tier : tiers) nodes.push_back(tier.node);
  Histogram histogram({.buckets = params.buckets, .hotness_max = params.hotness_max}, nodes);
  histogram.reserve(regions.size());
  for (const RegionView& region : regions) histogram.insert(0, region);
  return make_plan(histogram, tiers, params);
}

}  // namespace hmk::policy
