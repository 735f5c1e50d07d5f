// SPDX-License-Identifier: MIT
// run: read and update keys, some far more often than others.
#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "kv.hpp"
#include "link.hpp"
#include "random.hpp"
#include "value.hpp"

namespace hmk::load {
namespace {

struct Request {
  std::uint32_t key;
  std::uint32_t version;  // what a read must see at its place in the pipeline
  bool is_read;
};

class Runner {
 public:
  Runner(const KvOptions& options, Stage& stage)
      : options_(options),
        stage_(stage),
        state_(KvState::load(options.state_file)),
        link_(options.server, options.socket),
        random_(options.seed),
        choose_(options.keys_by, state_.versions.size()),
        value_(state_.value_bytes) {}

  int run() {
    stage_.add_to_runs(
        [this] { return counts() + ", \"wrong_values\": " + std::to_string(wrong_); });
    stage_.ready();
    const auto ask_next = [&](std::uint64_t i) {
      if (i % options_.pipeline == 0) {
        if (!goes_on_) return false;
        batch_begins_.push_back(Stage::now());
      }
      requests_.push_back(ask());
      return true;
    };
    const auto take = [&](std::uint64_t i, const Link::Reply& reply) {
      verify(requests_.front(), reply);
      requests_.pop_front();
      if ((i + 1) % options_.pipeline != 0) return;
      goes_on_ &= stage_.goes_on(options_.pipeline, batch_begins_.front());
      batch_begins_.pop_front();
    };
    pipeline(link_, options_.pipeline, ask_next, take);
    stage_.over();
    state_.save(options_.state_file);
    return stage_.end(wrong_, counts());
  }

 private:
  Request ask() {
    const std::uint32_t key = choose_(random_);
    const bool is_read = random_.unit() < options_.read_share;
    char key_text[kKeyBytes];
    const std::string_view key_view(key_text, kKeyBytes);
    write_key(key, key_text);
    if (is_read) {
      link_.get(key_view);
      return {key, state_.versions[key], true};
    }
    Value(key, ++state_.versions[key]).write(value_);
    const std::string_view value(value_.data(), value_.size());
    if (options_.in_place)
      link_.overwrite(key_view, value);
    else
      link_.set(key_view, value);
    return {key, state_.versions[key], false};
  }

  void verify(const Request& request, const Link::Reply& reply) {
    ++(request.is_read ? reads_ : updates_);
    const bool is_right = request.is_read
                              ? reply.kind == '$' && reply.text.size() == state_.value_bytes &&
                                    Value(request.key, request.version).looks_right(reply.text)
                              : reply.kind == '+';
    if (is_right) return;
    if (++wrong_ <= 10)
      std::fprintf(stderr, "wrong value key=%u version=%u read=%d reply=%c length=%zu\n",
                   request.key, request.version, request.is_read, reply.kind, reply.text.size());
  }

  /// Since the line before.
  std::string counts() {
    return ", \"reads\": " + std::to_string(std::exchange(reads_, 0)) +
           ", \"updates\": " + std::to_string(std::exchange(updates_, 0));
  }

  const KvOptions& options_;
  Stage& stage_;
  KvState state_;
  Link link_;
  Random random_;
  KeyChoice choose_;
  std::vector<char> value_;
  std::deque<Request> requests_;  // under way, oldest first
  std::deque<std::uint64_t> batch_begins_;
  bool goes_on_ = true;
  std::uint64_t reads_ = 0, updates_ = 0, wrong_ = 0;
};

}  // namespace

int kv_run(const KvOptions& options, Stage& stage) {
  return Runner(options, stage).run();
}

}  // namespace hmk::load
