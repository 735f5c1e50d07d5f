// SPDX-License-Identifier: MIT
#include "record/parts.hpp"

#include <utility>

namespace hmk {

void pack(Packer& out, const RecordedTarget& target) {
  out.number(static_cast<std::uint64_t>(target.pid));
  out.text(target.comm);
}

RecordedTarget unpack_target(Unpacker& in) {
  const auto pid = static_cast<std::int32_t>(in.number());
  return {pid, in.text()};
}

void pack(Packer& out, const RecordedMachine& machine) {
  out.text(machine.tier_source);
  out.number(machine.page_ns);
  out.text(machine.page_source);
  out.number(machine.tiers.size());
  for (const RecordedTier& tier : machine.tiers) {
    out.number(tier.latency_ns);
    out.number(tier.write_latency_ns);
    out.number(tier.bandwidth_mib);
    out.number(tier.total_bytes);
    out.number(tier.nodes.size());
    for (const std::int32_t node : tier.nodes) out.number(static_cast<std::uint64_t>(node));
  }
}

RecordedMachine unpack_machine(Unpacker& in) {
  RecordedMachine machine;
  machine.tier_source = in.text();
  machine.page_ns = in.narrow<std::uint32_t>(in.number());
  machine.page_source = in.text();
  for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
    RecordedTier tier;
    tier.latency_ns = in.narrow<std::uint32_t>(in.number());
    tier.write_latency_ns = in.narrow<std::uint32_t>(in.number());
    tier.bandwidth_mib = in.narrow<std::uint32_t>(in.number());
    tier.total_bytes = in.number();
    for (std::uint64_t nodes = in.count(); nodes > 0 && in.is_good(); --nodes)
      tier.nodes.push_back(in.narrow<std::int32_t>(in.number()));
    machine.tiers.push_back(std::move(tier));
  }
  return machine;
}

}  // namespace hmk
