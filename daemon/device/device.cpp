// SPDX-License-Identifier: MIT
#include "device/device.hpp"

#include "device/features.hpp"

namespace hmk {

bool can_move(const Session& session) {
  const hmk_info& info = session.info;
  return !session.instead.empty() ||
         (has_feature(info, HMK_FEAT_LSM_CHECK) &&
          (has_feature(info, HMK_FEAT_MOVE_OWN) || has_feature(info, HMK_FEAT_MOVE_VMA)));
}

std::string feature_names(const hmk_info& info) {
  std::string names;
  for (unsigned feature = 0; feature < kFeatureNames.size(); ++feature) {
    if (!has_feature(info, feature)) continue;
    if (!names.empty()) names += ' ';
    names += kFeatureNames[feature];
  }
  return names;
}

std::string feature_names(const Session& session) {
  return session.instead.empty() ? feature_names(session.info) : session.instead;
}

}  // namespace hmk
