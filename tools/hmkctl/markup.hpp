// SPDX-License-Identifier: MIT
//
// Text as HTML and SVG show it, whatever bytes are in it.
#pragma once

#include <string>
#include <vector>

namespace hmkctl {

std::string escaped(const std::string& text);

/// "<tag>text</tag>", the text escaped.
std::string element(const char* tag, const std::string& text);
/// A table; `titles` and `rows` are escaped here.
std::string html_table(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace hmkctl
