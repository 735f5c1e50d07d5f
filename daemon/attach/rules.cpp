// SPDX-License-Identifier: MIT
#include "attach/rules.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>

#include "util/glob.hpp"
#include "util/printable.hpp"
#include "util/suggest.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

using Kind = AttachRule::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds{
    {{"comm=", Kind::comm},
     {"cgroup=", Kind::cgroup},
     {"unit=", Kind::unit},
     {"exe=", Kind::exe},
     {"cmdline=", Kind::cmdline},
     {"user=", Kind::user},
     {"", Kind::pid}}};  // last: every word begins so
constexpr std::string_view kNot = "not ", kChildren = "+children", kMinSize = "+min-size=";
constexpr std::size_t kLongestComm = 15;  // the kernel cuts names there
constexpr std::uint64_t kMaxPid = 4'194'304, kMostSize = 1ull << 44;
constexpr const char* kAllKinds =
    "use a PID, comm=NAME, unit=NAME.service, cgroup=/PATH, exe=/PATH, cmdline=TEXT or user=NAME";

bool is_below(std::string_view path, std::string_view group) {
  while (group.ends_with('/')) group.remove_suffix(1);
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '/');
}

/// A unit is one of the groups on the way to the process's own.
bool is_in_unit(std::string_view path, std::string_view unit) {
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (is_like(unit, path.substr(0, slash))) return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

Error unclear(std::string_view word, const std::string& what, const std::string& remedy) {
  return {"'" + printable(word) + "' " + what, remedy};
}

/// What was meant by a word of no kind: a kind that is misspelt, or a name alone.
std::string meant_by(std::string_view text) {
  std::vector<std::string_view> names;  // without their sign
  for (const auto& [word, kind] : kKinds)
    if (!word.empty()) names.push_back(word.substr(0, word.size() - 1));
  const std::size_t sign = text.find('=');
  const std::string_view near =
      sign == text.npos ? std::string_view() : nearest(text.substr(0, sign), names);
  if (!near.empty())
    return "did you mean '" + std::string(near) + printable(text.substr(sign)) + "'?";
  const bool is_number = text.find_first_not_of("0123456789") == text.npos;
  if (sign != text.npos || is_number || text.empty()) return kAllKinds;
  const bool is_path = text.front() == '/';
  return std::string("did you mean '") + (is_path ? "exe=" : "comm=") + printable(text) + "'?";
}

/// A suffix that is nearly one of ours, rather than a part of a name.
std::string misspelt_suffix(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kSuffixes{"+children", "+min-size"};
  const std::size_t plus = text.rfind('+');
  if (plus == text.npos) return "";
  const std::string_view word = text.substr(plus, text.find('=', plus) - plus);
  return word.size() < 4 ? "" : did_you_mean(word, kSuffixes);
}

Result<void> take_min_size(AttachRule& rule, std::string_view size, std::string_view word) {
  const Result<std::uint64_t> bytes = parse_size(size);
  if (!bytes) return bytes.error();
  if (*bytes == 0 || *bytes > kMostSize)
    return unclear(word, "has no possible size", "use 1B .. 16TiB");
  rule.min_size = *bytes;
  return {};
}

/// Takes "+children" and "+min-size=SIZE" off the end of `text`, each once.
Result<void> take_suffixes(AttachRule& rule, std::string_view& text, std::string_view word) {
  for (;;) {
    if (!rule.children && text.ends_with(kChildren)) {
      rule.children = true;
      text.remove_suffix(kChildren.size());
      continue;
    }
    const std::size_t at = text.rfind(kMinSize);
    if (rule.min_size != 0 || at == text.npos) return {};
    if (Result<void> done = take_min_size(rule, text.substr(at + kMinSize.size()), word); !done)
      return done;
    text = text.substr(0, at);
  }
}

std::optional<uid_t> find_user(const std::string& name) {
  if (const Result<std::uint64_t> number = parse_count(name); number && *number <= 4'294'967'294)
    return static_cast<uid_t>(*number);
  const passwd* const found = ::getpwnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  return found->pw_uid;
}

Result<void> check(const AttachRule& rule, std::string_view word) {
  if (word.find(',') != word.npos || printable(word) != word)
    return unclear(word, "has a comma or a character that cannot be shown in it",
                   "write ? for that character");
  if (rule.text.empty()) return unclear(word, "names no process", kAllKinds);
  if (const std::string meant = misspelt_suffix(rule.text); !meant.empty())
    return unclear(word, "ends with an unknown suffix", meant);
  if (rule.kind == Kind::pid && pid_of(rule) == 0)
    return unclear(word, "names no process", meant_by(rule.text));
  if (rule.kind == Kind::cgroup && !rule.text.starts_with('/'))
    return unclear(word, "is no path of a control group",
                   "begin it with / as /proc/PID/cgroup does");
  if (rule.kind == Kind::exe && !rule.text.starts_with('/') && !rule.text.starts_with('*'))
    return unclear(word, "is no path of a program", "begin it with / or *");
  if (rule.kind == Kind::pid && rule.min_size != 0)
    return unclear(word, "asks one process for its size", "name the PID alone");
  if (rule.excludes && (rule.kind == Kind::pid || rule.children || rule.min_size != 0))
    return unclear(word, "excludes by PID or with a suffix",
                   "leave the suffix out; to leave one process, use 'hmkctl detach PID'");
  return {};
}

}  // namespace

Needs needs_of(const std::vector<AttachRule>& rules) {
  const auto has = [&](auto is) { return std::ranges::any_of(rules, is); };
  const auto has_kind = [&](Kind kind) { return has([=](auto& r) { return r.kind == kind; }); };
  return {.cgroup = has_kind(Kind::cgroup) || has_kind(Kind::unit),
          .exe = has_kind(Kind::exe),
          .cmdline = has_kind(Kind::cmdline),
          .user = has_kind(Kind::user),
          .size = has([](auto& r) { return r.min_size != 0; })};
}

Result<AttachRule> parse_rule(std::string_view word) {
  AttachRule rule;
  std::string_view text = word;
  if (text.starts_with(kNot)) {
    rule.excludes = true;
    text.remove_prefix(kNot.size());
  }
  if (Result<void> done = take_suffixes(rule, text, word); !done) return done.error();
  const auto* const known =
      std::ranges::find_if(kKinds, [&](const auto& kind) { return text.starts_with(kind.first); });
  rule.kind = known->second;
  rule.text = text.substr(known->first.size());
  if (Result<void> done = check(rule, word); !done) return done.error();
  if (rule.kind == Kind::user) rule.uid = find_user(rule.text);
  return rule;
}

std::string to_string(const AttachRule& rule) {
  const auto* const known =
      std::ranges::find(kKinds, rule.kind, [](const auto& kind) { return kind.second; });
  return std::string(rule.excludes ? kNot : "") + std::string(known->first) + rule.text +
         std::string(rule.children ? kChildren : "") +
         (rule.min_size != 0 ? std::string(kMinSize) + format_size(rule.min_size) : "");
}

AttachRule rule_of_pid(std::int32_t pid) {
  AttachRule rule;
  rule.text = std::to_string(pid);
  return rule;
}

std::int32_t pid_of(const AttachRule& rule) {
  if (rule.kind != Kind::pid) return 0;
  const Result<std::uint64_t> pid = parse_count(rule.text);
  return pid && *pid <= kMaxPid ? static_cast<std::int32_t>(*pid) : 0;
}

bool names(const AttachRule& rule, const Candidate& process) {
  switch (rule.kind) {
    case Kind::pid:
      return false;
    case Kind::comm:
      return is_like(rule.text, process.comm) ||
             (rule.text.size() > kLongestComm && rule.text.substr(0, kLongestComm) == process.comm);
    case Kind::cgroup:
      return is_below(process.cgroup, rule.text);
    case Kind::unit:
      return is_in_unit(process.cgroup, rule.text);
    case Kind::exe:
      return !process.exe.empty() && is_like(rule.text, process.exe);
    case Kind::cmdline:
      return !process.cmdline.empty() && is_like(rule.text, process.cmdline);
    case Kind::user:
      return rule.uid && process.user == rule.uid;
  }
  return false;
}

bool is_excluded(const std::vector<AttachRule>& rules, const Candidate& process) {
  return std::ranges::any_of(
      rules, [&](const AttachRule& rule) { return rule.excludes && names(rule, process); });
}

}  // namespace hmk
