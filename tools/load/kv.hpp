// SPDX-License-Identifier: MIT
// The verbs of hmk-load-kv and what they share: which keys exist and which version each must have.
#ifndef HMK_LOAD_KV_HPP
#define HMK_LOAD_KV_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "link.hpp"
#include "random.hpp"
#include "stage.hpp"

namespace hmk::load {

/// What the server must hold. Lives in a file between the verbs; keep it on a tmpfs.
struct KvState {
  std::uint64_t value_bytes = 0;
  std::vector<std::uint32_t> versions;  // per key; 0 means never written

  /// Throws std::runtime_error with file and reason.
  static KvState load(const std::string& file);
  void save(const std::string& file) const;
};

enum class KeysBy { kLatest, kZipf };

/// Which key is asked for next, by the YCSB zipfian. With "latest" the last one inserted most
/// often; with "zipf" the ranks are scattered over all keys by a hash, as YCSB scatters them.
class KeyChoice {
 public:
  KeyChoice(KeysBy by, std::uint64_t keys) : by_(by), keys_(keys), zipf_(keys < 2 ? 2 : keys) {}

  std::uint32_t operator()(Random& random) const { return key(zipf_(random.unit())); }

  /// The key of a rank; rank 0 is drawn most often.
  std::uint32_t key(std::uint64_t rank) const {
    if (by_ == KeysBy::kZipf) rank = Random(rank).below(keys_);
    return static_cast<std::uint32_t>(keys_ - 1 - std::min(rank, keys_ - 1));
  }

 private:
  KeysBy by_;
  std::uint64_t keys_;
  Zipf zipf_;
};

struct KvOptions {
  Server server = Server::kRedis;
  std::string socket;
  std::string state_file;
  std::uint64_t pipeline = 64;
  // fill
  std::uint64_t keys = 0;
  std::uint64_t value_bytes = 0;
  // run
  std::uint64_t seed = 1;
  KeysBy keys_by = KeysBy::kLatest;
  double read_share = 0.95;
  bool in_place = false;
};

/// Each prints JSON lines and returns the exit code: 0, or 1 when a value was wrong.
int kv_fill(const KvOptions& options);
int kv_run(const KvOptions& options, Stage& stage);
int kv_check(const KvOptions& options);

}  // namespace hmk::load

#endif
