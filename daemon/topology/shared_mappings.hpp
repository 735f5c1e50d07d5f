// SPDX-License-Identifier: MIT
//
// What of a process's memory other processes may map as well, by the file that it is a part of:
// shared anonymous memory and that of System V have one each, too.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hmk {

/// Its device and inode: the same for all processes that map it.
using SharedObject = std::pair<std::uint64_t, std::uint64_t>;

/// [start, end) of a process is what `object` holds from `offset` on; bytes, page aligned.
struct SharedMapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  SharedObject object{};
  bool operator==(const SharedMapping&) const = default;
};

/// Of the text of /proc/PID/maps, in address order; what makes no sense is left out.
std::vector<SharedMapping> parse_shared_mappings(std::string_view maps);

}  // namespace hmk
