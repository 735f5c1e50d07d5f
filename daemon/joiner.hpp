// SPDX-License-Identifier: MIT
//
// Joins what is mapped by small entries into huge pages again, a few in an interval and beside the
// loop: the kernel copies 2 MiB while its caller waits. What has ended is accounted for with the
// next interval.
//
//   Joiner joiner(pid, session.advice.collapse);
//   joiner.step(regions, round);                in each interval, or
//   joiner.rest(seq);                           where nothing is to be joined
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/advice.hpp"
#include "metrics/counters.hpp"
#include "policy/gain.hpp"
#include "policy/join.hpp"
#include "topology/huge_pages.hpp"
#include "util/beside.hpp"

namespace hmk {

class Joiner {
 public:
  /// Without `collapse` nothing is ever joined. Not in the loop: the kernel may let a call wait for
  /// as long as somebody holds the mmap lock of the process.
  Joiner(std::int32_t pid, Advise collapse, BeginBeside begin = begin_in_a_thread);

  /// Where only some of its memory may have huge pages, that is read again after so many
  /// intervals, and never of a process with more than kMostWalked resident: a walk of 8 GiB takes
  /// some 60 ms.
  static constexpr std::uint64_t kAreasLast = 64;
  static constexpr policy::Bytes kMostWalked = 8ull << 30;

  struct Round {
    const std::filesystem::path& root;
    policy::Joins::Terms terms;  ///< all but areas, and ns_per_page where that is not given: 0
    policy::Bytes resident = 0;  ///< of the process
    /// Asked last, of what was chosen: whether it is all there now and will stay.
    std::function<bool(const policy::Join&)> is_there;
  };
  /// Nothing is begun before all of the last interval has ended.
  void step(std::span<const policy::RegionView> regions, Round round);
  /// What was seen before is forgotten.
  void rest(std::uint64_t seq);
  /// Begin no more of what was chosen; the call under way ends by itself.
  void stop() { beside_.stop(); }

  bool is_busy() const { return beside_.is_busy(); }
  const JoinCounters& counters() const { return counters_; }

 private:
  struct Ended {
    std::uint64_t start;
    int err;
    std::uint64_t ns, cpu_ns;
  };
  struct Done {
    std::vector<Ended> ended;
    std::optional<HugeAreas> areas;  ///< as read
  };
  struct Job;

  void collect(std::uint64_t seq);
  void account(const Ended& ended, std::uint64_t seq);
  bool may_join(const Round& round);
  void begin(std::vector<std::uint64_t> starts, const std::filesystem::path& root);

  std::int32_t pid_;
  Advise collapse_;
  policy::Joins joins_;
  policy::MoveCosts costs_;
  JoinCounters counters_;
  HugeSetting setting_ = HugeSetting::never;
  std::optional<HugeAreas> areas_;  ///< that may be joined, as far as they are asked for
  std::uint64_t areas_seq_ = 0;     ///< when they were read
  Beside<Done> beside_;
};

}  // namespace hmk
