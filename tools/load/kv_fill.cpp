// SPDX-License-Identifier: MIT
// fill: insert the keys in order 0, 1, 2, ...; the last ones will be the hottest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "kv.hpp"
#include "link.hpp"
#include "value.hpp"

namespace hmk::load {

int kv_fill(const KvOptions& options) {
  using Clock = std::chrono::steady_clock;
  Link link(options.socket);
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

  for (std::uint64_t key = 0; key < options.keys;) {
    const std::uint64_t batch = std::min(options.pipeline, options.keys - key);
    for (std::uint64_t i = 0; i < batch; ++i, ++key) {
      write_key(static_cast<std::uint32_t>(key), key_text);
      Value(static_cast<std::uint32_t>(key), 1).write(value);
      link.command({"SET", key_view, {value.data(), value.size()}});
    }
    link.flush();
    for (std::uint64_t i = 0; i < batch; ++i) {
      const Link::Reply reply = link.reply();
      if (reply.kind != '+') throw std::runtime_error("SET refused: " + std::string(reply.text));
    }
    if (Clock::now() < report_at) continue;
    report_at = Clock::now() + std::chrono::seconds(1);
    report(key);
  }
  report(options.keys);
  KvState state;
  state.value_bytes = options.value_bytes;
  state.versions.assign(options.keys, 1);
  state.save(options.state_file);
  return 0;
}

}  // namespace hmk::load
