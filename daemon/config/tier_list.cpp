// SPDX-License-Identifier: MIT
#include "config/tier_list.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "util/units.hpp"

namespace hmk {
namespace {

constexpr std::uint64_t kMostNode = 63;
constexpr std::uint64_t kMiB = 1ull << 20, kMostBandwidth = 1ull << 44;  // bytes a second
constexpr std::string_view kPerSecond = "/s";
constexpr const char* kWrite = "write auto, [0, 1, 2, 3] or [[0, 1], [2, 3]]";

Error wrong(const std::string& text, const std::string& why, const std::string& remedy) {
  return Error{"'" + text + "' " + why, remedy};
}

Result<int> parse_node(const YAML::Node& word) {
  if (!word.IsScalar()) return Error{"a node is no number", kWrite};
  const Result<std::uint64_t> number = parse_count(word.Scalar());
  if (!number || *number > kMostNode) return wrong(word.Scalar(), "is no node", "use 0 .. 63");
  return static_cast<int>(*number);
}

Result<void> parse_nodes(TierSpec& tier, const YAML::Node& nodes) {
  const auto add = [&](const YAML::Node& word) -> Result<void> {
    const Result<int> node = parse_node(word);
    if (!node) return node.error();
    tier.nodes.push_back(*node);
    return {};
  };
  if (!nodes.IsSequence()) return add(nodes);
  if (nodes.size() == 0)
    return Error{"a tier has no node", "give each at least one, as in [[0, 1], [2, 3]]"};
  for (const YAML::Node& word : nodes)
    if (Result<void> done = add(word); !done) return done;
  return {};
}

Result<void> parse_latency(std::uint32_t& member, const std::string& text) {
  const auto time = parse_duration(text);
  if (!time || time->count() < 1 || time->count() > 1'000'000)
    return wrong(text, "is no latency", "use 1ns .. 1ms");
  member = static_cast<std::uint32_t>(time->count());
  return {};
}

Result<void> parse_bandwidth(std::uint32_t& member, const std::string& text) {
  const bool is_rate = text.ends_with(kPerSecond);
  const auto size = parse_size(
      std::string_view(text).substr(0, is_rate ? text.size() - kPerSecond.size() : text.size()));
  if (!is_rate || !size || *size < kMiB || *size > kMostBandwidth)
    return wrong(text, "is no bandwidth", "use 1MiB/s .. 16TiB/s");
  member = static_cast<std::uint32_t>(*size / kMiB);
  return {};
}

Result<void> parse_field(TierSpec& tier, const std::string& name, const YAML::Node& value) {
  if (name == "nodes") return parse_nodes(tier, value);
  const std::string text = value.IsScalar() ? value.Scalar() : "";
  if (name == "read") return parse_latency(tier.latency_ns, text);
  if (name == "write") return parse_latency(tier.write_latency_ns, text);
  if (name == "bandwidth") return parse_bandwidth(tier.bandwidth_mib, text);
  return wrong(name, "is no field of a tier", "use nodes, read, write and bandwidth");
}

Result<TierSpec> parse_tier(const YAML::Node& value) {
  TierSpec tier;
  if (!value.IsMap()) {
    if (Result<void> done = parse_nodes(tier, value); !done) return done.error();
    return tier;
  }
  std::vector<std::string> names;
  for (const auto& field : value) {
    const std::string name = field.first.IsScalar() ? field.first.Scalar() : "";
    if (std::ranges::find(names, name) != names.end())
      return wrong(name, "is given twice", "remove one of them");
    names.push_back(name);
    if (Result<void> done = parse_field(tier, name, field.second); !done) return done.error();
  }
  if (tier.nodes.empty()) return Error{"a tier has no node", "add 'nodes: [0, 1]'"};
  if (tier.write_latency_ns != 0 && tier.latency_ns == 0)
    return Error{"a tier has a write latency alone", "give 'read' as well"};
  return tier;
}

Result<void> check_nodes(const std::vector<TierSpec>& tiers) {
  std::vector<int> seen;
  for (const TierSpec& tier : tiers)
    for (const int node : tier.nodes) {
      if (std::ranges::find(seen, node) != seen.end())
        return Error{"node " + std::to_string(node) + " is given twice",
                     "name each node in one tier"};
      seen.push_back(node);
    }
  return {};
}

std::string tier_text(const TierSpec& tier, bool as_set) {
  std::string nodes;
  for (const int node : tier.nodes) nodes += (nodes.empty() ? "" : ",") + std::to_string(node);
  if (as_set) nodes = "[" + nodes + "]";
  const auto ns = [](std::uint32_t value) {
    return format_duration(std::chrono::nanoseconds(value));
  };
  std::string fields;
  if (tier.latency_ns != 0) fields += ", read: " + ns(tier.latency_ns);
  if (tier.write_latency_ns != 0) fields += ", write: " + ns(tier.write_latency_ns);
  if (tier.bandwidth_mib != 0)
    fields += ", bandwidth: " + format_size(std::uint64_t{tier.bandwidth_mib} * kMiB) + "/s";
  return fields.empty() ? nodes : "{nodes: " + nodes + fields + "}";
}

}  // namespace

Result<std::vector<TierSpec>> parse_tiers(std::string_view text) {
  std::vector<TierSpec> tiers;
  if (text == "auto") return tiers;
  YAML::Node list;
  try {
    // "0,1" as `hmkctl set` may say it, and a whole list as in the file.
    list = YAML::Load(text.starts_with('[') ? std::string(text) : "[" + std::string(text) + "]");
  } catch (const YAML::Exception&) {
    return wrong(std::string(text), "is not understood", kWrite);
  }
  if (!list.IsSequence()) return wrong(std::string(text), "is not understood", kWrite);
  for (const YAML::Node& value : list) {
    Result<TierSpec> tier = parse_tier(value);
    if (!tier) return tier.error();
    tiers.push_back(*std::move(tier));
  }
  if (tiers.empty()) return Error{"names no node", "write auto, or nodes: [0, 1, 2, 3]"};
  if (Result<void> done = check_nodes(tiers); !done) return done.error();
  return tiers;
}

std::string tiers_text(const std::vector<TierSpec>& tiers) {
  if (tiers.empty()) return "auto";
  const bool plain = std::ranges::all_of(
      tiers, [](const TierSpec& tier) { return tier == TierSpec{{tier.nodes.front()}}; });
  std::string text;
  for (const TierSpec& tier : tiers) text += (text.empty() ? "" : ",") + tier_text(tier, !plain);
  return plain ? text : "[" + text + "]";
}

}  // namespace hmk
