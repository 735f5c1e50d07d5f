// SPDX-License-Identifier: MIT
//
// A random source that gives the same numbers everywhere. A failing round is
// repeated by its seed, which every property test prints with SCOPED_TRACE.
#pragma once

#include <cstdint>

namespace hmk::test {

/// How many rounds to run: all of them, or an eighth in a build with sanitizers.
constexpr std::uint64_t rounds(std::uint64_t all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (all + 7) / 8;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return (all + 7) / 8;
#else
  return all;
#endif
#else
  return all;
#endif
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 .. limit - 1
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  std::uint32_t below32(std::uint32_t limit) { return static_cast<std::uint32_t>(below(limit)); }
  /// True in one of `n` cases.
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace hmk::test
