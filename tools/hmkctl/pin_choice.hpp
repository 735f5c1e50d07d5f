// SPDX-License-Identifier: MIT
//
// Which mappings of a recorded program, or parts of them, belong in a tier for the whole run, by
// the best placement that stays: what a person can read and write into hmkd.yaml.
//
//   const auto pins = chosen_pins({heat.pieces(), best, mappings, target}, capacity, latency);
//   const Outcome outcome = as_pinned(heat.pieces(), mappings, pins, capacity, latency);
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "demand.hpp"
#include "heat_pieces.hpp"
#include "policy/horizon.hpp"
#include "record/recording.hpp"

namespace hmkctl {

struct ChosenPin {
  hmk::Pin pin;
  double bytes = 0;     ///< resident, at most
  double accesses = 0;  ///< to them, in the whole recording
  double saves_ns = 0;  ///< compared with the slowest tier, in the whole recording
};

/// Where the memory was, how hot, and where it should stay.
struct PinSource {
  const std::vector<HeatPieces::Piece>& pieces;
  const hmk::policy::Schedule& best;
  const std::vector<hmk::RecordedMapping>& mappings;
  const hmk::RecordedTarget& target;
};

/// At most `most`, what saves most first, and nothing that saves next to nothing. A mapping of
/// which nearly all belongs in one tier is named; of others the parts are, which are addresses of
/// this process. They fit into `capacity` (bytes by tier) together; the slowest tier gets none.
std::vector<ChosenPin> chosen_pins(const PinSource& source, const std::vector<double>& capacity,
                                   const std::vector<double>& latency_ns, std::size_t most);

/// With the pins, and the rest where it came to lie by first touch.
Outcome as_pinned(const PinSource& source, const std::vector<ChosenPin>& pins,
                  std::vector<double> capacity, const std::vector<double>& latency_ns);

/// A line of a list in hmkd.yaml.
std::string yaml_item(const hmk::Pin& pin);

}  // namespace hmkctl
