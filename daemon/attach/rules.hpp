// SPDX-License-Identifier: MIT
//
// Which processes to manage: the words of `attach:` in the config.
//
//   const Result<AttachRule> rule = parse_rule("unit=redis.service");
//   names(*rule, process)
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace hmk {

struct AttachRule {
  enum class Kind {
    pid,      ///< this process, when the rule is taken over
    comm,     ///< the name of the command, as ps -o comm shows it; * and ? stand for others
    cgroup,   ///< this control group or one below it
    unit,     ///< a systemd unit; * and ? stand for others
    exe,      ///< the path of the program; * and ? stand for others, slashes included
    cmdline,  ///< the command line, its words joined by spaces; * and ? stand for others
    user      ///< the effective user, by name or UID
  };
  Kind kind = Kind::pid;
  std::string text;               ///< without the kind
  bool children = false;          ///< and all that descend from it while it is managed
  bool excludes = false;          ///< "not": no rule takes what this one names
  std::uint64_t min_size = 0;     ///< bytes; only once so much of it is resident
  std::optional<uid_t> uid = {};  ///< of a user who was known when the rule was read

  bool operator==(const AttachRule&) const = default;
};

/// What a rule looks at; what no rule asks for is left empty.
struct Candidate {
  std::int32_t pid = 0, parent = 0;
  std::uint64_t start_time = 0;
  std::string comm;
  std::string cgroup;   ///< "/system.slice/redis.service"
  std::string exe;      ///< "/usr/bin/redis-server"
  std::string cmdline;  ///< its first 4 KiB
  std::optional<uid_t> user = {};
  std::uint64_t resident_bytes = 0;
};

/// Which files of a process its rules ask for.
struct Needs {
  bool cgroup = false, exe = false, cmdline = false, user = false, size = false;
};
Needs needs_of(const std::vector<AttachRule>& rules);

/// "4711", "comm=redis-server", "cgroup=/user.slice", "unit=redis.service", "exe=/usr/bin/redis*",
/// "cmdline=*kafka*" or "user=redis"; perhaps "not " before it, or "+children" and
/// "+min-size=1GiB" behind it.
Result<AttachRule> parse_rule(std::string_view word);
std::string to_string(const AttachRule& rule);
AttachRule rule_of_pid(std::int32_t pid);
/// 0 when it is a rule of another kind.
std::int32_t pid_of(const AttachRule& rule);

/// Whether the rule names this process, whatever its size. A rule of a PID names nobody here: a
/// number that comes again is another process.
bool names(const AttachRule& rule, const Candidate& process);
/// Whether one of the rules is a "not" that names it.
bool is_excluded(const std::vector<AttachRule>& rules, const Candidate& process);

}  // namespace hmk
