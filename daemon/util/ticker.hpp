// SPDX-License-Identifier: MIT
//
// Call a step at a steady beat on the loop.
//
//   Ticker beat(loop, 5s, [] { notify_watchdog(); });
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

namespace hmk {

class Ticker {
 public:
  Ticker(boost::asio::io_context& loop, std::chrono::nanoseconds period, std::function<void()> step)
      : timer_(loop, std::chrono::duration_cast<Clock::duration>(period)),
        period_(std::chrono::duration_cast<Clock::duration>(period)),
        step_(std::move(step)) {
    wait();
  }
  /// From now on.
  void set_period(std::chrono::nanoseconds period) {
    period_ = std::chrono::duration_cast<Clock::duration>(period);
    timer_.expires_after(period_);  // ends the wait under way
    wait();
  }
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The next deadline counts from the last one, so a slow step delays one beat only.
  void wait() {
    timer_.async_wait([this](const boost::system::error_code& ec) {
      if (ec || stopped_) return;
      step_();
      if (stopped_) return;  // stop() inside step_: nothing was pending, so cancel() did nothing
      timer_.expires_at(timer_.expiry() + period_);
      wait();
    });
  }

  boost::asio::steady_timer timer_;
  Clock::duration period_;
  std::function<void()> step_;
  bool stopped_ = false;
};

}  // namespace hmk
