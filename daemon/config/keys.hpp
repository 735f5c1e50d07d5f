// SPDX-License-Identifier: MIT
//
// The list of keys whose value is one word: how each is read from text, checked
// and written back. The config file and `hmkctl set` share it.
//
//   const Key* key = find_key("interval");
//   Result<void> done = key->set(config, "500ms");
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "util/result.hpp"

namespace hmk {

struct Key {
  std::string_view name;
  std::string_view help;  ///< unit and range, for messages and listings
  bool is_live;           ///< `hmkctl set` may change it while hmkd runs
  bool is_profiling;      ///< the module must be told
  Result<void> (*set)(Config&, std::string_view text);  ///< leaves the config alone on error
  std::string (*get)(const Config&);
  bool is_list = false;    ///< the file may say [a, b] for "a,b"
  bool is_nested = false;  ///< and lists and maps in it, which `set` then reads as they stand
  bool is_added_to = false;  ///< by a file of conf.d, which replaces what other keys have
};

std::span<const Key> keys();
const Key* find_key(std::string_view name);

/// The words that may stand for a value of the key, "auto" among others; none: there are none.
std::span<const std::string_view> words_of(std::string_view name);

/// Names of all keys: to suggest the nearest.
std::span<const std::string_view> key_names();
/// Names of the keys that `hmkctl set` takes.
std::span<const std::string_view> live_key_names();

}  // namespace hmk
