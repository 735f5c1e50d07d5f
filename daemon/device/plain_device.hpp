// SPDX-License-Identifier: MIT
//
// The Device of a machine without hmk.ko: a tracker of the kernel's own looks, and
// move_pages(2) moves. Degraded: where looking costs more than the budget intervals become as much
// longer, what DAMON takes is counted and not held to it, a move blocks the process for as long as
// the kernel takes and hmkd as well, and moved pages are not copied ahead.
#pragma once

#include <cstdint>
#include <filesystem>

#include "device/device.hpp"

namespace hmk {

/// The best tracker this kernel and this user have; Session::instead names it.
Result<Session> attach_plain(const std::filesystem::path& root, std::int32_t pid,
                             const hmk_params& params);

}  // namespace hmk
