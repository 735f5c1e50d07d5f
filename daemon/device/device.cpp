// SPDX-License-Identifier: MIT
#include "device/device.hpp"

#include <array>
#include <string_view>

namespace hmk {
namespace {

constexpr std::array<std::string_view, HMK_FEAT_NR> kNames{
    "scan",     "flush-range", "lru-drain",     "move-own",     "move-batch",
    "move-vma", "move-shmem",  "move-tables",   "ptrace-check", "pidfd",
    "young",    "cpuset",      "test-switches", "split-huge"};

bool has(const hmk_info& info, unsigned feature) {
  return (info.features >> feature & 1) != 0;
}

}  // namespace

bool can_move(const hmk_info& info) {
  return has(info, HMK_FEAT_MOVE_OWN) || has(info, HMK_FEAT_MOVE_VMA);
}

std::string feature_names(const hmk_info& info) {
  std::string names;
  for (unsigned feature = 0; feature < kNames.size(); ++feature) {
    if (!has(info, feature)) continue;
    if (!names.empty()) names += ' ';
    names += kNames[feature];
  }
  return names;
}

}  // namespace hmk
