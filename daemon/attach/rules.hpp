// SPDX-License-Identifier: MIT
//
// Which processes to manage: the words of `attach:` in the config.
//
//   const Result<AttachRule> rule = parse_rule("unit=redis.service");
//   names(*rule, process)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace hmk {

struct AttachRule {
  enum class Kind {
    pid,     ///< this process, when the rule is taken over
    comm,    ///< the name of the command, as ps -o comm shows it; * and ? stand for others
    cgroup,  ///< this control group or one below it
    unit     ///< a systemd unit; * and ? stand for others
  };
  Kind kind = Kind::pid;
  std::string text;       ///< without the kind
  bool children = false;  ///< and all that descend from it while it is managed

  bool operator==(const AttachRule&) const = default;
};

/// What a rule looks at.
struct Candidate {
  std::int32_t pid = 0, parent = 0;
  std::uint64_t start_time = 0;
  std::string comm;
  std::string cgroup;  ///< "/system.slice/redis.service"
};

/// "4711", "comm=redis-server", "cgroup=/user.slice" or "unit=redis.service", each
/// perhaps with "+children" behind it.
Result<AttachRule> parse_rule(std::string_view word);
std::string to_string(const AttachRule& rule);
AttachRule rule_of_pid(std::int32_t pid);
/// 0 when it is a rule of another kind.
std::int32_t pid_of(const AttachRule& rule);

/// Whether the rule names this process. A rule of a PID names nobody here: a number
/// that comes again is another process.
bool names(const AttachRule& rule, const Candidate& process);

}  // namespace hmk
