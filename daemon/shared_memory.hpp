// SPDX-License-Identifier: MIT
//
// Memory that several managed processes map. The profiler sees the accesses of each of them apart,
// and each would move the same pages: one up, another down. So one of them stands for all, the one
// that has the most of it: its regions are as hot as all make them, and those of the others stay.
//
//   shared.saw(pid, {mappings, regions, cpu});     an interval of one process has ended
//   shared.apply(pid, regions);                    its regions as they are ranked
//   shared.forget(pid);                            it is managed no more
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "policy/types.hpp"
#include "topology/shared_mappings.hpp"

namespace hmk {

class SharedMemory {
 public:
  struct Seen {
    std::span<const SharedMapping> mappings;      ///< in address order
    std::span<const policy::RegionView> regions;  ///< each once, in address order
    std::uint32_t hotness_max = 1;                ///< of the regions
    double cpu = 0;                               ///< ns a second that the process used
    bool moves = true;                            ///< its memory is moved
  };
  /// Replaces what was known of this process.
  void saw(std::int32_t pid, const Seen& seen);
  void forget(std::int32_t pid);

  /// Of regions in address order, those of one place side by side: what of them other processes
  /// map, too, is as hot as all of them make it, or takes no part because another one stands for
  /// it. Counts of the others are those of their last interval.
  void apply(std::int32_t pid, std::span<policy::RegionView> regions) const;
  /// Whether another process stands for what lies at this address.
  bool is_of_another(std::int32_t pid, std::uint64_t address) const;
  /// ns a second that the others used for whose accesses this one stands: what can be saved is
  /// theirs.
  double cpu_of_others(std::int32_t pid) const;

 private:
  /// What one process saw of a stretch of an object.
  struct Stretch {
    std::uint64_t offset = 0, end = 0;
    double hotness = 0, last_hotness = 0;  // WHI and HI, as parts of the most there is
    double rate = 0, rate_dev = 0;         // accesses a second to a page; dev in the same unit
    bool written = false;
  };
  struct Sharer {
    std::vector<Stretch> stretches;  // by offset, apart
    double resident = 0;             // bytes of the object
    bool moves = false;
  };
  struct Object {
    std::map<std::int32_t, Sharer> sharers;  // by PID
    std::int32_t owner = 0;
    void choose_owner();
  };
  struct Process {
    std::vector<SharedMapping> mappings;
    std::uint32_t hotness_max = 1;
    double cpu = 0;
  };
  void drop(std::int32_t pid);
  void choose_owners();
  /// What all others saw of [offset, end), as one.
  static Stretch of_others(const Object& object, std::int32_t pid, std::uint64_t offset,
                           std::uint64_t end);
  static const SharedMapping* mapping_at(const Process& process, std::uint64_t address);

  std::map<SharedObject, Object> objects_;
  std::map<std::int32_t, Process> processes_;
};

}  // namespace hmk
