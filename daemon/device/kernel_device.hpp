// SPDX-License-Identifier: MIT
//
// The Device that talks to hmk.ko. Closing it ends the session: nothing else is
// needed to leave the process as it was.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.hpp"

namespace hmk {

/// Whether the module is there and of our ABI, and what this kernel can do.
Result<hmk_info> probe_kernel(const std::string& path);

/// Open `path`, bind to `pid`, start the interval clock and map the table. Each
/// refusal names the thing, the place and the remedy.
Result<Session> attach_kernel(const std::string& path, std::int32_t pid, const hmk_params& params);

/// `params` without what this kernel lacks and what is done without it: dense reading.
hmk_params params_for(const hmk_info& info, hmk_params params);

/// Whether `error` says that the module is not there at all.
bool is_missing(const Error& error);

/// What an errno of ATTACH means for `pid`, said to an operator.
Error explain_attach(int err, std::int32_t pid);

}  // namespace hmk
