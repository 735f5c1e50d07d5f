// SPDX-License-Identifier: MIT
//
// The verbs of the control socket: checks what the client sent, then asks App.
#pragma once

#include <nlohmann/json.hpp>

#include "control/protocol.hpp"

namespace hmk {

class App;

/// Never throws: whatever a client sends becomes an answer or a refusal.
nlohmann::json run_verb(App& app, const Request& request);

}  // namespace hmk
