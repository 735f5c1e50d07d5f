// SPDX-License-Identifier: MIT
//
// A recording (hmkctl record) as a scenario: each recorded interval is a world whose regions
// are accessed as often as their hotness says. Hot is what had half of all scans or more.
//
//   Replay replay = make_replay("run.hmkrec");   throws std::runtime_error with one line
#pragma once

#include <string>

#include "scenario.hpp"

namespace hmk::sim {

struct Replay {
  Scenario scenario;
  double interval_s = 0;  // as recorded, the mean
  unsigned num_scans = 0;
};

Replay make_replay(const std::string& path);

}  // namespace hmk::sim
