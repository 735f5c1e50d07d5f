// SPDX-License-Identifier: MIT
//
// Joins what is mapped by small entries into huge pages again, a few in an interval and beside the
// loop: the kernel copies 2 MiB while its caller waits. What has ended is accounted for with the
// next interval.
//
//   Joiner joiner(pid, session.collapse);
//   joiner.step(regions, round);                in each interval, or
//   joiner.rest(seq);                           where nothing is to be joined
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/collapse.hpp"
#include "metrics/counters.hpp"
#include "policy/gain.hpp"
#include "policy/join.hpp"
#include "topology/huge_pages.hpp"

namespace hmk {

class Joiner {
 public:
  /// Runs a job; as shipped in a thread of its own, which nobody waits for: the kernel may let a
  /// call wait for as long as somebody holds the mmap lock of the process.
  using Begin = std::function<void(std::function<void()> job)>;
  static void in_a_thread(std::function<void()> job);

  /// Without `collapse` nothing is ever joined.
  Joiner(std::int32_t pid, Collapse collapse, Begin begin = in_a_thread);
  ~Joiner() { stop(); }
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

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
  void stop();

  bool is_busy() const;
  const JoinCounters& counters() const { return counters_; }

 private:
  struct Ended {
    std::uint64_t start;
    int err;
    std::uint64_t ns;
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
  Collapse collapse_;
  Begin begin_;
  policy::Joins joins_;
  policy::MoveCosts costs_;
  JoinCounters counters_;
  HugeSetting setting_ = HugeSetting::never;
  std::optional<HugeAreas> areas_;  ///< that may be joined, as far as they are asked for
  std::uint64_t areas_seq_ = 0;     ///< when they were read
  std::future<Done> under_way_;
  std::shared_ptr<std::atomic<bool>> is_stopped_;  ///< of what is under way
};

}  // namespace hmk
