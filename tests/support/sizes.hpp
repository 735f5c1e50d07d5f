// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace hmk::test {

inline constexpr std::uint64_t kMiB = 1ull << 20;

}  // namespace hmk::test
