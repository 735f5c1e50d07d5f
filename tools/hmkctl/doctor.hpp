// SPDX-License-Identifier: MIT
//
// What `hmkctl doctor` looks at, one finding per line. The root is injectable:
// tests hand in a recorded tree.
#pragma once

#include <linux/hmk.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hmkctl {

struct Finding {
  enum class State { ok, note, warn } state;  ///< warn: worth acting on
  std::string check;
  std::string found;
  std::string remedy = {};
};
using Findings = std::vector<Finding>;

struct Context;
/// All that follows.
Findings diagnose(const Context& context, const std::filesystem::path& root);
/// As `doctor --json` prints them.
nlohmann::json to_json(const Findings& findings);

/// The kernel, its configuration and what else places memory on this machine.
void check_kernel(const std::filesystem::path& root, Findings& out);
void check_rivals(const std::filesystem::path& root, Findings& out);

/// Whether hmk.ko is built for the running kernel, can be, and must be signed.
void check_loadable(const std::filesystem::path& root, Findings& out);

/// What the kernel's NUMA balancing has done to the processes of `hmkctl stats`.
void check_balanced(const nlohmann::json& stats, Findings& out);

/// The module: loaded, of our ABI, and each feature with the reason if it is off.
void check_module(const std::filesystem::path& root, Findings& out);
void check_features(const hmk_info& info, Findings& out);

/// The tiers as the machine tells them, and where their figures come from.
void check_tiers(const std::filesystem::path& root, Findings& out);

/// Whether the CPUs tell where loads are served from.
void check_samples(const std::filesystem::path& root, Findings& out);

/// What this user may do.
void check_rights(const std::filesystem::path& root, Findings& out);

}  // namespace hmkctl
