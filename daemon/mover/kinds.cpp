// SPDX-License-Identifier: MIT
#include "mover/kinds.hpp"

#include "mover/pause.hpp"

namespace hmk {

bool Kinds::ended(unsigned kind, std::uint64_t moved, std::uint64_t shared, std::uint64_t seq) {
  if (kind >= kKinds) return false;
  Kind& of = kinds_[kind];
  of.moved += moved;
  of.shared += shared;
  if (of.moved + of.shared < kKnown) return false;
  const bool refuses = of.shared > of.moved, was_doubted = of.is_doubted;
  of.moved = of.shared = 0;
  of.is_doubted = refuses;
  if (!refuses) {
    of.failures = 0;
    return false;
  }
  // What else of the same plan ends after it says nothing new.
  if (seq > of.until || !was_doubted) of.until = seq + pause_after(of.failures++);
  return !was_doubted;
}

bool Kinds::is_doubted(unsigned kind) const {
  return kind < kKinds && kinds_[kind].is_doubted;
}

bool Kinds::may_try(unsigned kind, std::uint64_t seq) const {
  return kind < kKinds && seq > kinds_[kind].until;
}

}  // namespace hmk
