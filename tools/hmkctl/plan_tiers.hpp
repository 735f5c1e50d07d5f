// SPDX-License-Identifier: MIT
//
// What is answered about a recorded program and its tiers: rows of the answer and their tables.
#pragma once

#include <stdexcept>
#include <vector>

#include "plan_input.hpp"
#include "table.hpp"
#include "verb.hpp"

namespace hmkctl {

/// The memory does not fit into the tiers, as best_of() says.
int fail_to_fit(const Context& context, const std::invalid_argument& problem);

/// Shows how far it is.
hmk::policy::Schedule best_of(const hmk::policy::Forecast& forecast);

/// Rows of the answer, and how they are shown. A placement has `of_best_percent` of `bound_ns`.
nlohmann::json tier_rows(const std::vector<PlanTier>& tiers);
nlohmann::json placement_row(const char* name, nlohmann::json row, double bound_ns);
/// Without what its moves took; null without accesses to known tiers, and where it had more of a
/// tier than there is to be.
nlohmann::json as_recorded_row(const PlanInput& input);
nlohmann::json outcome_row(const Outcome& outcome);
const Table& tier_table();
const Table& placement_table();

}  // namespace hmkctl
