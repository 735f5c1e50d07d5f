// SPDX-License-Identifier: MIT
//
// Reports of processes, added up by why they are managed: their class and their rule. A PID lives
// for a moment, and a series of it stays in a monitoring system for weeks.
//
//   json groups = grouped(report["targets"]);      a row for each class and rule
//   ended.add(row);                                when a process is let go
#pragma once

#include <nlohmann/json.hpp>

namespace hmk {

/// A row by what it is told apart by: of a PID that was named itself the rule is "pid"; its own PID
/// and name stay with `by_pid` only.
nlohmann::json named(nlohmann::json row, bool by_pid = false);

/// Rows of `status` or `stats` of one class and rule as one: numbers are added, of a longest time
/// the longest counts, and lists are joined by what tells their rows apart. With `by_pid` each
/// process is a row.
nlohmann::json grouped(const nlohmann::json& rows, bool by_pid = false);

/// What processes had counted that are not managed any more, so that no counter falls.
class EndedProcesses {
 public:
  /// Rules come and go by hand: beyond so many, all further ones are one, "others".
  static constexpr std::size_t kMost = 256;

  void add(nlohmann::json row);
  const nlohmann::json& rows() const { return rows_; }

 private:
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace hmk
