// SPDX-License-Identifier: MIT
//
// What the reading verbs answer, as JSON. The field names are an interface:
// tools/hmkctl/README.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "region_order.hpp"

namespace hmk {

class App;
class Target;

nlohmann::json report_daemon(const App& app);
nlohmann::json report_status(App& app, const std::vector<Target*>& shown);
/// The values in force of these keys, and where they come from.
nlohmann::json report_values(const App& app, std::span<const std::string_view> names);
/// What moves earn and cost.
nlohmann::json report_gains(const std::vector<Target*>& targets);
nlohmann::json report_stats(App& app, const std::vector<Target*>& shown);
nlohmann::json report_version(const App& app);
/// As `target` sees the tiers; null: as a process on the first node with CPUs.
nlohmann::json report_tiers(App& app, const Target* target);
/// The first `limit` regions of each in that order; 0: all of them.
nlohmann::json report_regions(const std::vector<Target*>& targets, std::size_t limit,
                              RegionOrder order);

/// What is known of [start, end): the region there now, what was seen of it, what
/// was decided about it and why.
nlohmann::json report_why(const App& app, const Target& target, std::uint64_t start,
                          std::uint64_t end);

/// Its moments since it was attached, and the last `decisions`.
nlohmann::json report_history(const Target& target, std::size_t decisions);
/// Of those that follow a plan from a file: how far they are.
nlohmann::json report_plans(const std::vector<Target*>& targets);
/// All its regions as an earlier interval saw them, 0: the last one; null when it is not known.
nlohmann::json report_past(const Target& target, std::size_t age);

}  // namespace hmk
