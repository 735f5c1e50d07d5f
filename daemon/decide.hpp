// SPDX-License-Identifier: MIT
//
// One plan over all managed processes (HK-32, A-20): what each of them saw in its
// last interval competes with what the others saw, and the moves go back to whose
// memory it is.
//
//   if (is_due(targets)) decide(targets, surroundings);
#pragma once

#include <vector>

#include "target.hpp"

namespace hmk {

/// Whether there is something new of every process, or of one of them for the second
/// time: who lags must not hold up the others, and is not waited for again.
bool is_due(const std::vector<Target*>& targets);

/// Plan from the last interval of each, and start the moves of those that may move.
void decide(const std::vector<Target*>& targets, const Surroundings& around);

/// At once, because one program says that it is about to use some of its memory: into what is free,
/// and in the place of other memory of its own. What others hold waits for decide().
void decide_at_once(Target& target, const Surroundings& around);

}  // namespace hmk
