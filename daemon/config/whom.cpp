// SPDX-License-Identifier: MIT
#include "config/whom.hpp"

#include <algorithm>

#include "util/units.hpp"

namespace hmk {
namespace {

constexpr std::uint64_t kMostWeight = 10000, kMostTiers = 64;
constexpr std::uint64_t kLeastRate = 1ull << 20, kMostRate = 1ull << 40;

/// Calls take(name, value) for each "NAME=VALUE" between commas; false: refused.
template <class Take>
Result<void> for_each_named(std::string_view text, const std::string& example, Take&& take) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    const std::size_t sign = one.rfind('=');
    if (sign == one.npos || sign == 0 || !take(one.substr(0, sign), one.substr(sign + 1)))
      return Error{"'" + std::string(one) + "' is not understood or there twice",
                   "write each as in " + example};
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

/// Counted from 0; -1: it is none.
int to_tier(std::string_view text) {
  const Result<std::uint64_t> tier = parse_count(text);
  return tier && *tier >= 1 && *tier <= kMostTiers ? static_cast<int>(*tier) - 1 : -1;
}

template <class Map>
auto find_for(const Map& map, std::int32_t pid, const std::string& comm, const std::string& tier) {
  const auto by_pid = map.find(std::to_string(pid) + tier);
  return by_pid != map.end() ? by_pid : map.find(comm + tier);
}

}  // namespace

Result<void> set_weights(Config& config, std::string_view text) {
  std::map<std::string, std::uint32_t> weights;
  const bool is_word = text == "equal" || text == "none";
  Result<void> done =
      for_each_named(is_word ? "" : text, "redis-server=3,4711=1; weights are 1 .. 10000",
                     [&](std::string_view name, std::string_view value) {
                       const Result<std::uint64_t> weight = parse_count(value);
                       return weight && *weight >= 1 && *weight <= kMostWeight &&
                              weights.emplace(name, static_cast<std::uint32_t>(*weight)).second;
                     });
  if (!done) return done;
  if (weights.empty() && !is_word)
    return Error{"names no process", "write equal, none, or PROCESS=WEIGHT between commas"};
  config.weights = std::move(weights);
  config.shares_by_weight = text != "none";
  return {};
}

std::string weights_text(const Config& config) {
  std::string text;
  for (const auto& [name, weight] : config.weights)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(weight);
  return !config.shares_by_weight ? "none" : text.empty() ? "equal" : text;
}

Result<void> set_own_weight(Config& config, std::string_view text) {
  const Result<std::uint64_t> weight = parse_count(text);
  if (!weight || *weight < 1 || *weight > kMostWeight)
    return Error{"'" + std::string(text) + "' is no weight", "use 1 .. 10000"};
  config.weights.clear();
  config.own_weight = static_cast<std::uint32_t>(*weight);
  return {};
}

Result<void> set_own_bounds(SizeByProcess& bounds, std::string_view text) {
  SizeByProcess given;
  Result<void> done = for_each_named(
      text, "1=4GiB; tiers count from 1", [&](std::string_view tier, std::string_view value) {
        const Result<std::uint64_t> size = parse_size(value);
        return to_tier(tier) >= 0 && size && given.emplace("/" + std::string(tier), *size).second;
      });
  if (!done) return done;
  if (given.empty()) return Error{"names no tier", "write TIER=SIZE, as in 1=4GiB"};
  bounds = std::move(given);
  return {};
}

Result<void> set_governor(Config& config, std::string_view text) {
  const std::string_view first = text.substr(0, text.find(','));
  const bool others = first != "off";
  if (first == "on" || first == "off") text.remove_prefix(std::min(first.size() + 1, text.size()));
  std::map<std::string, bool> governed;
  Result<void> done = for_each_named(text, "on, off, or off,redis-server=on,4711=on",
                                     [&](std::string_view name, std::string_view value) {
                                       return (value == "on" || value == "off") &&
                                              governed.emplace(name, value == "on").second;
                                     });
  if (!done) return done;
  config.is_governed = others;
  config.governed = std::move(governed);
  return {};
}

std::string governor_text(const Config& config) {
  std::string text = config.is_governed ? "on" : "off";
  for (const auto& [name, is_on] : config.governed) text += "," + name + (is_on ? "=on" : "=off");
  return text;
}

Result<void> set_bounds(SizeByProcess& bounds, std::string_view text) {
  SizeByProcess given;
  Result<void> done = for_each_named(
      text == "none" ? "" : text, "redis-server/1=4GiB; tiers count from 1",
      [&](std::string_view name, std::string_view value) {
        const std::size_t slash = name.rfind('/');
        const Result<std::uint64_t> size = parse_size(value);
        return slash != name.npos && slash > 0 && to_tier(name.substr(slash + 1)) >= 0 && size &&
               given.emplace(name, *size).second;
      });
  if (!done) return done;
  bounds = std::move(given);
  return {};
}

std::string bounds_text(const SizeByProcess& bounds) {
  std::string text;
  for (const auto& [name, size] : bounds)
    text += (text.empty() ? "" : ",") + name + "=" + format_size(size);
  return text.empty() ? "none" : text;
}

Result<void> set_bandwidth(Config& config, std::string_view text) {
  TierRates given;
  Result<void> done = for_each_named(
      text == "none" ? "" : text,
      "1/3=500MiB a second from tier 1 to tier 3; rates are 1MiB .. 1TiB",
      [&](std::string_view name, std::string_view value) {
        const std::size_t slash = name.find('/');
        const int from = to_tier(name.substr(0, slash));
        const int to = slash == name.npos ? -1 : to_tier(name.substr(slash + 1));
        const Result<std::uint64_t> rate = parse_size(value);
        return from >= 0 && to >= 0 && from != to && rate && *rate >= kLeastRate &&
               *rate <= kMostRate && given.emplace(std::pair(from, to), *rate).second;
      });
  if (!done) return done;
  config.bandwidth = std::move(given);
  return {};
}

std::string bandwidth_text(const Config& config) {
  std::string text;
  for (const auto& [tiers, rate] : config.bandwidth)
    text += (text.empty() ? "" : ",") + std::to_string(tiers.first + 1) + "/" +
            std::to_string(tiers.second + 1) + "=" + format_size(rate);
  return text.empty() ? "none" : text;
}

std::uint32_t weight_of(const Config& config, std::int32_t pid, const std::string& comm) {
  const auto found = find_for(config.weights, pid, comm, "");
  return found == config.weights.end() ? config.own_weight : found->second;
}

bool is_governed(const Config& config, std::int32_t pid, const std::string& comm) {
  const auto found = find_for(config.governed, pid, comm, "");
  return found == config.governed.end() ? config.is_governed : found->second;
}

std::optional<std::uint64_t> bound_of(const SizeByProcess& bounds, std::int32_t pid,
                                      const std::string& comm, std::size_t tier) {
  const std::string number = "/" + std::to_string(tier + 1);
  auto found = find_for(bounds, pid, comm, number);
  if (found == bounds.end()) found = bounds.find(number);
  if (found == bounds.end()) return std::nullopt;
  return found->second;
}

}  // namespace hmk
