// SPDX-License-Identifier: MIT
#include "machine/against.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

const ordered_json* row_like(const ordered_json& simulated, const GuestFigure& guest) {
  for (const auto& row : simulated)
    if (row["scenario"] == guest.workload && row["system"] == guest.system) return &row;
  return nullptr;
}

/// By how much ours differs from theirs, as a part of theirs.
double apart(double ours, double theirs) {
  return std::abs(ours - theirs) / theirs;
}

GuestFigure read_figure(const nlohmann::json& row) {
  GuestFigure figure{row.at("workload"), row.at("system"), row.at("ns_per_op"),
                     row.at("tier1_share")};
  if (!(figure.ns_per_op > 0) || !(figure.tier1_share > 0 && figure.tier1_share <= 1))
    throw std::invalid_argument("ns_per_op and tier1_share are above 0");
  return figure;
}

}  // namespace

std::vector<GuestFigure> read_guest_figures(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(path + ": cannot be read");
  try {
    std::vector<GuestFigure> figures;
    const auto list = nlohmann::json::parse(file);
    if (!list.is_array()) throw std::invalid_argument("no list");
    for (const auto& row : list) figures.push_back(read_figure(row));
    return figures;
  } catch (const std::exception& problem) {
    throw std::invalid_argument(path + ": want a list of {workload, system, ns_per_op, " +
                                "tier1_share}: " + problem.what());
  }
}

bool lay_beside(const std::vector<GuestFigure>& guest, const ordered_json& simulated) {
  std::printf("%-14s %-12s %21s %7s   %21s %7s\n", "workload", "system", "ns/op simulated, guest",
              "apart", "tier 1 simulated, guest", "apart");
  std::size_t compared = 0, far = 0;
  for (const GuestFigure& theirs : guest) {
    const ordered_json* const ours = row_like(simulated, theirs);
    if (ours == nullptr) continue;
    const double ns = (*ours)["ns_per_operation"].get<double>();
    const double share = (*ours)["settled_tier_share"][0].get<double>();
    const double ns_apart = apart(ns, theirs.ns_per_op);
    const double share_apart = apart(share, theirs.tier1_share);
    const bool is_far = std::max(ns_apart, share_apart) > kMostApart;
    std::printf("%-14s %-12s %12.1f %9.1f %6.1f%%   %12.3f %9.3f %6.1f%%%s\n",
                theirs.workload.c_str(), theirs.system.c_str(), ns, theirs.ns_per_op,
                100 * ns_apart, share, theirs.tier1_share, 100 * share_apart, is_far ? "  *" : "");
    ++compared;
    far += is_far;
  }
  std::printf("%zu of %zu compared, %zu apart by more than %.0f %%\n", compared, guest.size(), far,
              100 * kMostApart);
  return compared > 0 && far == 0;
}

}  // namespace hmk::sim
