// SPDX-License-Identifier: MIT
#include "planned.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace hmkctl {
namespace {

using hmk::PlannedMapping;
using hmk::PlannedPiece;
using hmk::policy::Schedule;

constexpr std::uint64_t kPage = 4096;

struct Range {
  std::uint64_t start = 0, end = 0;
  std::vector<std::uint8_t> tier;
};

/// In address order and disjoint, as the pieces are.
std::vector<Range> ranges_of(const std::vector<HeatPieces::Piece>& pieces, const Schedule& found) {
  std::vector<double> all(pieces.size()), taken(pieces.size());
  std::vector<std::vector<const Schedule::Part*>> parts(pieces.size());
  for (const Schedule::Part& part : found.parts) {
    all[part.group] += part.count;
    parts[part.group].push_back(&part);
  }
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::uint64_t from = pieces[i].start;
    for (const Schedule::Part* const part : parts[i]) {
      taken[i] += part->count;
      const std::uint64_t pages = pieces[i].length / kPage;
      const double share = taken[i] / all[i] * static_cast<double>(pages);
      const std::uint64_t until = part == parts[i].back()
                                      ? pieces[i].start + pieces[i].length
                                      : pieces[i].start + static_cast<std::uint64_t>(share) * kPage;
      if (until > from) ranges.push_back({from, until, part->tier});
      from = until;
    }
  }
  return ranges;
}

void add(PlannedMapping& mapping, PlannedPiece piece) {
  PlannedPiece* const last = mapping.pieces.empty() ? nullptr : &mapping.pieces.back();
  if (last != nullptr && last->offset + last->length == piece.offset && last->tier == piece.tier)
    last->length += piece.length;
  else
    mapping.pieces.push_back(std::move(piece));
}

}  // namespace

std::vector<PlannedMapping> planned(const std::vector<HeatPieces::Piece>& pieces,
                                    const Schedule& found,
                                    const std::vector<hmk::RecordedMapping>& mappings) {
  const std::vector<Range> ranges = ranges_of(pieces, found);
  std::vector<PlannedMapping> plan;
  std::map<std::string, std::uint64_t> seen;
  auto range = ranges.begin();
  for (const hmk::RecordedMapping& mapping : mappings) {
    PlannedMapping one{mapping.name, seen[mapping.name]++, mapping.end - mapping.start};
    while (range != ranges.end() && range->end <= mapping.start) ++range;
    for (auto at = range; at != ranges.end() && at->start < mapping.end; ++at) {
      const std::uint64_t start = std::max(at->start, mapping.start);
      add(one, {start - mapping.start, std::min(at->end, mapping.end) - start, at->tier});
    }
    if (!one.pieces.empty()) plan.push_back(std::move(one));
  }
  return plan;
}

Outcome first_touch(std::vector<HeatPieces::Piece> pieces, std::vector<double> bytes,
                    const std::vector<double>& latency_ns) {
  std::ranges::stable_sort(pieces, {}, &HeatPieces::Piece::first);
  Outcome outcome{.shares = std::vector<double>(bytes.size())};
  double all = 0;
  std::size_t tier = 0;
  for (const HeatPieces::Piece& piece : pieces) {
    const double accesses = std::accumulate(piece.accesses.begin(), piece.accesses.end(), 0.0);
    all += accesses;
    for (double left = piece.bytes; left > 0;) {
      const double here = tier + 1 < bytes.size() ? std::min(left, bytes[tier]) : left;
      outcome.shares[tier] += accesses * here / piece.bytes;
      bytes[tier] -= here;
      left -= here;
      if (left > 0) ++tier;
    }
  }
  for (tier = 0; tier < bytes.size(); ++tier) {
    outcome.shares[tier] /= all;
    outcome.latency_ns += outcome.shares[tier] * latency_ns[tier];
  }
  return outcome;
}

}  // namespace hmkctl
