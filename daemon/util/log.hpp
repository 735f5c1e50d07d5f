// SPDX-License-Identifier: MIT
//
// Log lines for an operator: key=value, the failing thing first, the hint last.
// error = someone must act, warn = degraded but running, info = a state changed
// (never once per interval), debug = each decision with its numbers.
//
//   spdlog::info("attached pid={} comm={}", pid, printable_word(comm));
#pragma once

#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <string_view>

namespace hmk {

/// To stderr, each message as one line (util/printable.hpp). Under systemd (JOURNAL_STREAM names
/// stderr) the journal stamps the time itself and reads the priority from a "<N>" prefix.
void open_log(std::string_view level);

/// `heard` gets each warning and error that is logged, as long as what is returned lives.
std::shared_ptr<void> hear_warnings(std::function<void(std::string_view text)> heard);

/// True for the names `log_level:` takes.
bool is_log_level(std::string_view level);

}  // namespace hmk
