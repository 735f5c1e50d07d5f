// SPDX-License-Identifier: MIT
//
// What the reading verbs answer, as JSON. The field names are an interface:
// tools/hmkctl/README.md lists them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace hmk {

class App;
class Target;

nlohmann::json report_status(App& app);
nlohmann::json report_stats(App& app);
nlohmann::json report_version(const App& app);
/// As `target` sees the tiers; null: as a process on the first node with CPUs.
nlohmann::json report_tiers(App& app, const Target* target);
/// The `limit` hottest regions of each; 0: all of them.
nlohmann::json report_regions(const std::vector<Target*>& targets, std::size_t limit);

}  // namespace hmk
