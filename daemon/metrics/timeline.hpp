// SPDX-License-Identifier: MIT
//
// What each interval of a process brought, from the first one on, in bounded memory: when it is
// full, two neighbours become one. What `hmkctl report` draws.
//
//   timeline.add(moment);
//   for (const Moment& moment : timeline.moments()) draw(moment);
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace hmk {

/// One interval, or several in a row.
struct Moment {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t intervals = 1;
  bool is_managed = false;  ///< in one of them, at least
  std::uint64_t profile_ns = 0, promoted_bytes = 0, demoted_bytes = 0;
  std::uint64_t planned_bytes = 0;                   ///< to be moved, as decided at its end
  std::map<int, double> accesses = {};               ///< by node, of all of them
  std::map<int, std::uint64_t> resident_bytes = {};  ///< by node, in the last
};

class Timeline {
 public:
  static constexpr std::size_t kMoments = 512;

  void add(Moment moment);
  /// Oldest first; what is still being put together is the last.
  std::vector<Moment> moments() const;

 private:
  std::vector<Moment> whole_;
  std::vector<Moment> part_;  ///< less than `stride_` intervals, as one or none
  std::uint64_t stride_ = 1;  ///< intervals of a moment
};

/// `use(node, pages)` for those on the record's own node, and for those away from it.
template <class Use>
void by_node(const hmk_record& record, Use use) {
  const std::uint32_t away =
      record.away_pages < record.resident_pages ? record.away_pages : record.resident_pages;
  use(record.node, record.resident_pages - away);
  if (away != 0) use(record.away_node, away);
}

/// Accesses per second by node: rate times pages, of what was ever seen accessed.
std::map<int, double> accesses_by_node(std::span<const hmk_record> records);
/// Bytes by node.
std::map<int, std::uint64_t> resident_by_node(std::span<const hmk_record> records);
/// Accesses a second to a page; one to a huge leaf is one to one of its pages.
double rate_per_page(const hmk_record& record);

}  // namespace hmk
