// SPDX-License-Identifier: MIT
//
// What programs say of their memory, where that lies and how much came true, as `hmkctl labels`
// shows it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "target.hpp"

namespace hmk {

/// A row for each label of each process that says anything.
nlohmann::json report_labels(const std::vector<Target*>& targets);

}  // namespace hmk
