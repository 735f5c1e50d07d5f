// SPDX-License-Identifier: MIT
// check: read every key back and compare every word.
#include <algorithm>
#include <cstdio>

#include "kv.hpp"
#include "link.hpp"
#include "value.hpp"

namespace hmk::load {

int kv_check(const KvOptions& options) {
  constexpr std::uint64_t kReportEvery = 1 << 17;  // keys
  const KvState state = KvState::load(options.state_file);
  Link link(options.socket);
  char key_text[kKeyBytes];
  const std::string_view key_view(key_text, kKeyBytes);
  std::uint64_t wrong = 0, missing = 0, key = 0;

  const auto report = [&](bool done) {
    std::printf(
        "{\"verb\": \"check\", \"keys\": %lu, \"of\": %zu, \"wrong_values\": %lu, "
        "\"missing\": %lu, \"done\": %s}\n",
        key, state.versions.size(), wrong, missing, done ? "true" : "false");
    std::fflush(stdout);
  };

  while (key < state.versions.size()) {
    const std::uint64_t batch = std::min(options.pipeline, state.versions.size() - key);
    for (std::uint64_t i = 0; i < batch; ++i) {
      write_key(static_cast<std::uint32_t>(key + i), key_text);
      link.command({"GET", key_view});
    }
    link.flush();
    for (std::uint64_t i = 0; i < batch; ++i, ++key) {
      const Link::Reply reply = link.reply();
      const Value expected(static_cast<std::uint32_t>(key), state.versions[key]);
      const bool is_right = reply.kind == '$' && reply.text.size() == state.value_bytes &&
                            expected.matches(reply.text);
      missing += reply.kind == '0';
      wrong += !is_right;
      if (!is_right && wrong <= 10)
        std::fprintf(stderr, "wrong value key=%lu version=%u reply=%c length=%zu\n", key,
                     state.versions[key], reply.kind, reply.text.size());
    }
    if (key / kReportEvery != (key - batch) / kReportEvery) report(false);
  }
  report(true);
  return wrong == 0 ? 0 : 1;
}

}  // namespace hmk::load
