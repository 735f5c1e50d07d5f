// SPDX-License-Identifier: MIT
//
// What was found, as a table for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "machine/possible.hpp"
#include "machine/system.hpp"

namespace hmk::sim {

/// First touch, the best static placement and the best that is possible are known of every question.
struct Compared {
  Answer first_touch, best_static;
  Possible best;
  std::vector<Answer> answers;  // of the systems asked for
};

/// One object per system, the same for the same question, to the byte.
nlohmann::ordered_json to_json(const Question& question, const Compared& found);

/// A line for each system of `list`, all of one scenario.
void print_table(const nlohmann::ordered_json& list);

}  // namespace hmk::sim
