// SPDX-License-Identifier: MIT
//
// One description of rows makes both faces of an answer: aligned text and JSON.
// What is not described is shown in neither, so the two cannot drift apart.
//
//   const Table kTiers{"tiers", {{"tier", "TIER"}, {"free_bytes", "FREE", Unit::bytes}}};
//   print(answer, {kTiers}, is_json);
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hmkctl {

enum class Unit { plain, bytes, percent, ns, ns_per_second, address, decimal, per_second };

struct Column {
  const char* key;    ///< member of the row; "a/b" is member b of member a
  const char* title;  ///< empty: in the JSON only
  Unit unit = Unit::plain;
};

enum class Layout {
  rows,   ///< a header and one line per row
  fields  ///< one "title value" line per column, a block per row
};

struct Table {
  const char* key;  ///< the array of rows; an object there is a single row
  std::vector<Column> columns;
  Layout layout = Layout::rows;
  std::vector<Table> inner = {};  ///< tables inside each row
  const char* when_empty = "none";  ///< empty: then nothing is said of it
};

/// The described members of `answer`, nothing else.
nlohmann::json select(const nlohmann::json& answer, const std::vector<Table>& tables);
std::string to_text(const nlohmann::json& answer, const std::vector<Table>& tables);

/// With a newline; only ASCII, so that no name in it can do anything to a terminal.
std::string json_text(const nlohmann::json& value, int indent);

/// To stdout, as JSON or text.
void print(const nlohmann::json& answer, const std::vector<Table>& tables, bool as_json);

/// For people: "12.3MiB", "3.80%", "1.2ms", "1.2ms/s", "30.1/s".
std::string to_text(const nlohmann::json& value, Unit unit);

}  // namespace hmkctl
