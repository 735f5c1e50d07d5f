// SPDX-License-Identifier: MIT
#include "attach/find.hpp"

#include <algorithm>
#include <charconv>

#include "topology/process.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

/// "0::/system.slice/redis.service\n" -> "/system.slice/redis.service"
std::string cgroup_path(const std::string& text) {
  const std::size_t at = ("\n" + text).find("\n0::");
  if (at == std::string::npos) return "";
  return text.substr(at + 3, text.find('\n', at) - at - 3);
}

}  // namespace

std::optional<Candidate> read_candidate(const fs::path& root, std::int32_t pid, bool with_cgroup) {
  std::optional<Birth> birth = read_birth(root, pid);
  if (!birth) return std::nullopt;
  std::string cgroup;
  if (with_cgroup)
    cgroup = cgroup_path(read_text(root / "proc" / std::to_string(pid) / "cgroup").value_or(""));
  return Candidate{pid, birth->parent, birth->start_time, std::move(birth->comm),
                   std::move(cgroup)};
}

std::vector<Candidate> read_candidates(const fs::path& root, const std::set<std::int32_t>& pids,
                                       bool with_cgroup) {
  std::vector<Candidate> found;
  for (const std::int32_t pid : pids)
    if (std::optional<Candidate> one = read_candidate(root, pid, with_cgroup))
      found.push_back(*std::move(one));
  return found;
}

std::vector<Candidate> list_processes(const fs::path& root, bool with_cgroup) {
  std::set<std::int32_t> pids;
  std::error_code failed;
  fs::directory_iterator entry(root / "proc", failed);
  for (; !failed && entry != fs::directory_iterator{}; entry.increment(failed)) {
    const std::string name = entry->path().filename();
    std::int32_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc{} || end != name.data() + name.size()) continue;
    pids.insert(pid);
  }
  return read_candidates(root, pids, with_cgroup);
}

RuleByPid find_wanted(const std::vector<Candidate>& processes, const std::vector<AttachRule>& rules,
                      const RuleByPid& managed) {
  RuleByPid wanted;
  for (const Candidate& process : processes) {
    const auto rule = std::ranges::find_if(rules, [&](auto& r) { return names(r, process); });
    if (rule != rules.end()) wanted.emplace(process.pid, *rule);
  }
  const auto rule_of_parent = [&](const Candidate& process) -> const AttachRule* {
    for (const RuleByPid* const known : {&managed, static_cast<const RuleByPid*>(&wanted)})
      if (const auto parent = known->find(process.parent);
          parent != known->end() && parent->second.children)
        return &parent->second;
    return nullptr;
  };
  // A generation a round: PIDs wrap around, so a child may come before its parent.
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const Candidate& process : processes)
      if (!wanted.contains(process.pid))
        if (const AttachRule* const rule = rule_of_parent(process))
          is_new = wanted.emplace(process.pid, AttachRule(*rule)).second;
  }
  return wanted;
}

}  // namespace hmk
