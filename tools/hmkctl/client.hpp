// SPDX-License-Identifier: MIT
//
// One request to hmkd over its control socket.
//
//   Reply reply = ask("/run/hmk/control.sock", "status", {});
//   if (reply.exit_code == 0) show(reply.data);
//
// Or several over one connection, where hmkd must know that the client is still there:
//
//   Connection held("/run/hmk/control.sock");
//   Reply reply = held.ask("hold", {{"pid", 4711}, {"mode", "track-only"}});
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "util/fd.hpp"
#include "util/result.hpp"

namespace hmkctl {

enum Exit : int { kOk = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

struct Reply {
  int exit_code = kOk;
  hmk::Error problem;  ///< empty when exit_code is 0; of several lines what has one each
  nlohmann::json data = {};
};

class Connection {
 public:
  explicit Connection(std::string socket_path) : path_(std::move(socket_path)) {}
  /// Connects at the first; waits at most ten seconds.
  Reply ask(const std::string& verb, const nlohmann::json& args);
  /// What hmkd sends by itself, however long that takes; nothing once the connection has ended.
  std::optional<nlohmann::json> next();
  /// What else it sends, in bytes, behind `bytes`: as much as there is. Waits so long at most.
  enum class Came { bytes, nothing, end };
  Came receive(std::string& bytes, std::chrono::milliseconds limit);

 private:
  std::string path_, rest_;  ///< rest_: was received behind the last line
  hmk::Fd fd_;
};

/// Connects, asks, waits at most ten seconds and closes.
Reply ask(const std::string& socket_path, const std::string& verb, const nlohmann::json& args);

}  // namespace hmkctl
