// SPDX-License-Identifier: MIT
//
// What /proc says about a managed process: who it is, where it runs, where it
// may have memory, and where its memory is.
//
//   Result<ProcessInfo> info = read_process("/", pid);
//   renew(*info, "/", pid);                        each interval: one file
//   auto resident = read_resident("/", pid);       dear: at most once per interval
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace hmk {

struct ProcessInfo {
  std::string comm;
  std::uint64_t start_time = 0;  ///< with the PID, the identity of a process
  std::set<int> mems_allowed;    ///< nodes; empty: unknown, so all
  std::uint64_t cpu_ns = 0;      ///< of all threads since the start, in whole ticks
};

/// What does not cost more than one small file: enough to tell whether a rule names it.
struct Birth {
  std::int32_t parent = 0;
  std::uint64_t start_time = 0;
  std::string comm;
};

/// Nothing when `pid` does not exist, is a kernel thread or has ended.
std::optional<Birth> read_birth(const std::filesystem::path& root, std::int32_t pid);

/// What cpu_ns is counted in.
std::uint64_t cpu_tick_ns();

/// Fails with the reason when `pid` does not exist, is a kernel thread or a zombie.
Result<ProcessInfo> read_process(const std::filesystem::path& root, std::int32_t pid);

/// Its name and CPU time; all stays as it was when it has ended.
void renew(ProcessInfo& process, const std::filesystem::path& root, std::int32_t pid);

/// Cpusets change it, rarely: a process is told it in the longest of its files.
std::set<int> read_mems_allowed(const std::filesystem::path& root, std::int32_t pid);

struct Paging {
  std::uint64_t major_faults = 0;   ///< that waited for a device, since it began
  std::uint64_t swapped_bytes = 0;  ///< that are in swap now
};
/// Nothing when it has ended.
std::optional<Paging> read_paging(const std::filesystem::path& root, std::int32_t pid);

/// The IDs of its threads, ascending.
std::vector<int> list_threads(const std::filesystem::path& root, std::int32_t pid);

struct ThreadUse {
  std::uint64_t ticks = 0;  ///< of CPU time since it began
  int cpu = -1;             ///< that it last ran on
};
std::optional<ThreadUse> read_thread(const std::filesystem::path& root, std::int32_t pid,
                                     int thread);

/// Resident bytes per node, exact, from numa_maps; nothing when it cannot be read.
std::optional<std::map<int, std::uint64_t>> read_resident(const std::filesystem::path& root,
                                                          std::int32_t pid);

/// By the start of each mapping, the nodes it is bound to (MPOL_BIND of the mapping, else of the
/// process); empty: to none. From numa_maps; nothing when it cannot be read.
using Bindings = std::map<std::uint64_t, std::set<int>>;
std::optional<Bindings> read_bindings(const std::filesystem::path& root, std::int32_t pid);

/// Whether memory at `address` may lie on `node`.
bool may_lie_on(const Bindings& bindings, std::uint64_t address, int node);

}  // namespace hmk
