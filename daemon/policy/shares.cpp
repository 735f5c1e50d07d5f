// SPDX-License-Identifier: MIT
#include "policy/shares.hpp"

#include <algorithm>
#include <map>

namespace hmk::policy {
namespace {

std::int64_t signed_bound(Bytes bytes) {
  return static_cast<std::int64_t>(std::min(bytes, kNoBound));
}

Bytes at_least_zero(std::int64_t bytes) {
  return static_cast<Bytes>(std::max<std::int64_t>(bytes, 0));
}

Bytes at(const std::vector<Bytes>& values, std::size_t index, Bytes otherwise) {
  return index < values.size() ? values[index] : otherwise;
}

std::uint64_t weight_of(const Claimant& claimant) {
  return std::max(claimant.weight, 1u);
}

Bytes part_of(Bytes whole, std::uint64_t weight, std::uint64_t all) {
  return static_cast<Bytes>(static_cast<unsigned __int128>(whole) * weight / all);
}

}  // namespace

std::vector<Bytes> divide(Bytes whole, std::span<const Claimant> claimants, std::size_t tier) {
  std::vector<Bytes> parts(claimants.size());
  std::vector<bool> settled(claimants.size(), false);
  const auto cap = [&](std::size_t i) { return at(claimants[i].cap, tier, kNoBound); };
  const auto floor = [&](std::size_t i) {
    return std::min(at(claimants[i].floor, tier, 0), cap(i));
  };
  // Whose part is out of its bounds gets the bound, and the others divide the rest anew. Floors
  // first: they make the parts of the others smaller, caps make them larger.
  for (bool again = true; again;) {
    again = false;
    std::uint64_t weights = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!settled[i]) weights += weight_of(claimants[i]);
    const Bytes rest = whole;
    for (const bool floors : {true, false}) {
      for (std::size_t i = 0; i < parts.size() && (floors || !again); ++i) {
        if (settled[i]) continue;
        parts[i] = part_of(rest, weight_of(claimants[i]), weights);
        if (floors ? parts[i] >= floor(i) : parts[i] <= cap(i)) continue;
        parts[i] = floors ? std::min(floor(i), whole) : cap(i);
        whole -= parts[i];
        settled[i] = again = true;
      }
    }
  }
  return parts;
}

Shares::Shares(std::vector<Claimant> claimants, const Room& room, Bytes limit, bool by_weight)
    : left_(limit) {
  for (const Claimant& claimant : claimants) join(claimant, room.size());
  by_weight_ = by_weight && owners_.size() > 1;
  std::uint64_t weights = 0;
  for (const Owner& owner : owners_) weights += owner.weight;
  for (Owner& owner : owners_) owner.limit = part_of(limit, owner.weight, weights);
  divide_all(claimants, room);
  // Who has more already, by a cap that is new, may keep it up and exchange.
  for (Owner& owner : owners_)
    for (std::size_t tier = 0; tier < owner.held.size(); ++tier)
      owner.cap[tier] = std::max(owner.cap[tier], owner.held[tier]);
}

/// A process becomes an owner, or one more of its group.
void Shares::join(const Claimant& claimant, std::size_t places) {
  auto owner = std::ranges::find_if(
      owners_, [&](const Owner& known) { return claimant.group && known.group == claimant.group; });
  if (owner == owners_.end()) {
    const std::vector<std::int64_t> nothing(places + 1, 0);
    owners_.push_back(
        {claimant.group, std::max(claimant.weight, 1u), 0, nothing, nothing, nothing, nothing});
    owner = owners_.end() - 1;
  }
  Process& process = processes_.emplace_back(Process{
      static_cast<std::size_t>(owner - owners_.begin()), claimant.promote_limit, claimant.tiers});
  for (auto place = static_cast<std::uint32_t>(process.tiers.size()); place < places; ++place)
    process.tiers.push_back(place);
  for (std::size_t place = 0; place < places; ++place)
    owner->held[process.tiers[place]] += signed_bound(at(claimant.held, place, 0));
  for (std::size_t tier = 0; tier <= places; ++tier) {
    owner->cap[tier] = std::max(owner->cap[tier], signed_bound(at(claimant.cap, tier, kNoBound)));
    owner->floor[tier] = std::max(owner->floor[tier], signed_bound(at(claimant.floor, tier, 0)));
  }
}

