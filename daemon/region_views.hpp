// SPDX-License-Identifier: MIT
//
// Records of the module as the policy sees them: a view for each record.
//
//   std::vector<policy::RegionView> views;
//   to_views(snapshot.records, views);
#pragma once

#include <linux/hmk.h>

#include <cstdint>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk {

policy::RegionView to_view(const hmk_record& record);

/// Into memory that is kept: of a large process it is tens of MiB an interval.
void to_views(std::span<const hmk_record> records, std::vector<policy::RegionView>& views);
std::vector<policy::RegionView> to_views(std::span<const hmk_record> records);

/// The last region that begins at an address or below it, of some in address order; null where none
/// does.
const hmk_record* last_at(std::span<const hmk_record> records, std::uint64_t address);

}  // namespace hmk
