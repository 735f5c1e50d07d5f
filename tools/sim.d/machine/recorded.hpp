// SPDX-License-Identifier: MIT
//
// What 'hmkctl record' has written, as work on the machine that it was recorded on.
//
//   Question question;
//   set_recorded(question, "run.hmkrec", {});
#pragma once

#include <string>

#include "hmkctl/plan_input.hpp"
#include "machine/system.hpp"

namespace hmk::sim {

/// A path that ends in .hmkrec, or another with a slash that does not end in .yaml.
bool is_recording(const std::string& path);

/// Sets the workload, the machine, and what a move takes where that is not set.
///
/// An operation is one access that was recorded; beside them an interval takes what they have not
/// taken of it. Memory lies where it was first seen; a tier is a node, as large as plan_input()
/// says. Of much memory each page stands for several: every cost is multiplied, here or, of keys,
/// by place(). Throws std::invalid_argument with one line.
void set_recorded(Question& question, const std::string& path, const hmkctl::TierOptions& options);

}  // namespace hmk::sim
