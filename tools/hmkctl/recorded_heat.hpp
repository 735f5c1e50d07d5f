// SPDX-License-Identifier: MIT
//
// The heat of a recorded program in at most 32 windows of time; the recording is read twice.
#pragma once

#include <string>

#include "frames.hpp"
#include "heat_pieces.hpp"

namespace hmkctl {

/// Fails where the recording cannot be read, has no rates, or nothing was accessed in it.
hmk::Result<HeatPieces> recorded_heat(const std::string& file, const Frames& frames);

}  // namespace hmkctl
