// SPDX-License-Identifier: MIT
#include "top_keys.hpp"

#include <ncurses.h>

#include <algorithm>

namespace hmkctl {

std::optional<Action> action_of(int code) {
  switch (code) {
    case 'q':
      return Quit{};
    case KEY_RESIZE:
      return Redraw{};
    case KEY_UP:
      return Step::up;
    case KEY_DOWN:
      return Step::down;
    case KEY_PPAGE:
      return Step::page_up;
    case KEY_NPAGE:
      return Step::page_down;
    case KEY_HOME:
      return Step::home;
    case KEY_END:
      return Step::end;
    case KEY_LEFT:
      return Step::left;
    case KEY_RIGHT:
      return Step::right;
    default:
      break;
  }
  const auto* const order = std::ranges::find(kRegionOrders, code, &RegionOrder::key);
  if (order != kRegionOrders.end()) return order;
  return std::nullopt;
}

std::string key_help() {
  std::string help = " q: leave  sort by:";
  for (const RegionOrder& order : kRegionOrders)
    help +=
        std::string(&order == kRegionOrders.data() ? " " : ", ") + order.key + " " + order.meaning;
  return help + "\n scroll: arrows, page up, page down, home, end ";
}

}  // namespace hmkctl
