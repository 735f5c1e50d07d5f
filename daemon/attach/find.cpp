// SPDX-License-Identifier: MIT
#include "attach/find.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "topology/process.hpp"
#include "util/fd.hpp"
#include "util/file.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

/// "0::/system.slice/redis.service\n" -> "/system.slice/redis.service"
std::string cgroup_path(const std::string& text) {
  const std::size_t at = ("\n" + text).find("\n0::");
  if (at == std::string::npos) return "";
  return text.substr(at + 3, text.find('\n', at) - at - 3);
}

/// The program may have been replaced on disk since it began: a package's upgrade.
std::string program_path(const fs::path& link) {
  std::error_code failed;
  std::string path = fs::read_symlink(link, failed);
  if (failed) return "";
  constexpr std::string_view kGone = " (deleted)";
  if (path.ends_with(kGone)) path.resize(path.size() - kGone.size());
  return path;
}

/// What is behind the first 4 KiB tells programs apart no more, and may be megabytes.
std::string command_line(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> bytes{};
  const ssize_t got = fd ? ::read(fd.get(), bytes.data(), bytes.size()) : 0;
  std::string line(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (line.ends_with('\0')) line.pop_back();
  std::ranges::replace(line, '\0', ' ');
  return line;
}

/// "Uid:\treal\teffective\t..." -> effective
std::optional<uid_t> effective_user(const std::string& status) {
  std::size_t at = status.find("\nUid:\t");
  if (at != status.npos) at = status.find('\t', at + 6);
  if (at == status.npos) return std::nullopt;
  uid_t user = 0;
  const auto [end, wrong] =
      std::from_chars(status.data() + at + 1, status.data() + status.size(), user);
  return wrong == std::errc{} ? std::optional(user) : std::nullopt;
}

/// "size resident shared ..." in pages
std::uint64_t resident_bytes(const std::string& statm) {
  std::uint64_t pages = 0;
  const std::size_t at = statm.find(' ');
  if (at != statm.npos) std::from_chars(statm.data() + at + 1, statm.data() + statm.size(), pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<Candidate> read_candidate(const fs::path& root, std::int32_t pid,
                                        const Needs& needs) {
  std::optional<Birth> birth = read_birth(root, pid);
  if (!birth) return std::nullopt;
  Candidate process{pid, birth->parent, birth->start_time, std::move(birth->comm), "", "", ""};
  const fs::path dir = root / "proc" / std::to_string(pid);
  if (needs.cgroup) process.cgroup = cgroup_path(read_text(dir / "cgroup").value_or(""));
  if (needs.exe) process.exe = program_path(dir / "exe");
  if (needs.cmdline) process.cmdline = command_line(dir / "cmdline");
  if (needs.user) process.user = effective_user(read_text(dir / "status").value_or(""));
  if (needs.size) process.resident_bytes = resident_bytes(read_text(dir / "statm").value_or(""));
  return process;
}

std::vector<Candidate> read_candidates(const fs::path& root, const std::set<std::int32_t>& pids,
                                       const Needs& needs) {
  std::vector<Candidate> found;
  for (const std::int32_t pid : pids)
    if (std::optional<Candidate> one = read_candidate(root, pid, needs))
      found.push_back(*std::move(one));
  return found;
}

std::vector<Candidate> list_processes(const fs::path& root, const Needs& needs) {
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
  return read_candidates(root, pids, needs);
}

RuleByPid find_wanted(const std::vector<Candidate>& processes, const std::vector<AttachRule>& rules,
                      const RuleByPid& managed) {
  RuleByPid wanted;
  for (const Candidate& process : processes) {
    const auto rule =
        std::ranges::find_if(rules, [&](auto& r) { return !r.excludes && names(r, process); });
    if (rule != rules.end() && !is_excluded(rules, process)) wanted.emplace(process.pid, *rule);
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
      if (!wanted.contains(process.pid) && !is_excluded(rules, process))
        if (const AttachRule* const rule = rule_of_parent(process))
          is_new = wanted.emplace(process.pid, AttachRule(*rule)).second;
  }
  return wanted;
}

}  // namespace hmk
