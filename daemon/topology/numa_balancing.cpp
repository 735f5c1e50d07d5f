// SPDX-License-Identifier: MIT
#include "topology/numa_balancing.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

/// "numa_pages_migrated          :              12" of /proc/PID/task/TID/sched.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  if (at == text.npos || (at = text.find(':', at)) == text.npos) return std::nullopt;
  at = text.find_first_not_of(" :", at);
  std::uint64_t value = 0;
  if (at == text.npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), value).ec != std::errc{})
    return std::nullopt;
  return value;
}

std::uint64_t risen(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

}  // namespace

void NumaBalancing::look(const fs::path& root, std::int32_t pid) {
  const auto mode = read_text(root / "proc/sys/kernel/numa_balancing");
  if (!mode) return;
  const bool is_on = !mode->starts_with('0');
  if (seen_) seen_->is_on = is_on;
  if (!is_on && seen_) return;

  const bool is_first = !seen_;
  std::map<std::int32_t, std::uint64_t> moved;
  std::error_code failed;
  fs::directory_iterator task(root / "proc" / std::to_string(pid) / "task", failed);
  for (; !failed && task != fs::directory_iterator{}; task.increment(failed)) {
    const std::string tid = task->path().filename().string();
    const auto text = read_text(task->path() / "sched");
    const auto pages = text ? field(*text, "numa_pages_migrated") : std::nullopt;
    if (!pages) continue;
    if (!seen_) seen_ = Seen{.is_on = is_on};
    std::int32_t number = 0;
    std::from_chars(tid.data(), tid.data() + tid.size(), number);
    const auto before = moved_before_.find(number);
    // A thread that was not there at the first look has done all it did since.
    if (!is_first)
      seen_->moved_pages += before == moved_before_.end() ? *pages : risen(*pages, before->second);
    moved.emplace(number, *pages);
    if (const auto scans = field(*text, "numa_scan_seq")) {
      seen_->scans += risen(*scans, scans_before_.value_or(*scans));
      scans_before_ = scans;  // of the address space: the same in all threads
    }
  }
  moved_before_ = std::move(moved);
}

}  // namespace hmk
