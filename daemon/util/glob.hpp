// SPDX-License-Identifier: MIT
//
// * and ? for others, and nothing else: in time of the two lengths' product at most, for the text
// may be anybody's and as long as a command line.
//
//   is_like("redis*", "redis-server")  ->  true
#pragma once

#include <string_view>

namespace hmk {

inline bool is_like(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {  // the last star takes one more
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace hmk