/// Of a group whose processes have a place in different tiers, the fastest.
std::uint32_t Shares::tier_of(std::size_t owner, std::size_t place) const {
  std::uint32_t tier = ~0u;
  for (const Process& process : processes_)
    if (process.owner == owner) tier = std::min(tier, process.tiers[place]);
  return tier;
}

/// What is divided at once are the places that are of one tier for everybody. Whose tier is more
/// than that has of its floor in each part as its number of places says.
void Shares::divide_all(std::span<const Claimant> claimants, const Room& room) {
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> parts;  // by everybody's tier
  std::vector<std::map<std::uint32_t, std::uint64_t>> places_of(owners_.size());  // by tier
  for (std::size_t place = 0; place < room.size(); ++place) {
    std::vector<std::uint32_t> tiers;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      tiers.push_back(tier_of(i, place));
      ++places_of[i][tiers.back()];
    }
    parts[tiers].push_back(place);
  }
  for (const auto& [tiers, places] : parts) {
    std::int64_t free = 0;
    Bytes held = 0;
    for (const std::size_t place : places) {
      free += room[place];
      for (const Claimant& claimant : claimants) held += at(claimant.held, place, 0);
    }
    std::vector<Claimant> here;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      const auto floor = static_cast<Bytes>(owners_[i].floor[tiers[i]]);
      here.push_back({.weight = owners_[i].weight,
                      .cap = {static_cast<Bytes>(owners_[i].cap[tiers[i]])},
                      .floor = {part_of(floor, places.size(), places_of[i][tiers[i]])}});
    }
    const std::vector<Bytes> divided = divide(at_least_zero(free) + held, here, 0);
    for (std::size_t i = 0; i < owners_.size(); ++i)
      owners_[i].entitled[tiers[i]] += signed_bound(divided[i]);
  }
}

Bytes Shares::limit(std::size_t who, Stage stage) const {
  if (stage == Stage::kPinned) return left_;
  return std::min(
      {left_, processes_[who].own, stage == Stage::kRemainder ? left_ : owner_of(who).limit});
}

Bytes Shares::growth(std::size_t who, std::size_t place, Stage stage) const {
  const Owner& o = owner_of(who);
  const std::uint32_t tier = processes_[who].tiers[place];
  const std::int64_t bound =
      stage == Stage::kEntitled ? std::min(o.entitled[tier], o.cap[tier]) : o.cap[tier];
  return at_least_zero(bound - o.held[tier]);
}

bool Shares::may_hold(std::size_t who, std::size_t place, Bytes arrives,
                      std::int64_t leaves) const {
  const Owner& o = owner_of(who);
  const std::uint32_t tier = processes_[who].tiers[place];
  return o.cap[tier] - o.held[tier] + leaves >= signed_bound(arrives);
}

Claim Shares::claim(std::size_t taker, std::size_t owner, std::size_t place, Stage stage) const {
  if (are_one(taker, owner)) return {};
  const Owner& other = owner_of(owner);
  const std::uint32_t tier = processes_[owner].tiers[place];
  const Bytes spare = at_least_zero(other.held[tier] - other.floor[tier]);
  if (stage == Stage::kPinned) return {Claim::Of::kAny, spare};
  if (!by_weight_) return {Claim::Of::kColder, spare};
  const std::int64_t above = other.held[tier] - other.entitled[tier];
  if (above <= 0) return {Claim::Of::kIdle, spare};
  return {stage == Stage::kEntitled ? Claim::Of::kAny : Claim::Of::kColder,
          std::min(spare, at_least_zero(above))};
}

void Shares::moved(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives) {
  Owner& o = owner_of(who);
  o.held[processes_[who].tiers[from]] -= signed_bound(leaves);
  o.held[processes_[who].tiers[to]] += signed_bound(arrives);
}

void Shares::undo(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives) {
  Owner& o = owner_of(who);
  o.held[processes_[who].tiers[from]] += signed_bound(leaves);
  o.held[processes_[who].tiers[to]] -= signed_bound(arrives);
}

void Shares::spend(std::size_t who, Bytes bytes, Stage stage) {
  left_ -= std::min(left_, bytes);
  Process& process = processes_[who];
  process.own -= std::min(process.own, bytes);
  Owner& o = owner_of(who);
  if (stage != Stage::kRemainder) o.limit -= std::min(o.limit, bytes);
}

}  // namespace hmk::policy
