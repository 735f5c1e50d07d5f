// SPDX-License-Identifier: MIT
//
// A job beside the loop, one at a time, for calls that may hang: nobody waits for its end, not even
// when all else has gone.
//
//   Beside<int> beside;
//   const auto refused = beside.begin([](const std::atomic<bool>& is_stopped) { return 1; });
//   if (const std::optional<int> done = beside.take()) ...
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace hmk {

/// Runs it; as shipped in a thread of its own.
using BeginBeside = std::function<void(std::function<void()> job)>;

inline void begin_in_a_thread(std::function<void()> job) {
  std::thread(std::move(job)).detach();
}

template <class Done>
class Beside {
 public:
  explicit Beside(BeginBeside begin = begin_in_a_thread) : begin_(std::move(begin)) {}
  ~Beside() { stop(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  /// Not while it is busy. `job` owns all that it uses. Returns why it could not begin.
  std::optional<std::string> begin(std::function<Done(const std::atomic<bool>& is_stopped)> job) {
    is_stopped_ = std::make_shared<std::atomic<bool>>(false);
    const auto task = std::make_shared<std::packaged_task<Done()>>(
        [job = std::move(job), is_stopped = is_stopped_] { return job(*is_stopped); });
    under_way_ = task->get_future();
    try {
      begin_([task] { (*task)(); });
    } catch (const std::system_error& e) {
      under_way_ = {};
      return e.what();
    }
    return std::nullopt;
  }
  /// What the job has done, once, when it has ended.
  std::optional<Done> take() {
    if (!under_way_.valid() || is_busy()) return std::nullopt;
    return under_way_.get();
  }
  bool is_busy() const {
    return under_way_.valid() &&
           under_way_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }
  /// Asks the job to begin nothing more.
  void stop() {
    if (is_stopped_) *is_stopped_ = true;
  }

 private:
  BeginBeside begin_;
  std::future<Done> under_way_;
  std::shared_ptr<std::atomic<bool>> is_stopped_;
};

}  // namespace hmk
