// SPDX-License-Identifier: MIT
// fill: insert the keys in order 0, 1, 2, ...; the last ones will be the hottest.
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "kv.hpp"
#include "link.hpp"
#include "value.hpp"

namespace hmk::load {

int kv_fill(const KvOptions& options) {
  using Clock = std::chrono::steady_clock;
  Link link(options.server, options.socket);
  std::vector<char> value(options.value_bytes);
  char key_text[kKeyBytes];
  const std::string_view key_view(key_text, kKeyBytes);
  const auto started = Clock::now();
  auto report_at = started;

  const auto report = [&](std::uint64_t keys) {
    const std::chrono::duration<double> seconds = Clock::now() - started;
    std::printf(
        "{\"verb\": \"fill\", \"keys\": %lu, \"of\": %lu, \"bytes\": %lu, \"seconds\": %.1f}\n",
        keys, options.keys, keys * options.value_bytes, seconds.count());
    std::fflush(stdout);
  };

  const auto ask = [&](std::uint64_t i) {
    if (i == options.keys) return false;
    const auto key = static_cast<std::uint32_t>(i);
    write_key(key, key_text);
    Value(key, 1).write(value);
    link.set(key_view, {value.data(), value.size()});
    return true;
  };
  const auto take = [&](std::uint64_t i, const Link::Reply& reply) {
    if (reply.kind != '+')
      throw std::runtime_error("the server refused a value: " + std::string(reply.text));
    if (i % options.pipeline != 0 || Clock::now() < report_at) return;
    report_at = Clock::now() + std::chrono::seconds(1);
    report(i + 1);
  };
  pipeline(link, options.pipeline, ask, take);
  report(options.keys);
  KvState state;
  state.value_bytes = options.value_bytes;
  state.versions.assign(options.keys, 1);
  state.save(options.state_file);
  return 0;
}

}  // namespace hmk::load
