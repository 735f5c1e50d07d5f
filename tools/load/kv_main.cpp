// SPDX-License-Identifier: MIT
// hmk-load-kv: a skewed load on an unmodified redis-server or memcached whose every answer is
// checked.
#include <cstdio>
#include <functional>
#include <optional>

#include "kv.hpp"
#include "options.hpp"

namespace {

const std::string kUsage =
    std::string(
        "usage: hmk-load-kv fill  --socket PATH --state FILE --keys N --value-size SIZE\n"
        "       hmk-load-kv run   --socket PATH --state FILE [--keys-by latest|zipf] [--seed N]\n"
        "                         [--read-share 95%] [--in-place]\n"
        "       hmk-load-kv check --socket PATH --state FILE\n"
        "each with [--server redis|memcached] [--pipeline N]. fill inserts keys 0..N-1 in order. "
        "run\n"
        "draws keys by the YCSB zipfian (0.99): latest asks for the last ones inserted most "
        "often,\n"
        "zipf for keys anywhere. Updates set the whole value; --in-place has redis-server keep it\n"
        "where it is (SETRANGE), memcached never does. check reads every key back. Four batches "
        "of\n"
        "--pipeline requests are under way at a time. FILE carries the version of each key from "
        "verb\n"
        "to verb; put it on a tmpfs.\n") +
    hmk::load::Stage::kUsage;

}  // namespace

int main(int argc, char** argv) {
  using namespace hmk::load;
  Options options(argc, argv, kUsage);
  const auto verb = options.verb();
  KvOptions kv;
  kv.socket = options.text("--socket", "");
  kv.state_file = options.text("--state", "");
  if (kv.socket.empty() || kv.state_file.empty()) options.fail("--socket and --state are needed");
  const std::string server = options.text("--server", "redis");
  if (server != "redis" && server != "memcached")
    options.fail("--server " + server + ": want redis or memcached");
  kv.server = server == "redis" ? Server::kRedis : Server::kMemcached;
  kv.pipeline = options.number("--pipeline", verb == "fill" ? 64 : 16);
  if (kv.pipeline == 0) options.fail("--pipeline must be at least 1");

  std::function<int(const KvOptions&)> act;
  std::optional<Stage> stage;
  if (verb == "fill") {
    kv.keys = options.number("--keys", 0);
    kv.value_bytes = options.bytes("--value-size", 0);
    if (kv.keys == 0 || kv.keys > UINT32_MAX) options.fail("--keys must be 1 .. 2^32-1");
    if (kv.value_bytes == 0 || kv.value_bytes % 8 != 0 || kv.value_bytes > 1 << 20)
      options.fail("--value-size must be a multiple of 8B, at most 1MiB");
    act = kv_fill;
  } else if (verb == "run") {
    stage.emplace(options, Truth::kUnknown);
    const std::string keys_by = options.text("--keys-by", "latest");
    if (keys_by != "latest" && keys_by != "zipf")
      options.fail("--keys-by " + keys_by + ": want latest or zipf");
    kv.keys_by = keys_by == "latest" ? KeysBy::kLatest : KeysBy::kZipf;
    kv.seed = options.number("--seed", 1);
    kv.read_share = options.share("--read-share", 0.95);
    kv.in_place = options.flag("--in-place");
    act = [&](const KvOptions& run) { return kv_run(run, *stage); };
  } else if (verb == "check") {
    act = kv_check;
  } else {
    options.fail("want a verb: fill, run or check");
  }
  options.finish();

  return options.attempt([&] { return act(kv); });
}
