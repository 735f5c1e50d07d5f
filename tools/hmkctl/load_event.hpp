// SPDX-License-Identifier: MIT
//
// The event of this machine's CPUs that tells of single loads where they were served from and how
// long that took: mem-loads (PEBS) on Intel, ibs_op on AMD.
//
//   const auto event = find_load_event("/");
//   if (!event) return fail(context, event.error());
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "util/result.hpp"

namespace hmkctl {

struct LoadEvent {
  std::string name;  ///< "cpu/mem-loads"
  std::uint32_t type = 0;
  std::uint64_t config = 0, config1 = 0;     ///< of perf_event_attr
  std::optional<std::uint64_t> leader = {};  ///< config of what must lead its group
  std::uint32_t precise = 0;
  bool can_exclude = false;  ///< the kernel's loads are left out by the CPU, not by us
  std::uint64_t first_period = 0;
  std::uint64_t granule = 1;  ///< periods are a multiple of it
  std::set<int> cpus;         ///< those that have it and are online
};

/// Loads that took fewer cycles came from a cache: they are not worth a sample.
inline constexpr std::uint64_t kLeastLatency = 64;

/// From /sys/bus/event_source/devices. An Error where no CPU has such an event, as in most virtual
/// machines.
hmk::Result<LoadEvent> find_load_event(const std::filesystem::path& root);

}  // namespace hmkctl
