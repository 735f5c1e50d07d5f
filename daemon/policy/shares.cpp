// SPDX-License-Identifier: MIT
#include "policy/shares.hpp"

#include <algorithm>

namespace hmk::policy {
namespace {

std::int64_t signed_bound(Bytes bytes) {
  return static_cast<std::int64_t>(std::min(bytes, kNoBound));
}

Bytes at_least_zero(std::int64_t bytes) {
  return static_cast<Bytes>(std::max<std::int64_t>(bytes, 0));
}

Bytes at(const std::vector<Bytes>& by_place, std::size_t place, Bytes otherwise) {
  return place < by_place.size() ? by_place[place] : otherwise;
}

std::uint64_t weight_of(const Claimant& claimant) {
  return std::max(claimant.weight, 1u);
}

Bytes part_of(Bytes whole, std::uint64_t weight, std::uint64_t all) {
  return static_cast<Bytes>(static_cast<unsigned __int128>(whole) * weight / all);
}

}  // namespace

std::vector<Bytes> divide(Bytes whole, std::span<const Claimant> claimants, std::size_t place) {
  std::vector<Bytes> parts(claimants.size());
  std::vector<bool> settled(claimants.size(), false);
  const auto cap = [&](std::size_t i) { return at(claimants[i].cap, place, kNoBound); };
  const auto floor = [&](std::size_t i) {
    return std::min(at(claimants[i].floor, place, 0), cap(i));
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
    : left_(limit), by_weight_(by_weight && claimants.size() > 1) {
  std::uint64_t weights = 0;
  for (const Claimant& claimant : claimants) weights += weight_of(claimant);
  for (const Claimant& claimant : claimants)
    owners_.push_back(
        {part_of(limit, weight_of(claimant), weights), claimant.promote_limit, {}, {}, {}, {}});
  for (std::size_t place = 0; place < room.size(); ++place) {
    Bytes whole = at_least_zero(room[place]);
    for (const Claimant& claimant : claimants) whole += at(claimant.held, place, 0);
    const std::vector<Bytes> parts = divide(whole, claimants, place);
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      owners_[i].held.push_back(signed_bound(at(claimants[i].held, place, 0)));
      // Who has more already, by a cap that is new, may keep it up and exchange.
      owners_[i].cap.push_back(
          std::max(signed_bound(at(claimants[i].cap, place, kNoBound)), owners_[i].held.back()));
      owners_[i].floor.push_back(signed_bound(at(claimants[i].floor, place, 0)));
      owners_[i].entitled.push_back(signed_bound(parts[i]));
    }
  }
}

Bytes Shares::limit(std::size_t who, Stage stage) const {
  const Owner& o = owners_[who];
  return std::min({left_, o.own, stage == Stage::kRemainder ? left_ : o.limit});
}

Bytes Shares::growth(std::size_t who, std::size_t place, Stage stage) const {
  const Owner& o = owners_[who];
  const std::int64_t bound = stage == Stage::kEntitled ? o.entitled[place] : o.cap[place];
  return at_least_zero(bound - o.held[place]);
}

bool Shares::may_hold(std::size_t who, std::size_t place, Bytes arrives,
                      std::int64_t leaves) const {
  const Owner& o = owners_[who];
  return o.cap[place] - o.held[place] + leaves >= signed_bound(arrives);
}

Claim Shares::claim(std::size_t taker, std::size_t owner, std::size_t place, Stage stage) const {
  if (taker == owner) return {};
  const Owner& other = owners_[owner];
  const Bytes spare = at_least_zero(other.held[place] - other.floor[place]);
  if (!by_weight_) return {Claim::Of::kColder, spare};
  const std::int64_t above = other.held[place] - other.entitled[place];
  if (above <= 0) return {Claim::Of::kIdle, spare};
  return {stage == Stage::kEntitled ? Claim::Of::kAny : Claim::Of::kColder,
          std::min(spare, at_least_zero(above))};
}

void Shares::moved(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives) {
  owners_[who].held[from] -= signed_bound(leaves);
  owners_[who].held[to] += signed_bound(arrives);
}

void Shares::undo(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives) {
  owners_[who].held[from] += signed_bound(leaves);
  owners_[who].held[to] -= signed_bound(arrives);
}

void Shares::spend(std::size_t who, Bytes bytes, Stage stage) {
  left_ -= std::min(left_, bytes);
  Owner& o = owners_[who];
  o.own -= std::min(o.own, bytes);
  if (stage != Stage::kRemainder) o.limit -= std::min(o.limit, bytes);
}

}  // namespace hmk::policy
