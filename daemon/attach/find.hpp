// SPDX-License-Identifier: MIT
//
// Looks through /proc for the processes that rules name.
//
//   for (const auto& [pid, rule] : find_wanted(list_processes("/"), rules, managed))
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "attach/rules.hpp"

namespace hmk {

/// What a rule looks at; nothing when `pid` is no application or has ended.
std::optional<Candidate> read_candidate(const std::filesystem::path& root, std::int32_t pid,
                                        const Needs& needs);

/// Of those that are applications and there.
std::vector<Candidate> read_candidates(const std::filesystem::path& root,
                                       const std::set<std::int32_t>& pids, const Needs& needs);

/// All applications: no kernel thread, nobody who has ended. One small file of each is
/// read, and one for each need.
std::vector<Candidate> list_processes(const std::filesystem::path& root, const Needs& needs);

/// The rule by which a process is managed, by PID.
using RuleByPid = std::map<std::int32_t, AttachRule>;

/// Who is named by a rule, or descends from one that is or from one of `managed`
/// whose rule says "+children"; that rule is theirs then. Nobody whom a "not" names. Whether they
/// are large enough is not asked here.
RuleByPid find_wanted(const std::vector<Candidate>& processes, const std::vector<AttachRule>& rules,
                      const RuleByPid& managed);

}  // namespace hmk
