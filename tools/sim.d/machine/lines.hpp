// SPDX-License-Identifier: MIT
//
// Lines of the cache that some memory is used by, as LabMachine::lines_ns() prices them.
#pragma once

namespace hmk::sim {

struct Lines {
  double misses = 0;
  double streamed = 0;  // of the misses: fetched ahead
  double written = 0;   // back, on their way out

  Lines& operator+=(const Lines& more) {
    misses += more.misses, streamed += more.streamed, written += more.written;
    return *this;
  }
  Lines operator*(double times) const {
    return {misses * times, streamed * times, written * times};
  }
};

}  // namespace hmk::sim
