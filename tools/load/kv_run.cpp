// SPDX-License-Identifier: MIT
// run: read and update keys, the ones inserted last most often (YCSB's "latest").
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <vector>

#include "kv.hpp"
#include "link.hpp"
#include "random.hpp"
#include "value.hpp"

namespace hmk::load {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_asked = 0;

struct Request {
  std::uint32_t key;
  std::uint32_t version;  // what a read must see at its place in the pipeline
  bool is_read;
};

/// Counters of one second.
struct Second {
  std::uint64_t reads = 0, updates = 0;
  std::vector<double> batch_us;

  double quantile(double q) {
    if (batch_us.empty()) return 0;
    const auto at = static_cast<std::size_t>(q * static_cast<double>(batch_us.size() - 1));
    std::nth_element(batch_us.begin(), batch_us.begin() + static_cast<long>(at), batch_us.end());
    return batch_us[at];
  }
};

class Runner {
 public:
  explicit Runner(const KvOptions& options)
      : options_(options),
        state_(KvState::load(options.state_file)),
        link_(options.socket),
        random_(options.seed),
        zipf_(std::max<std::size_t>(state_.versions.size(), 2)),
        value_(state_.value_bytes) {}

  int run() {
    const auto started = Clock::now();
    auto report_at = started + std::chrono::seconds(1);
    const auto is_over = [&](std::uint64_t ops, Clock::time_point now) {
      return stop_asked || (options_.ops != 0 && ops >= options_.ops) ||
             (options_.for_ms != 0 && now - started >= std::chrono::milliseconds(options_.for_ms));
    };
    const auto ask_next = [&](std::uint64_t i) {
      if (i % options_.pipeline == 0) {
        const auto now = Clock::now();
        if (is_over(i, now)) return false;
        batch_begins_.push_back(now);
      }
      requests_.push_back(ask());
      return true;
    };
    const auto take = [&](std::uint64_t i, const Link::Reply& reply) {
      verify(requests_.front(), reply);
      requests_.pop_front();
      ++total_;
      if ((i + 1) % options_.pipeline != 0) return;
      const auto now = Clock::now();
      second_.batch_us.push_back(
          std::chrono::duration<double, std::micro>(now - batch_begins_.front()).count());
      batch_begins_.pop_front();
      if (now < report_at) return;
      report();
      report_at += std::chrono::seconds(1);
    };
    pipeline(link_, options_.pipeline, ask_next, take);
    report();
    state_.save(options_.state_file);
    const std::chrono::duration<double> seconds = Clock::now() - started;
    std::printf(
        "{\"verb\": \"run\", \"done\": true, \"ops\": %lu, \"seconds\": %.1f, "
        "\"wrong_values\": %lu}\n",
        total_, seconds.count(), wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  Request ask() {
    const std::uint64_t last = state_.versions.size() - 1;
    const auto key = static_cast<std::uint32_t>(last - std::min(zipf_(random_.unit()), last));
    const bool is_read = random_.unit() < options_.read_share;
    char key_text[kKeyBytes];
    const std::string_view key_view(key_text, kKeyBytes);
    write_key(key, key_text);
    if (is_read) {
      link_.command({"GET", key_view});
      return {key, state_.versions[key], true};
    }
    Value(key, ++state_.versions[key]).write(value_);
    const std::string_view value(value_.data(), value_.size());
    if (options_.in_place)
      link_.command({"SETRANGE", key_view, "0", value});
    else
      link_.command({"SET", key_view, value});
    return {key, state_.versions[key], false};
  }

  void verify(const Request& request, const Link::Reply& reply) {
    ++(request.is_read ? second_.reads : second_.updates);
    const bool is_right = request.is_read
                              ? reply.kind == '$' && reply.text.size() == state_.value_bytes &&
                                    Value(request.key, request.version).looks_right(reply.text)
                              : reply.kind == (options_.in_place ? ':' : '+');
    if (is_right) return;
    if (++wrong_ <= 10)
      std::fprintf(stderr, "wrong value key=%u version=%u read=%d reply=%c length=%zu\n",
                   request.key, request.version, request.is_read, reply.kind, reply.text.size());
  }

  void report() {
    std::printf(
        "{\"verb\": \"run\", \"second\": %lu, \"reads\": %lu, \"updates\": %lu, "
        "\"batch_p50_us\": %.0f, \"batch_p99_us\": %.0f, \"batch_max_us\": %.0f, "
        "\"wrong_values\": %lu}\n",
        ++seconds_, second_.reads, second_.updates, second_.quantile(0.5), second_.quantile(0.99),
        second_.quantile(1), wrong_);
    std::fflush(stdout);
    second_ = {};
  }

  const KvOptions& options_;
  KvState state_;
  Link link_;
  Random random_;
  Zipf zipf_;
  std::vector<char> value_;
  std::deque<Request> requests_;  // under way, oldest first
  std::deque<Clock::time_point> batch_begins_;
  Second second_;
  std::uint64_t total_ = 0, wrong_ = 0, seconds_ = 0;
};

}  // namespace

int kv_run(const KvOptions& options) {
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  return Runner(options).run();
}

}  // namespace hmk::load
