// SPDX-License-Identifier: MIT
#include "topology/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <string_view>

#include "topology/machine.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long kExiting = 0x00000004;       // PF_EXITING of the task flags
constexpr unsigned long kKernelThread = 0x00200000;  // PF_KTHREAD

fs::path proc_dir(const fs::path& root, std::int32_t pid) {
  return root / "proc" / std::to_string(pid);
}

template <class T>
bool take_number(std::string_view text, T& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size();
}

/// Empty when there is none left.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

/// The fields of /proc/PID/stat behind the name, which may itself hold spaces
/// and brackets. The first one here is field 3 of proc(5).
struct Stat {
  std::string comm;
  std::string state;
  std::int32_t parent = 0;
  unsigned long flags = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t start_time = 0;                    // clock ticks since boot
  std::uint64_t user_ticks = 0, system_ticks = 0;  // of all threads
  int processor = -1;
};

std::optional<Stat> read_stat(const fs::path& path) {
  const auto text = read_text(path);
  const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 1);
  Stat stat;
  const std::size_t name = text->find('(') + 1;
  stat.comm = text->substr(name, name_end - name);
  for (int field = 3; field <= 39; ++field) {
    const std::string_view word = next_word(rest);
    if (field == 3) stat.state = word;
    if (field == 4) take_number(word, stat.parent);
    if (field == 9) take_number(word, stat.flags);
    if (field == 12) take_number(word, stat.major_faults);
    if (field == 14) take_number(word, stat.user_ticks);
    if (field == 15) take_number(word, stat.system_ticks);
    if (field == 22) take_number(word, stat.start_time);
    if (field == 39) take_number(word, stat.processor);
  }
  return stat;
}

bool has_ended(const Stat& stat) {
  return stat.state == "Z" || stat.state == "X" || (stat.flags & kExiting) != 0;
}

std::string status_field(const fs::path& path, const std::string& field) {
  const std::string text = "\n" + read_text(path).value_or("");
  const std::string label = "\n" + field + ":";
  const std::size_t at = text.find(label);
  if (at == text.npos) return "";
  const std::size_t from = at + label.size();
  return text.substr(from, text.find('\n', from) - from);
}

/// Calls `take` with each line.
template <class F>
void each_line(std::string_view text, F take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

/// One mapping: "7f00 default anon=9 dirty=9 N0=4 N2=5 kernelpagesize_kB=4"
void add_mapping(std::string_view line, std::map<int, std::uint64_t>& resident) {
  std::map<int, std::uint64_t> pages;
  std::uint64_t page_kb = 4;
  while (!line.empty()) {
    const std::size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(space == line.npos ? line.size() : space + 1);
    const std::size_t equals = word.find('=');
    if (equals == word.npos) continue;
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    std::uint64_t number = 0;
    int node = -1;
    if (!take_number(value, number)) continue;
    if (name == "kernelpagesize_kB") page_kb = number;
    if (name.starts_with('N') && take_number(name.substr(1), node)) pages[node] += number;
  }
  for (const auto& [node, count] : pages) resident[node] += count * page_kb * 1024;
}

}  // namespace

std::optional<Birth> read_birth(const fs::path& root, std::int32_t pid) {
  std::optional<Stat> stat = read_stat(proc_dir(root, pid) / "stat");
  if (!stat || stat->flags & kKernelThread || has_ended(*stat)) return std::nullopt;
  return Birth{stat->parent, stat->start_time, std::move(stat->comm)};
}

std::uint64_t cpu_tick_ns() {
  static const auto kTicks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return 1'000'000'000 / kTicks;
}

namespace {

std::uint64_t cpu_ns(const Stat& stat) {
  return (stat.user_ticks + stat.system_ticks) * cpu_tick_ns();
}

}  // namespace

Result<ProcessInfo> read_process(const fs::path& root, std::int32_t pid) {
  const std::string who = "PID " + std::to_string(pid);
  const auto stat = read_stat(proc_dir(root, pid) / "stat");
  if (!stat)
    return Error{who + " does not exist", "give the PID of a running process (see ps)", ESRCH};
  if (stat->flags & kKernelThread)
    return Error{who + " is a kernel thread and has no memory of its own",
                 "give the PID of an application", EINVAL};
  if (has_ended(*stat))
    return Error{who + " has ended", "give the PID of a running process", ESRCH};
  return ProcessInfo{stat->comm, stat->start_time, read_mems_allowed(root, pid), cpu_ns(*stat)};
}

void renew(ProcessInfo& process, const fs::path& root, std::int32_t pid) {
  const auto stat = read_stat(proc_dir(root, pid) / "stat");
  if (!stat || has_ended(*stat)) return;
  process.comm = stat->comm;
  process.start_time = stat->start_time;
  process.cpu_ns = cpu_ns(*stat);
}

std::set<int> read_mems_allowed(const fs::path& root, std::int32_t pid) {
  return parse_id_list(status_field(proc_dir(root, pid) / "status", "Mems_allowed_list"));
}

std::optional<Paging> read_paging(const fs::path& root, std::int32_t pid) {
  const auto stat = read_stat(proc_dir(root, pid) / "stat");
  if (!stat || has_ended(*stat)) return std::nullopt;
  const std::string status = read_text(proc_dir(root, pid) / "status").value_or("");
  return Paging{stat->major_faults, meminfo_bytes(status, "VmSwap")};
}

std::vector<int> list_threads(const fs::path& root, std::int32_t pid) {
  std::vector<int> threads;
  std::error_code failed;
  fs::directory_iterator task(proc_dir(root, pid) / "task", failed);
  for (; !failed && task != fs::directory_iterator{}; task.increment(failed)) {
    int thread = 0;
    if (take_number(task->path().filename().string(), thread)) threads.push_back(thread);
  }
  std::ranges::sort(threads);
  return threads;
}

std::optional<ThreadUse> read_thread(const fs::path& root, std::int32_t pid, int thread) {
  const auto stat = read_stat(proc_dir(root, pid) / "task" / std::to_string(thread) / "stat");
  if (!stat) return std::nullopt;
  return ThreadUse{stat->user_ticks + stat->system_ticks, stat->processor};
}

std::optional<std::map<int, std::uint64_t>> read_resident(const fs::path& root, std::int32_t pid) {
  const auto text = read_text(proc_dir(root, pid) / "numa_maps");
  if (!text) return std::nullopt;
  std::map<int, std::uint64_t> resident;
  each_line(*text, [&](std::string_view line) { add_mapping(line, resident); });
  return resident;
}

std::optional<Bindings> read_bindings(const fs::path& root, std::int32_t pid) {
  const auto text = read_text(proc_dir(root, pid) / "numa_maps");
  if (!text) return std::nullopt;
  Bindings bindings;
  // "7f00 bind:0,2-3 anon=9", "7f00 bind=static:1 ...", "7f00 prefer:1 ..."
  each_line(*text, [&](std::string_view line) {
    std::istringstream words{std::string(line)};
    std::string policy;
    std::uint64_t start = 0;
    if (!(words >> std::hex >> start >> policy)) return;
    const std::size_t colon = policy.find(':');
    bindings[start] = policy.starts_with("bind") && colon != policy.npos
                          ? parse_id_list(policy.substr(colon + 1))
                          : std::set<int>{};
  });
  return bindings;
}

bool may_lie_on(const Bindings& bindings, std::uint64_t address, int node) {
  const auto after = bindings.upper_bound(address);
  if (after == bindings.begin()) return true;
  const std::set<int>& nodes = std::prev(after)->second;
  return nodes.empty() || nodes.contains(node);
}

}  // namespace hmk
