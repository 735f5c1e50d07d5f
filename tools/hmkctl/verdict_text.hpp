// SPDX-License-Identifier: MIT
//
// A verdict in plain words: what was found, and what to do about it.
#pragma once

#include <string>

#include "outlook.hpp"

namespace hmkctl {

/// One or two sentences.
std::string verdict_text(const Outlook& outlook);
/// What to do next; empty when there is nothing to do.
std::string verdict_remedy(const Outlook& outlook, int pid);

/// "41 %".
std::string percent_text(double share);

/// A bar per size, halving from all memory down: what share of the accesses the hottest part
/// serves.
std::string curve_text(const Outlook& outlook);

}  // namespace hmkctl
