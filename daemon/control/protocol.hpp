// SPDX-License-Identifier: MIT
//
// The control protocol: one JSON object per line, a request and its answer.
//
//   -> {"verb": "set", "args": {"key": "mode", "value": "manage"}}
//   <- {"ok": true, "data": {...}}
//   <- {"ok": false, "error": {"kind": "usage", "what": "...", "remedy": "..."}}
//
// An error that the kernel gave has its number, too: "errno".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/peer.hpp"
#include "util/result.hpp"

namespace hmk {

inline constexpr std::size_t kFrameBytes = 64UL * 1024;  ///< longest request, newline included
inline constexpr int kMaxDepth = 32;                     ///< of nested brackets

struct Request {
  std::string verb;
  nlohmann::json args = nlohmann::json::object();
  Peer peer = {};            ///< who asks
  std::uint64_t client = 0;  ///< its connection, never used again; 0: none
};

/// Depth is checked before parsing: the parser takes 10^5 brackets and the
/// stack overflows later, when such a value is copied or printed.
Result<Request> parse_request(std::string_view line);

nlohmann::json answer(nlohmann::json data);
/// `kind` is "usage" (exit code 2 of hmkctl) or "failed" (1).
nlohmann::json refusal(std::string_view kind, const Error& error);

/// One line with its newline; bytes that are no UTF-8 are replaced, never thrown at.
std::string to_line(const nlohmann::json& value);

}  // namespace hmk
