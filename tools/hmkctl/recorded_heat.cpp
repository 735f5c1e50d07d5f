// SPDX-License-Identifier: MIT
#include "recorded_heat.hpp"

#include <algorithm>

namespace hmkctl {

hmk::Result<HeatPieces> recorded_heat(const std::string& file, const Frames& frames) {
  constexpr std::size_t kWindows = 32;
  Borders borders;
  std::size_t number = 0;
  const auto divided = frames.each([&](const hmk::RecordedFrame& frame) {
    borders.add(frame);
    ++number;
  });
  if (!divided) return divided.error();
  HeatPieces heat(borders, kWindows, std::max(number, std::size_t{1}));
  if (const auto added = frames.each([&](const auto& frame) { heat.add(frame); }); !added)
    return added.error();
  if (!heat.has_rates())
    return hmk::Error{file + ": holds hotness and no rates, as format 1 does", "record again"};
  if (heat.accesses() == 0)
    return hmk::Error{file + ": nothing was accessed in it", "record the program while it works"};
  return heat;
}

double recorded_page_ns(const hmk::RecordedMachine& machine) {
  return machine.page_ns != 0 ? machine.page_ns : 2000;
}

nlohmann::json about(const Frames& frames, const HeatPieces& heat) {
  return {{"pid", frames.target.pid},
          {"comm", frames.target.comm},
          {"intervals", heat.frames()},
          {"time_ns", heat.time_ns()}};
}

}  // namespace hmkctl
