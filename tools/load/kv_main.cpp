// SPDX-License-Identifier: MIT
// hmk-load-kv: a skewed load on an unmodified redis-server whose every answer is checked.
#include <cstdio>
#include <exception>

#include "kv.hpp"
#include "options.hpp"

namespace {

constexpr const char* kUsage =
    "usage: hmk-load-kv fill  --socket PATH --state FILE --keys N --value-size SIZE [--pipeline "
    "N]\n"
    "       hmk-load-kv run   --socket PATH --state FILE [--for TIME] [--ops N] [--read-share "
    "95%]\n"
    "                         [--seed N] [--pipeline N] [--in-place]\n"
    "       hmk-load-kv check --socket PATH --state FILE [--pipeline N]\n"
    "fill inserts keys 0..N-1 in order. run draws keys by the YCSB zipfian (0.99) over recency, "
    "the\n"
    "last one inserted most often, until TIME, N operations or SIGTERM; updates are SET of the "
    "whole\n"
    "value, with --in-place SETRANGE at offset 0, which keeps the value where it is. check reads "
    "every\n"
    "key back. Four batches of --pipeline requests are under way at a time. FILE carries the "
    "version of each key from verb to verb; put it on a tmpfs.\n"
    "JSON lines on stdout; exit code 0, 1 (a value was wrong, or the server failed), 2 (usage).";

}  // namespace

int main(int argc, char** argv) {
  using namespace hmk::load;
  Options options(argc, argv, kUsage);
  const auto verb = options.verb();
  KvOptions kv;
  kv.socket = options.text("--socket", "");
  kv.state_file = options.text("--state", "");
  if (kv.socket.empty() || kv.state_file.empty()) options.fail("--socket and --state are needed");
  kv.pipeline = options.number("--pipeline", verb == "fill" ? 64 : 16);
  if (kv.pipeline == 0) options.fail("--pipeline must be at least 1");

  int (*act)(const KvOptions&) = nullptr;
  if (verb == "fill") {
    kv.keys = options.number("--keys", 0);
    kv.value_bytes = options.bytes("--value-size", 0);
    if (kv.keys == 0 || kv.keys > UINT32_MAX) options.fail("--keys must be 1 .. 2^32-1");
    if (kv.value_bytes == 0 || kv.value_bytes % 8 != 0 || kv.value_bytes > 1 << 20)
      options.fail("--value-size must be a multiple of 8B, at most 1MiB");
    act = kv_fill;
  } else if (verb == "run") {
    kv.for_ms = options.milliseconds("--for", 0);
    kv.ops = options.number("--ops", 0);
    kv.seed = options.number("--seed", 1);
    kv.read_share = options.share("--read-share", 0.95);
    kv.in_place = options.flag("--in-place");
    act = kv_run;
  } else if (verb == "check") {
    act = kv_check;
  } else {
    options.fail("want a verb: fill, run or check");
  }
  options.finish();

  try {
    return act(kv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmk-load-kv: %s\n", error.what());
    return 1;
  }
}
