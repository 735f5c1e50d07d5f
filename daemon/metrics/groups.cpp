// SPDX-License-Identifier: MIT
#include "metrics/groups.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace hmk {
namespace {

using nlohmann::json;

/// Members that tell the rows of a list apart.
constexpr std::array<std::string_view, 5> kNames{"tier", "nodes", "from_tier", "to_tier",
                                                 "below_us"};
/// Of several the largest counts: a longest time, or what is the machine's and not the process's.
constexpr std::array<std::string_view, 8> kLargest{
    "longest_ns", "commit_max_ns", "join_max_ns", "promote_limit_divisor",
    "free_bytes", "cache_bytes",   "total_bytes", "latency_ns"};

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void add_number(json& sum, const json& more, bool is_largest) {
  const auto put = [&](auto a, auto b) { sum = is_largest ? std::max(a, b) : a + b; };
  if (sum.is_number_float() || more.is_number_float())
    put(sum.get<double>(), more.get<double>());
  else if (sum.is_number_unsigned() && more.is_number_unsigned())
    put(sum.get<std::uint64_t>(), more.get<std::uint64_t>());
  else
    put(sum.get<std::int64_t>(), more.get<std::int64_t>());
}

void add_rows(json& sum, const json& more);

/// What is not known of one is that of the other.
void add_up(json& sum, const json& more, std::string_view name = "") {
  if (more.is_null()) return;
  if (sum.is_null())
    sum = more;
  else if (more.is_object() && sum.is_object())
    for (const auto& [member, value] : more.items()) {
      if (!is_in(kNames, member)) add_up(sum[member], value, member);
    }
  else if (more.is_array() && sum.is_array())
    add_rows(sum, more);
  else if (more.is_number() && sum.is_number())
    add_number(sum, more, is_in(kLargest, name));
}

void add_rows(json& sum, const json& more) {
  for (const json& row : more) {
    if (!row.is_object()) continue;
    const auto same = std::ranges::find_if(sum, [&](const json& other) {
      return std::ranges::all_of(kNames, [&](std::string_view name) {
        return other.value(std::string(name), json()) == row.value(std::string(name), json());
      });
    });
    if (same == sum.end())
      sum.push_back(row);
    else
      add_up(*same, row);
  }
}

}  // namespace

json named(json row, bool by_pid) {
  const std::string rule = row.value("rule", "");
  if (!rule.empty() && rule.find_first_not_of("0123456789") == rule.npos) row["rule"] = "pid";
  if (!by_pid)
    for (const char* const one : {"pid", "comm"}) row.erase(one);
  return row;
}

json grouped(const json& rows, bool by_pid) {
  std::map<std::array<json, 3>, json> groups;
  for (const json& each : rows) {
    const json row = named(each, by_pid);
    const auto own = [&](const char* member) { return row.value(member, json()); };
    add_up(groups[{own("class"), own("rule"), own("pid")}], row);
  }
  json out = json::array();
  for (auto& [key, row] : groups) out.push_back(std::move(row));
  return out;
}

void EndedProcesses::add(json row) {
  rows_.push_back(std::move(row));
  rows_ = grouped(rows_);
  if (rows_.size() <= kMost) return;
  for (std::size_t i = kMost - 1; i < rows_.size(); ++i) {
    rows_[i]["class"] = nullptr;
    rows_[i]["rule"] = "others";
  }
  rows_ = grouped(rows_);
}

}  // namespace hmk
