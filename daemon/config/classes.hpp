// SPDX-License-Identifier: MIT
//
// Classes of processes: `classes` of the config gives some processes settings of their own. The
// first class that names a process counts; what it does not say is as for all.
//
//   auto classes = parse_classes("[{match: unit=redis.service, mode: manage, caps: [1=8GiB]}]");
//   if (const ProcessClass* own = class_of(config, process)) use(config_of(config, *own));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attach/rules.hpp"
#include "config/config.hpp"
#include "util/result.hpp"

namespace hmk {

/// "none", or a list of maps as YAML writes it on one line.
Result<std::vector<ProcessClass>> parse_classes(std::string_view text);
std::string classes_text(const std::vector<ProcessClass>& classes);

/// Which files of a process class_of() asks for.
Needs needs_of(const std::vector<ProcessClass>& classes);
/// Null: none names it.
const ProcessClass* class_of(const Config& config, const Candidate& process);
/// The config as it counts for the processes of that class.
Config config_of(const Config& config, const ProcessClass& own);

}  // namespace hmk
