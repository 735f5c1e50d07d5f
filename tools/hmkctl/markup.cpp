// SPDX-License-Identifier: MIT
#include "markup.hpp"

#include "util/printable.hpp"

namespace hmkctl {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : hmk::printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string element(const char* tag, const std::string& text) {
  return "<" + std::string(tag) + ">" + escaped(text) + "</" + tag + ">\n";
}

std::string html_table(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<table><tr>";
  for (const std::string& title : titles) html += "<th>" + escaped(title) + "</th>";
  for (const auto& row : rows) {
    html += "</tr>\n<tr>";
    for (const std::string& cell : row) html += "<td>" + escaped(cell) + "</td>";
  }
  return html + "</tr></table>\n";
}

}  // namespace hmkctl
