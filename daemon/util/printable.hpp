// SPDX-License-Identifier: MIT
//
// The one way by which text of unknown origin - names of processes above all - comes into
// a log line, onto a terminal or into a message.
//
//   printable("\n<0>forged\x1b[2J")   ->   \x0a<0>forged\x1b[2J, in letters
#pragma once

#include <string>
#include <string_view>

namespace hmk {

/// One line of valid UTF-8 without anything a journal or a terminal acts on: control
/// characters (C0, DEL, C1), line and paragraph separators, marks that turn the direction
/// of writing, and bytes that are no UTF-8 become \xNN. Other text stays as it is, so that
/// doing it twice does no more than doing it once.
std::string printable(std::string_view text);

/// As a value of key=value: in quotes if it could be taken for more than one word.
std::string printable_word(std::string_view text);

}  // namespace hmk
