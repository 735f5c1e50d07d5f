// SPDX-License-Identifier: MIT
//
// What an access takes by size of the fast memory, as a picture.
#pragma once

#include <string>
#include <vector>

#include "sizing.hpp"

namespace hmkctl {

/// `sizes` rise; `enough` is marked. An SVG file.
std::string size_picture(const std::string& title, const std::vector<Sized>& sizes,
                         const Prices& prices, std::uint64_t enough);

}  // namespace hmkctl
