// SPDX-License-Identifier: MIT
//
// The feature bits of the module in words, with the reason for each one that is
// off. Header-only, so that `hmkctl doctor` tells them without the daemon.
#pragma once

#include <linux/hmk.h>

#include <array>
#include <string>
#include <string_view>

namespace hmk {

inline constexpr std::array<std::string_view, HMK_FEAT_NR> kFeatureNames{
    "scan",          "flush-range", "lru-drain",    "move-own",  "move-batch", "move-vma",
    "move-shmem",    "move-tables", "ptrace-check", "pidfd",     "young",      "cpuset",
    "test-switches", "split-huge",  "move-paired",  "lsm-check", "dense",      "copy-threads"};

inline bool has_feature(const hmk_info& info, unsigned feature) {
  return (info.features >> feature & 1) != 0;
}

/// Why a feature is off; empty when it is on.
inline std::string why_off(const hmk_info& info, unsigned feature) {
  if (has_feature(info, feature)) return "";
  switch (info.why[feature]) {
    case HMK_WHY_SYMBOL:
      return "a kernel function was not found";
    case HMK_WHY_CONFIG:
      return "this kernel is configured without it";
    case HMK_WHY_BUILD:
      return "the module is built without it";
    case HMK_WHY_NOT_YET:
      return "not in this version of the module";
    case HMK_WHY_SELFTEST:
      return "the module's self-test at load failed on this kernel";
    default:
      return "off";
  }
}

/// Kernel functions that were looked up and not found, separated by spaces.
inline std::string missing_symbols(const hmk_info& info) {
  const std::string_view text(static_cast<const char*>(info.missing), sizeof(info.missing));
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace hmk
