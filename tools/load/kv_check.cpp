// SPDX-License-Identifier: MIT
// check: read every key back and compare every word.
#include <cstdio>

#include "kv.hpp"
#include "link.hpp"
#include "value.hpp"

namespace hmk::load {

int kv_check(const KvOptions& options) {
  constexpr std::uint64_t kReportEvery = 1 << 16;  // keys
  const KvState state = KvState::load(options.state_file);
  Link link(options.server, options.socket);
  char key_text[kKeyBytes];
  const std::string_view key_view(key_text, kKeyBytes);
  std::uint64_t wrong = 0, missing = 0, checked = 0;

  const auto report = [&](bool done) {
    std::printf(
        "{\"verb\": \"check\", \"keys\": %lu, \"of\": %zu, \"wrong_values\": %lu, "
        "\"missing\": %lu, \"done\": %s}\n",
        checked, state.versions.size(), wrong, missing, done ? "true" : "false");
    std::fflush(stdout);
  };

  const auto ask = [&](std::uint64_t i) {
    if (i == state.versions.size()) return false;
    write_key(static_cast<std::uint32_t>(i), key_text);
    link.get(key_view);
    return true;
  };
  const auto take = [&](std::uint64_t i, const Link::Reply& reply) {
    const Value expected(static_cast<std::uint32_t>(i), state.versions[i]);
    const bool is_right =
        reply.kind == '$' && reply.text.size() == state.value_bytes && expected.matches(reply.text);
    checked = i + 1;
    missing += reply.kind == '0';
    wrong += !is_right;
    if (!is_right && wrong <= 10)
      std::fprintf(stderr, "wrong value key=%lu version=%u reply=%c length=%zu\n", i,
                   state.versions[i], reply.kind, reply.text.size());
    if (checked % kReportEvery == 0) report(false);
  };
  pipeline(link, options.pipeline, ask, take);
  report(true);
  return wrong == 0 ? 0 : 1;
}

}  // namespace hmk::load
