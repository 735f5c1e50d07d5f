// SPDX-License-Identifier: MIT
//
// Kinds of memory (HMK_KIND_*) whose pages are refused because others map them: without `shared` a
// database's buffer pool, and all of a program that has just forked. Where most of a kind is
// refused, its regions take no part, but for one that is tried from time to time: else room would
// be made for each of them in turn, and stay empty.
//
//   if (kinds.ended(kind, moved, shared, seq)) mover.abandon();
//   if (kinds.is_doubted(kind)) ...            none of it moves, or one region if may_try()
#pragma once

#include <array>
#include <cstdint>

namespace hmk {

class Kinds {
 public:
  static constexpr std::uint64_t kKnown = 512;  // pages that tell something

  /// Of pages of a kind that were to move by a plan from interval `seq`: how many did, and how many
  /// were refused as shared. Returns whether the kind is doubted from now on.
  bool ended(unsigned kind, std::uint64_t moved, std::uint64_t shared, std::uint64_t seq);
  bool is_doubted(unsigned kind) const;
  /// Of a kind that is doubted: whether one of its regions may be tried at interval `seq`.
  bool may_try(unsigned kind, std::uint64_t seq) const;

 private:
  static constexpr std::size_t kKinds = 8;
  struct Kind {
    std::uint64_t moved = 0, shared = 0;  // pages, since it was last sure
    std::uint64_t until = 0;              // last interval in which none is tried
    unsigned failures = 0;
    bool is_doubted = false;
  };
  std::array<Kind, kKinds> kinds_;
};

}  // namespace hmk
