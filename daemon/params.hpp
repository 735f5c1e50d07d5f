// SPDX-License-Identifier: MIT
//
// The config's profiling keys in the module's units.
#pragma once

#include <linux/hmk.h>

#include "config/config.hpp"

namespace hmk {

/// Every profiling key, with its mask bit set.
hmk_params to_params(const Config& config);

/// How moves are made: HMK_MOVE_* flags.
std::uint32_t to_move_flags(const Config& config);

/// Only those that differ from `old`; mask 0 when none does.
hmk_params changed_params(const Config& now, const Config& old);

}  // namespace hmk
