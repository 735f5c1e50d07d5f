// SPDX-License-Identifier: MIT
#include "attach/rules.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "util/units.hpp"

namespace hmk {
namespace {

constexpr std::array<std::pair<std::string_view, AttachRule::Kind>, 4> kKinds{
    {{"comm=", AttachRule::Kind::comm},
     {"cgroup=", AttachRule::Kind::cgroup},
     {"unit=", AttachRule::Kind::unit},
     {"", AttachRule::Kind::pid}}};  // last: every word begins so
constexpr std::string_view kChildren = "+children";
constexpr std::size_t kLongestComm = 15;  // the kernel cuts names there
constexpr std::uint64_t kMaxPid = 4'194'304;

bool is_like(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool is_below(std::string_view path, std::string_view group) {
  while (group.ends_with('/')) group.remove_suffix(1);
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '/');
}

/// A unit is one of the groups on the way to the process's own.
bool is_in_unit(std::string_view path, const std::string& unit) {
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (is_like(unit, std::string(path.substr(0, slash)))) return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

}  // namespace

Result<AttachRule> parse_rule(std::string_view word) {
  AttachRule rule;
  std::string_view text = word;
  if (text.ends_with(kChildren)) {
    rule.children = true;
    text.remove_suffix(kChildren.size());
  }
  const auto* const known =
      std::ranges::find_if(kKinds, [&](const auto& kind) { return text.starts_with(kind.first); });
  rule.kind = known->second;
  rule.text = text.substr(known->first.size());
  const Error unclear{"'" + std::string(word) + "' names no process",
                      "use a PID, comm=NAME, cgroup=/PATH or unit=NAME.service"};
  if (rule.text.empty()) return unclear;
  if (rule.kind == AttachRule::Kind::cgroup && !rule.text.starts_with('/'))
    return Error{"'" + std::string(word) + "' is no path of a control group",
                 "begin it with / as /proc/PID/cgroup does"};
  if (rule.kind == AttachRule::Kind::pid && pid_of(rule) == 0) return unclear;
  return rule;
}

std::string to_string(const AttachRule& rule) {
  const auto* const known =
      std::ranges::find(kKinds, rule.kind, [](const auto& kind) { return kind.second; });
  return std::string(known->first) + rule.text + std::string(rule.children ? kChildren : "");
}

AttachRule rule_of_pid(std::int32_t pid) {
  return {AttachRule::Kind::pid, std::to_string(pid)};
}

std::int32_t pid_of(const AttachRule& rule) {
  if (rule.kind != AttachRule::Kind::pid) return 0;
  const Result<std::uint64_t> pid = parse_count(rule.text);
  return pid && *pid <= kMaxPid ? static_cast<std::int32_t>(*pid) : 0;
}

bool names(const AttachRule& rule, const Candidate& process) {
  switch (rule.kind) {
    case AttachRule::Kind::pid:
      return false;
    case AttachRule::Kind::comm:
      return is_like(rule.text, process.comm) ||
             (rule.text.size() > kLongestComm && rule.text.substr(0, kLongestComm) == process.comm);
    case AttachRule::Kind::cgroup:
      return is_below(process.cgroup, rule.text);
    case AttachRule::Kind::unit:
      return is_in_unit(process.cgroup, rule.text);
  }
  return false;
}

}  // namespace hmk
