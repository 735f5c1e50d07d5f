// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "util/printable.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

std::string with_suffix(double value, double step, const std::vector<const char*>& suffixes) {
  std::size_t at = 0;
  while (std::abs(value) >= step && at + 1 < suffixes.size()) {
    value /= step;
    ++at;
  }
  char text[48];
  std::snprintf(text, sizeof(text), at == 0 ? "%.0f%s" : "%.1f%s", value, suffixes[at]);
  return text;
}

json::json_pointer pointer(const char* key) {
  return json::json_pointer("/" + std::string(key));
}

json member(const json& row, const char* key) {
  const json::json_pointer where = pointer(key);
  return row.is_object() && row.contains(where) ? row.at(where) : json();
}

/// The rows of a table: an array, or one object that stands for itself.
std::vector<json> rows_of(const json& answer, const Table& table) {
  const json rows = member(answer, table.key);
  if (rows.is_array()) return rows.get<std::vector<json>>();
  if (rows.is_object()) return {rows};
  return {};
}

json select_row(const json& row, const Table& table) {
  json out = select(row, table.inner);
  for (const Column& column : table.columns) out[pointer(column.key)] = member(row, column.key);
  return out;
}

using Cells = std::vector<std::string>;

Cells cells_of(const json& row, const Table& table) {
  Cells cells;
  for (const Column& column : table.columns)
    if (*column.title != '\0') cells.push_back(to_text(member(row, column.key), column.unit));
  return cells;
}

Cells titles_of(const Table& table) {
  Cells titles;
  for (const Column& column : table.columns)
    if (*column.title != '\0') titles.emplace_back(column.title);
  return titles;
}

std::string aligned(const Cells& cells, const std::vector<std::size_t>& widths,
                    const std::string& indent) {
  std::string line = indent;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += cells[c];
    if (c + 1 < cells.size()) line += std::string(widths[c] - cells[c].size() + 2, ' ');
  }
  return line + "\n";
}

std::vector<std::size_t> widths_of(const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const Cells& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  return widths;
}

std::string table_text(const json& answer, const Table& table, const std::string& indent);

std::string inner_text(const json& row, const Table& table, const std::string& indent) {
  std::string text;
  for (const Table& inner : table.inner) text += table_text(row, inner, indent + "  ");
  return text;
}

std::string fields_text(const std::vector<json>& rows, const Table& table,
                        const std::string& indent) {
  std::string text;
  const Cells titles = titles_of(table);
  for (const json& row : rows) {
    const Cells cells = cells_of(row, table);
    std::vector<Cells> lines;
    for (std::size_t c = 0; c < cells.size(); ++c) lines.push_back({titles[c], cells[c]});
    const auto widths = widths_of(lines);
    for (const Cells& line : lines) text += aligned(line, widths, indent);
    text += inner_text(row, table, indent);
  }
  return text;
}

std::string rows_text(const std::vector<json>& rows, const Table& table,
                      const std::string& indent) {
  std::vector<Cells> lines{titles_of(table)};
  for (const json& row : rows) lines.push_back(cells_of(row, table));
  const auto widths = widths_of(lines);
  std::string text = aligned(lines[0], widths, indent);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += aligned(lines[r + 1], widths, indent);
    text += inner_text(rows[r], table, indent);
  }
  return text;
}

std::string table_text(const json& answer, const Table& table, const std::string& indent) {
  if (titles_of(table).empty()) return "";  // in the JSON only
  const std::vector<json> rows = rows_of(answer, table);
  if (rows.empty() && *table.when_empty == '\0') return "";
  if (rows.empty()) return indent + std::string(table.key) + ": " + table.when_empty + "\n";
  return table.layout == Layout::rows ? rows_text(rows, table, indent)
                                      : fields_text(rows, table, indent);
}

std::string list_text(const json& list) {
  std::string text;
  for (const json& item : list) {
    if (!text.empty()) text += ',';
    text += to_text(item, Unit::plain);
  }
  return text.empty() ? "-" : text;
}

}  // namespace

std::string to_text(const json& value, Unit unit) {
  if (value.is_null()) return "-";
  if (value.is_array()) return list_text(value);
  if (value.is_string()) return hmk::printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return hmk::printable(value.dump());
  char text[48];
  switch (unit) {
    case Unit::bytes:
      return with_suffix(value.get<double>(), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
    case Unit::ns:
      return with_suffix(value.get<double>(), 1000, {"ns", "us", "ms", "s"});
    case Unit::ns_per_second:
      return to_text(value, Unit::ns) + "/s";
    case Unit::percent:
      std::snprintf(text, sizeof(text), "%.2f%%", value.get<double>());
      return text;
    case Unit::per_second:
      std::snprintf(text, sizeof(text), "%.3g/s", value.get<double>());
      return text;
    case Unit::decimal:
      std::snprintf(text, sizeof(text), "%.2f", value.get<double>());
      return text;
    case Unit::address:
      std::snprintf(text, sizeof(text), "0x%llx",
                    static_cast<unsigned long long>(value.get<std::uint64_t>()));
      return text;
    case Unit::plain:
      break;
  }
  return value.dump();
}

json select(const json& answer, const std::vector<Table>& tables) {
  json out = json::object();
  for (const Table& table : tables) {
    json rows = json::array();
    for (const json& row : rows_of(answer, table)) rows.push_back(select_row(row, table));
    const bool is_single = member(answer, table.key).is_object();
    const bool is_unknown = answer.contains(table.key) && answer.at(table.key).is_null();
    out[pointer(table.key)] = is_unknown ? json() : is_single ? rows.front() : rows;
  }
  return out;
}

std::string to_text(const json& answer, const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) text += table_text(answer, table, "");
  return text;
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace) + "\n";
}

void print(const json& answer, const std::vector<Table>& tables, bool as_json) {
  const std::string text = as_json ? json_text(select(answer, tables), 2) : to_text(answer, tables);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace hmkctl
