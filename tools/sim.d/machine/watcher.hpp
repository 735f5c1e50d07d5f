// SPDX-License-Identifier: MIT
//
// What hmk.ko would publish of an interval: the core that ships over the accesses that the work of
// the interval made (as hm_keeper.cpp drives it), or a perfect profiler, which is told.
//
//   watcher.begin();                            the interval begins: counts what lies where
//   Snapshot told = watcher.end(operations, interval);
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "machine/program.hpp"
#include "profiler.hpp"

namespace hmk::sim {

class Watcher final : public Census {
 public:
  static constexpr std::uint64_t kStart = 0x7f0000000000;  // of the process's memory

  /// `plan` and `memory` must outlive it.
  Watcher(const WorkPlan& plan, const Memory& memory, const Means& means, bool is_perfect);

  struct Interval {
    std::uint64_t seq = 0, start_ns = 0, end_ns = 0;
  };
  void begin();
  /// Of an interval, from the next one on.
  void set_budget(double percent);
  /// `operations`: done in it, by phase. Accesses come evenly over the interval.
  Snapshot end(const std::vector<double>& operations, const Interval& interval);
  /// TLB flushes of the interval, each of which the program waits for.
  std::uint64_t flushes() const { return flushes_; }

  void count(hmk_region& region) const override;
  bool is_written(std::uint64_t address) const override;

 private:
  void see(const std::vector<double>& operations, double seconds);
  void watch(Snapshot& told);
  void tell_all(Snapshot& told) const;

  const WorkPlan* plan_;
  const Memory* memory_;
  Means means_;
  std::unique_ptr<Profiler> profiler_;  // none: perfect
  Memory counted_;                      // as it lay when the interval began
  World world_;
  std::vector<bool> written_;  // by page
  std::uint64_t flushes_ = 0;
};

}  // namespace hmk::sim
