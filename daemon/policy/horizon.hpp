// SPDX-License-Identifier: MIT
//
// Where memory should lie in each of several windows of time when its heat in all of them is known:
// the least time that can be had, and a placement that comes near it. A price on each byte of a
// tier and window lets every region decide alone, by a shortest path through windows and tiers;
// prices rise where a tier is over-full. The priced sum is a lower bound whatever the prices
// (Lagrange), and equal to the linear program's at the best ones, since a shortest path is whole.
//
//   Forecast forecast{.windows = 2, .tiers = 2, .capacity = ..., .move_ns = ..., .groups = ...};
//   const Schedule best = schedule(forecast, {.gap = 0.01});
//   best.bound_ns;                                nothing costs less
//   best.parts[0].tier[w];                        where the regions of this part lie in window w
//
// AutoTM (Hildebrand et al., ASPLOS 2020) asks an integer program; its static placement is
// is_static. Moves take no time of their own but what they take from the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hmk::policy {

struct Forecast {
  /// `count` regions of `bytes` each that cost the same wherever they lie.
  struct Group {
    double bytes = 0;
    double count = 1;
    std::vector<double> cost_ns = {};  // of one region, by cell; not below 0
  };

  std::uint32_t windows = 1;
  std::uint32_t tiers = 1;            // at most 255
  std::vector<double> capacity = {};  // bytes, by cell
  std::vector<double> move_ns = {};   // a byte's, out of the program's time: [from * tiers + to]
  std::vector<Group> groups = {};
  bool is_static = false;  // each region stays in one tier

  std::size_t cell(std::size_t window, std::size_t tier) const { return window * tiers + tier; }
};

struct Patience {
  double gap = 0.01;                             // good enough: (cost - bound) / cost
  unsigned steps = 400;                          // at most
  std::function<void(double)> on_progress = {};  // told the part that is done
};

/// The best that was found, and the best that is possible.
struct Schedule {
  struct Part {
    std::size_t group = 0;
    double count = 0;                     // of its regions
    std::vector<std::uint8_t> tier = {};  // by window
  };
  std::vector<Part> parts = {};
  double cost_ns = 0;                 // of the parts
  double bound_ns = 0;                // of any placement: never above the least cost
  std::vector<double> worth_ns = {};  // what one byte more would save, by cell

  double gap() const { return cost_ns > 0 ? (cost_ns - bound_ns) / cost_ns : 0; }
};

/// Throws std::invalid_argument where sizes do not fit each other or the memory does not fit into
/// the tiers.
Schedule schedule(const Forecast& forecast, const Patience& patience = {});

}  // namespace hmk::policy
