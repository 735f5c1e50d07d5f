// SPDX-License-Identifier: MIT
// The verbs of hmk-load-kv and what they share: which keys exist and which version each must have.
#ifndef HMK_LOAD_KV_HPP
#define HMK_LOAD_KV_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmk::load {

/// What redis-server must hold. Lives in a file between the verbs; keep it on a tmpfs.
struct KvState {
  std::uint64_t value_bytes = 0;
  std::vector<std::uint32_t> versions;  // per key; 0 means never written

  /// Throws std::runtime_error with file and reason.
  static KvState load(const std::string& file);
  void save(const std::string& file) const;
};

struct KvOptions {
  std::string socket;
  std::string state_file;
  std::uint64_t pipeline = 64;
  // fill
  std::uint64_t keys = 0;
  std::uint64_t value_bytes = 0;
  // run
  std::uint64_t seed = 1;
  std::uint64_t for_ms = 0;  // 0: no limit
  std::uint64_t ops = 0;     // 0: no limit
  double read_share = 0.95;
  bool in_place = false;
};

/// Each prints JSON lines and returns the exit code: 0, or 1 when a value was wrong.
int kv_fill(const KvOptions& options);
int kv_run(const KvOptions& options);
int kv_check(const KvOptions& options);

}  // namespace hmk::load

#endif
