// SPDX-License-Identifier: MIT
//
// What an operator did by hand and a restart must not undo. A process is its PID and its start
// time within one boot: a number that comes again is another process.
//
//   Result<OperatorState> before = read_state("/var/lib/hmk/state.json", boot_id("/"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "util/result.hpp"

namespace hmk {

struct OperatorState {
  using StartTimes = std::map<std::int32_t, std::uint64_t>;  ///< by PID
  /// A plan that a process follows; begun by the module's clock, 0: not yet.
  struct Following {
    std::uint64_t start_time = 0, begun_ns = 0;
    bool operator==(const Following&) const = default;
  };
  using Plans = std::map<std::int32_t, Following>;  ///< by PID
  bool is_paused = false;
  StartTimes attached, detached;  ///< by hand
  Plans plans = {};

  bool operator==(const OperatorState&) const = default;
};

/// Tells this boot from others; empty where the kernel does not say.
std::string boot_id(const std::filesystem::path& root);

std::string state_text(const OperatorState& state, const std::string& boot);

/// Nothing where there is no file. Of another boot only the pause is kept. An error where it is
/// not what hmkd has written: of another user, of a newer version, or damaged.
Result<OperatorState> read_state(const std::filesystem::path& path, const std::string& boot);

}  // namespace hmk
