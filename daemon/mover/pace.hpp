// SPDX-License-Identifier: MIT
//
// At most so many bytes a second from one tier to another, over all processes. What
// may be sent is sent in one go for kAhead, so that a high limit costs few wake-ups.
//
//   pace.limit({{{2, 0}, 500ull << 20}});         tiers from 0, the fastest
//   if (!pace.take({2, 0}, bytes)) wait until pace.ready_at({2, 0});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace hmk {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  using Pair = std::pair<int, int>;             ///< from tier, to tier; the fastest is 0
  using Rates = std::map<Pair, std::uint64_t>;  ///< bytes a second
  static constexpr std::chrono::milliseconds kAhead{10};

  explicit Pace(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  /// From now on. What was taken before counts by the rate of its time.
  void limit(Rates rates) { rates_ = std::move(rates); }
  /// True: `bytes` may be sent now, and are counted. In any time T at most
  /// rate * (T + kAhead) and one such piece are.
  bool take(Pair pair, std::uint64_t bytes);
  /// Of what take() counted, `bytes` were not sent, or did not move.
  void give_back(Pair pair, std::uint64_t bytes);
  /// When take() may be asked again.
  Clock::time_point ready_at(Pair pair) const;

 private:
  /// How long `bytes` take at the pair's rate; 0: it has none.
  Clock::duration time_of(Pair pair, std::uint64_t bytes) const;

  std::function<Clock::time_point()> now_;
  Rates rates_;
  std::map<Pair, Clock::time_point> busy_until_;
};

}  // namespace hmk
