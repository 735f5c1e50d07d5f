// SPDX-License-Identifier: MIT
#include "control/protocol.hpp"

#include <algorithm>

namespace hmk {
namespace {

using nlohmann::json;

/// Deepest nesting of brackets outside strings.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<Request> parse_request(std::string_view line) {
  const char* const remedy = R"(send {"verb": "status"} and a newline)";
  if (depth_of(line) > kMaxDepth)
    return Error{"request nests deeper than " + std::to_string(kMaxDepth) + " levels", remedy};
  const json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return Error{"request is no JSON object", remedy};
  Request request;
  for (const auto& [name, member] : value.items()) {
    if (name == "verb" && member.is_string()) {
      request.verb = member.get<std::string>();
    } else if (name == "args" && member.is_object()) {
      request.args = member;
    } else {
      return Error{"request has the unknown or ill-typed member '" + name + "'", remedy};
    }
  }
  if (request.verb.empty()) return Error{"request has no verb", remedy};
  return request;
}

json answer(json data) {
  return {{"ok", true}, {"data", std::move(data)}};
}

json refusal(std::string_view kind, const Error& error) {
  json told{{"kind", kind}, {"what", error.what}, {"remedy", error.remedy}};
  if (error.err != 0) told["errno"] = error.err;
  return {{"ok", false}, {"error", std::move(told)}};
}

std::string to_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hmk
