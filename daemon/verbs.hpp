// SPDX-License-Identifier: MIT
//
// The verbs of the control socket: checks what the client sent, then asks App.
#pragma once

#include <nlohmann/json.hpp>

#include "control/server.hpp"

namespace hmk {

class App;

/// Never throws: whatever a client sends becomes an answer or a refusal.
nlohmann::json run_verb(App& app, const Request& request);

/// The pages of `GET`: /metrics, and no other. Never throws.
Server::Page run_page(App& app, const std::string& path);

}  // namespace hmk
