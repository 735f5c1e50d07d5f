// SPDX-License-Identifier: MIT
//
// The nodes that a process runs on: by the CPU time of its threads, not by where the
// scheduler happens to have put them.
//
//   homes.look("/", pid, machine);      once per interval, or more rarely
//   homes.nodes()                       {0}, or {0, 1}; empty: nothing is known
//
// A process is at home on one node when it spends four fifths of its time there, else on each that
// has a twentieth of it. Another home is taken in at once, since then less memory moves; for
// anything else to change it must be so for some intervals in a row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "topology/machine.hpp"

namespace hmk {

class Homes {
 public:
  /// Of a process with more threads so many are read, spread over all of them and the same as the
  /// last time: they stand for the others.
  static constexpr std::size_t kMostThreads = 64;
  static constexpr unsigned kIntervals = 4;  ///< in a row
  static constexpr std::uint64_t kMainPercent = 80, kLeastPercent = 5;

  void look(const std::filesystem::path& root, std::int32_t pid, const Machine& machine);
  /// CPU time in an interval by node, in any unit. look() asks /proc and calls this.
  void ran(const std::map<int, std::uint64_t>& time);

  const std::set<int>& nodes() const { return nodes_; }

 private:
  std::vector<int> sample(const std::vector<int>& threads) const;

  std::set<int> nodes_;
  unsigned others_ = 0;                      // intervals in a row with other homes
  std::map<int, std::uint64_t> ticks_ = {};  // by thread, since it began
  bool has_all_ = true;                      // threads in ticks_: who is not in it is new
};

}  // namespace hmk
