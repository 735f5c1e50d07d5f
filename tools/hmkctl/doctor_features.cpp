// SPDX-License-Identifier: MIT
#include "device/features.hpp"
#include "doctor.hpp"

namespace hmkctl {

using State = Finding::State;

void check_features(const hmk_info& info, Findings& out) {
  const auto state = [&](unsigned feature) {
    const bool is_on = hmk::has_feature(info, feature);
    if (feature == HMK_FEAT_TEST_SWITCHES) return is_on ? State::warn : State::ok;
    if (feature == HMK_FEAT_SCAN && !is_on) return State::warn;
    return is_on ? State::ok : State::note;
  };
  for (unsigned feature = 0; feature < hmk::kFeatureNames.size(); ++feature) {
    const bool is_test = feature == HMK_FEAT_TEST_SWITCHES && hmk::has_feature(info, feature);
    const std::string reason = hmk::why_off(info, feature);
    out.push_back({state(feature), "feature " + std::string(hmk::kFeatureNames[feature]),
                   reason.empty() ? "on" : reason,
                   is_test ? "a module for tests can lose writes: load the shipped one" : ""});
  }
  if (const std::string missing = hmk::missing_symbols(info); !missing.empty())
    out.push_back({State::note, "kernel functions", "not found: " + missing});
  if (!hmk::has_feature(info, HMK_FEAT_MOVE_OWN) && !hmk::has_feature(info, HMK_FEAT_MOVE_VMA))
    out.push_back({State::warn, "moving", "no way of moving works: processes are only tracked",
                   "run a kernel with CONFIG_KPROBES or CONFIG_DEVICE_MIGRATION"});
  else if (!hmk::has_feature(info, HMK_FEAT_LSM_CHECK))
    out.push_back({State::warn, "moving",
                   "security modules cannot be asked: no memory of another process is moved",
                   "run a kernel that lets modules look up security_task_movememory"});
}

}  // namespace hmkctl
