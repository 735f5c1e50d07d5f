// SPDX-License-Identifier: MIT
//
// One request to hmkd over its control socket.
//
//   Reply reply = ask("/run/hmk/control.sock", "status", {});
//   if (reply.exit_code == 0) show(reply.data);
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hmkctl {

enum Exit : int { kOk = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

struct Reply {
  int exit_code = kOk;
  std::string problem;  ///< one line: thing, place, remedy; empty when exit_code is 0
  nlohmann::json data;
};

/// Connects, asks, waits at most ten seconds and closes.
Reply ask(const std::string& socket_path, const std::string& verb, const nlohmann::json& args);

}  // namespace hmkctl
