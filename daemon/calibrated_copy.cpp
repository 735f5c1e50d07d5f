// SPDX-License-Identifier: MIT
#include "calibrated_copy.hpp"

#include <algorithm>

#include "mover/copy_threads.hpp"

namespace hmk {
namespace {

unsigned cpus_at(const std::set<int>& homes, const Machine& machine) {
  unsigned cpus = 0;
  for (const auto& [id, node] : machine.nodes)
    if (homes.empty() || homes.contains(id)) cpus += static_cast<unsigned>(node.cpus.size());
  return cpus;
}

}  // namespace

std::uint32_t calibrated_copy_threads(const policy::Plan& plan, const Machine& machine,
                                      const Busy& busy) {
  if (plan.promotions.empty()) return 0;
  const policy::Move& hottest = plan.promotions.front();
  const auto in = machine.moves.find({hottest.from, hottest.to}),
             out = machine.moves.find({hottest.to, hottest.from});
  const auto slow = machine.nodes.find(hottest.from);
  if (in == machine.moves.end() || out == machine.moves.end() || slow == machine.nodes.end())
    return 0;
  CopyCurve curve{.in_bw = in->second.copy_bw,
                  .out_bw = out->second.copy_bw,
                  .max_out = std::ranges::max(out->second.copy_bw)};
  for (const auto& [home, access] : slow->second.seen_from)
    curve.max_in = std::max(curve.max_in, static_cast<double>(access.bandwidth_mib) * (1 << 20));
  return choose_copy_threads(
             {.in_bytes = static_cast<double>(plan.promoted),
              .out_bytes = static_cast<double>(plan.demoted),
              .compute_s = busy.seconds,
              .compute_bw = std::min(curve.max_in, curve.max_out) / 2,
              .threads = busy.threads,
              .max_threads = std::min(cpus_at(busy.homes, machine), busy.threads + 2)},
             curve)
      .copy_threads;
}

}  // namespace hmk
