// SPDX-License-Identifier: MIT
#include "pinned.hpp"

#include <algorithm>

#include "config/pins.hpp"
#include "util/glob.hpp"

namespace hmk {
namespace {

/// As /proc/PID/maps has it but for unnamed memory, which has no name there.
bool is_named(const std::string& pattern, const std::string& name) {
  return is_like(pattern, name == "anonymous" ? "[anon]" : name);
}

}  // namespace

std::vector<policy::Wanted> pinned_in(std::span<const Pin> pins, std::int32_t pid,
                                      const std::string& comm,
                                      const std::vector<RecordedMapping>& mappings) {
  std::vector<policy::Wanted> all;
  for (std::uint32_t i = 0; i < pins.size(); ++i) {
    const Pin& pin = pins[i];
    if (!is_pin_of(pin, pid, comm)) continue;
    std::vector<policy::Wanted> here;
    if (pin.mapping.empty()) here.push_back({pin.start, pin.end, pin.tier, i});
    for (const RecordedMapping& mapping : mappings)
      if (!pin.mapping.empty() && is_named(pin.mapping, mapping.name))
        here.push_back({mapping.start, mapping.end, pin.tier, i});
    all = policy::joined(all, here);
  }
  return all;
}

Result<void> check_pins(const Machine& machine, const Config& config) {
  const std::size_t tiers = order_tiers(machine, {.fixed = config.tiers}).size();
  for (const Pin& pin : config.pins)
    if (static_cast<std::size_t>(pin.tier) >= tiers)
      return Error{"pins: '" + to_string(pin) + "': this machine has " + std::to_string(tiers) +
                       (tiers == 1 ? " tier" : " tiers"),
                   "name one of those that 'hmkctl tiers' shows", ENODEV};
  return {};
}

}  // namespace hmk
