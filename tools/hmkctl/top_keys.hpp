// SPDX-License-Identifier: MIT
//
// What the keys of `top` do.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "region_rows.hpp"
#include "window.hpp"

namespace hmkctl {

struct Quit {};
struct Redraw {};
using Action = std::variant<Quit, Redraw, Step, const RegionOrder*>;

/// `code`: of ncurses' getch(); nothing for a key without a meaning.
std::optional<Action> action_of(int code);

/// Lines that name them.
std::string key_help();

}  // namespace hmkctl
