// SPDX-License-Identifier: MIT
//
// Who of several processes may use how much of each tier and of promote_limit,
// by weights, caps and floors. Alone, a process may use everything up to its cap.
//
//   Shares shares(claimants, room, limit, true);
//   shares.growth(0, place, Shares::Stage::kEntitled)   bytes it may gain there
//
// A process is entitled to its weight's part of what all of them hold in a tier
// and what is free there, no less than its floor, no more than its cap. Below that
// it takes from those above theirs, however hot what they lose; from the others
// only what they do not use. What nobody claims anyone may have.
// Processes of a group are one in all of this, and take from each other as from themselves.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

/// Bytes a place could still take: free minus reserve, minus what the plan puts
/// there, plus what it takes away. Negative: eating into the reserve.
using Room = std::vector<std::int64_t>;  // by place: a node

inline constexpr Bytes kNoBound = std::numeric_limits<Bytes>::max() / 4;

/// What one process brings to the division.
struct Claimant {
  std::uint32_t weight = 1;                 // 0 acts as 1
  Bytes promote_limit = kNoBound;           // of its own
  std::vector<Bytes> held = {};             // by place; shorter: nothing
  std::vector<Bytes> cap = {};              // by tier; shorter: kNoBound; 0 where it may not be
  std::vector<Bytes> floor = {};            // by tier; shorter: nothing; a cap below it wins
  std::vector<std::uint32_t> tiers = {};    // by place, from 0 without gaps; none: each its own
  std::optional<std::uint32_t> group = {};  // weight, cap and floor are the same in all of it
};

/// `whole` divided by weight so that nobody gets less than its floor or more than its cap
/// where that can be; `tier` says which cap and floor.
std::vector<Bytes> divide(Bytes whole, std::span<const Claimant> claimants, std::size_t tier);

/// What may be taken of one process's regions in a place.
struct Claim {
  enum class Of { kColder, kIdle, kAny };  // than the riser; without accesses; for the weights
  Of of = Of::kColder;
  Bytes at_most = kNoBound;
};

class Shares {
 public:
  /// What is pinned comes first. The rest of a plan is made in stages when weights count.
  enum class Stage {
    kPinned,     // what is pinned, out of all of the limit: others keep their floors
    kEntitled,   // what each is entitled to and lacks, out of its part of the limit
    kOwnLimit,   // anything, out of its part of the limit
    kRemainder,  // anything, out of what others did not use
  };

  Shares(std::vector<Claimant> claimants, const Room& room, Bytes limit, bool by_weight);

  bool by_weight() const { return by_weight_; }
  /// Whether both are the same process, or of one group.
  bool are_one(std::size_t a, std::size_t b) const {
    return processes_[a].owner == processes_[b].owner;
  }
  /// Of promote_limit, for this process at this stage.
  Bytes limit(std::size_t who, Stage stage) const;
  /// How much more it may hold in the tier that a place belongs to for it.
  Bytes growth(std::size_t who, std::size_t place, Stage stage) const;
  /// Whether its cap lets `arrives` bytes in when `leaves` others go.
  bool may_hold(std::size_t who, std::size_t place, Bytes arrives, std::int64_t leaves) const;
  /// What a promotion of `taker` may take from `owner`; of its own, anything colder.
  Claim claim(std::size_t taker, std::size_t owner, std::size_t place, Stage stage) const;

  /// A region of `who` moves: so much leaves one place, so much arrives in the other.
  void moved(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives);
  /// Takes a moved() back.
  void undo(std::size_t who, std::size_t from, Bytes leaves, std::size_t to, Bytes arrives);
  void spend(std::size_t who, Bytes bytes, Stage stage);

 private:
  // A process, or a group.
  struct Owner {
    std::optional<std::uint32_t> group;
    std::uint32_t weight;
    Bytes limit = 0;                                            // its part of promote_limit
    std::vector<std::int64_t> held, entitled, cap, floor = {};  // by tier
  };
  struct Process {
    std::size_t owner;
    Bytes own;                         // its own promote_limit
    std::vector<std::uint32_t> tiers;  // by place
  };
  void join(const Claimant& claimant, std::size_t places);
  void divide_all(std::span<const Claimant> claimants, const Room& room);
  std::uint32_t tier_of(std::size_t owner, std::size_t place) const;
  const Owner& owner_of(std::size_t who) const { return owners_[processes_[who].owner]; }
  Owner& owner_of(std::size_t who) { return owners_[processes_[who].owner]; }

  std::vector<Process> processes_;
  std::vector<Owner> owners_;
  Bytes left_;  // of promote_limit, over all
  bool by_weight_;
};

}  // namespace hmk::policy
