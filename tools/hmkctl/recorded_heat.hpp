// SPDX-License-Identifier: MIT
//
// The heat of a recorded program in at most 32 windows of time; the recording is read twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "frames.hpp"
#include "heat_pieces.hpp"

namespace hmkctl {

/// Fails where the recording cannot be read, has no rates, or nothing was accessed in it.
hmk::Result<HeatPieces> recorded_heat(const std::string& file, const Frames& frames);

/// What a move of 4 KiB took on that machine, or 2 us.
double recorded_page_ns(const hmk::RecordedMachine& machine);

/// What every answer about a recording tells of it: pid, comm, intervals and time_ns.
nlohmann::json about(const Frames& frames, const HeatPieces& heat);

}  // namespace hmkctl
