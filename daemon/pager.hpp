// SPDX-License-Identifier: MIT
//
// Pages out what has not been accessed for long, beside the loop, and watches how much of it comes
// back. Where nothing may be moved it only says what there would be.
//
//   Pager pager(pid, session.advice.page_out);
//   pager.step(regions, round);                 in each interval, or
//   pager.rest();                               where nobody asks for it
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "device/advice.hpp"
#include "metrics/counters.hpp"
#include "policy/cold.hpp"
#include "policy/refaults.hpp"
#include "topology/process.hpp"
#include "util/beside.hpp"

namespace hmk {

class Pager {
 public:
  /// Without `page_out` nothing is ever paged out.
  Pager(std::int32_t pid, Advise page_out, BeginBeside begin = begin_in_a_thread);

  struct Round {
    const std::filesystem::path& root;
    policy::ColdMemory::Interval interval;
    double refaults_per_s = 0;  ///< allowed
    bool acts = false;          ///< else it only looks
  };
  /// `regions`: of private anonymous memory on the last tier, in address order.
  void step(std::span<const policy::RegionView> regions, const Round& round);
  /// What was seen before is forgotten.
  void rest();
  /// Begin no more of what was chosen; the call under way ends by itself.
  void stop() { beside_.stop(); }

  bool is_looking() const { return before_.has_value(); }
  bool is_busy() const { return beside_.is_busy(); }
  /// At the last look.
  std::uint64_t swapped_bytes() const { return before_ ? before_->swapped_bytes : 0; }
  const policy::ColdMemory& cold() const { return cold_; }
  const policy::RefaultLimit& limit() const { return limit_; }
  const PageOutCounters& counters() const { return counters_; }

  /// Of one call.
  static constexpr policy::Bytes kPiece = policy::Bytes{32} << 20;
  /// Of all swap, left for others.
  static constexpr unsigned kSwapLeft = 10;

 private:
  struct Done {
    Paging before, after;  ///< all of it
    unsigned refused = 0;
    int err = 0;  ///< of the last refusal
    std::uint64_t ns = 0;
  };
  struct Job;

  policy::Bytes collect();
  void count_refaults(const std::filesystem::path& root, double seconds, policy::Bytes sent,
                      double allowed);
  policy::Bytes room(const std::filesystem::path& root);
  void begin(std::vector<policy::ColdMemory::Range> ranges, const std::filesystem::path& root);

  std::int32_t pid_;
  Advise page_out_;
  policy::ColdMemory cold_;
  policy::RefaultLimit limit_;
  PageOutCounters counters_;
  std::optional<Paging> before_;  ///< at the last look, or at the end of what was paged out since
  bool has_told_ = false;         ///< that there is no swap
  Beside<Done> beside_;
};

}  // namespace hmk
