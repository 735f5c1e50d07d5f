// SPDX-License-Identifier: MIT
#include "record/encoder.hpp"

#include <utility>

#include "record/format.hpp"
#include "record/parts.hpp"

namespace hmk {
namespace {

using namespace record_format;

bool is_same_range(const RecordedRegion& a, const RecordedRegion& b) {
  return a.start == b.start && a.length == b.length;
}

/// A run of the regions: pass over `skip` old ones, keep `take`, then come `added` new ones.
struct Run {
  std::uint64_t skip = 0, take = 0, added = 0;
};

Run next_run(const std::vector<RecordedRegion>& old, std::size_t& o,
             const std::vector<RecordedRegion>& now, std::size_t& n) {
  Run run;
  const auto pass = [&](std::size_t& at) {
    while (at < old.size() && !is_same_range(old[at], now[n]) && old[at].start <= now[n].start)
      ++at;
    return at < old.size() && is_same_range(old[at], now[n]);
  };
  const std::size_t from = o;
  if (pass(o)) {
    run.skip = o - from;
    for (; o < old.size() && n < now.size() && is_same_range(old[o], now[n]); ++o, ++n) ++run.take;
  } else {
    o = from;
  }
  for (std::size_t ahead = o; n < now.size() && !pass(ahead); ++n) ++run.added;
  return run;
}

unsigned differences(const RecordedRegion& r, const RecordedRegion& expected) {
  const bool is_sampled = r.samples != expected.samples || r.rate_dev_q4 != expected.rate_dev_q4;
  const bool is_away = r.away_pages != expected.away_pages || r.away_node != expected.away_node;
  return (r.hi_q8 != expected.hi_q8 ? kHi : 0u) | (r.whi_q8 != expected.whi_q8 ? kWhi : 0u) |
         (r.node != expected.node ? kNode : 0u) |
         (r.resident_pages != expected.resident_pages ? kResident : 0u) |
         (r.rate_q4 != expected.rate_q4 ? kRate : 0u) | (is_sampled ? kSampled : 0u) |
         (r.writes != expected.writes ? kWrites : 0u) | (is_away ? kAway : 0u);
}

void pack_values(Packer& out, const RecordedRegion& r, const RecordedRegion& expected) {
  const unsigned changed = differences(r, expected);
  out.number(changed);
  if (changed == 0) return;
  if ((changed & kHi) != 0) out.step(r.hi_q8, expected.hi_q8);
  if ((changed & kWhi) != 0) out.step(r.whi_q8, expected.whi_q8);
  if ((changed & kNode) != 0) out.whole(r.node);
  if ((changed & kResident) != 0) out.step(r.resident_pages, expected.resident_pages);
  if ((changed & kRate) != 0)
    out.step(static_cast<std::uint64_t>(std::int64_t{r.rate_q4}),
             static_cast<std::uint64_t>(std::int64_t{expected.rate_q4}));
  if ((changed & kSampled) != 0) {
    out.step(r.samples, expected.samples);
    out.step(r.rate_dev_q4, expected.rate_dev_q4);
  }
  if ((changed & kWrites) != 0) out.number(r.writes);
  if ((changed & kAway) != 0) {
    out.number(r.away_pages);
    out.whole(r.away_node);
  }
}

void pack_regions(Packer& out, const std::vector<RecordedRegion>& old,
                  const std::vector<RecordedRegion>& now) {
  out.number(now.size());
  RecordedRegion last;
  for (std::size_t o = 0, n = 0; n < now.size();) {
    const std::size_t first = n, first_old = o;
    const Run run = next_run(old, o, now, n);
    out.number(run.skip);
    out.number(run.take);
    out.number(run.added);
    for (std::size_t i = first; i < n; ++i) {
      if (i - first < run.take) {
        pack_values(out, now[i], old[first_old + run.skip + (i - first)]);
      } else {
        const RecordedRegion& before = i == 0 ? last : now[i - 1];
        out.number((now[i].start - before.start - before.length) / kRecordedPage);
        out.number(now[i].length / kRecordedPage);
        RecordedRegion expected = fresh(0, now[i].length, before);
        expected.whi_q8 = now[i].hi_q8;  // smoothed over one interval
        pack_values(out, now[i], expected);
      }
    }
  }
}

std::string pack_moves(const std::vector<RecordedMove>& moves) {
  Packer out(kMoves);
  out.number(moves.size());
  std::uint64_t end = 0;
  for (const RecordedMove& move : moves) {
    out.step(move.start / kRecordedPage, end);
    out.number(move.length / kRecordedPage);
    out.whole(move.from);
    out.whole(move.to);
    out.number(move.moved_pages);
    out.number(static_cast<std::uint64_t>(move.reason));
    end = (move.start + move.length) / kRecordedPage;
  }
  return out.block();
}

template <class Ranges, class End>
bool is_in_order(const Ranges& ranges, End end_of) {
  std::uint64_t end = 0;
  for (const auto& r : ranges) {
    const std::uint64_t from = end;
    if (r.start < from || (r.start | end_of(r)) % kRecordedPage != 0 ||
        (end = end_of(r)) <= r.start)
      return false;
  }
  return true;
}

}  // namespace

std::string RecordEncoder::head(const RecordedTarget& target) {
  Packer out(kTarget);
  pack(out, target);
  return head_bytes(kMagic, kVersion) + out.block();
}

std::string RecordEncoder::machine(const RecordedMachine& machine) {
  Packer out(kMachine);
  pack(out, machine);
  return out.block();
}

Result<std::string> RecordEncoder::addresses(const std::vector<RecordedMapping>& mappings) {
  if (!is_in_order(mappings, [](const auto& mapping) { return mapping.end; }))
    return Error{"the mappings overlap or are unaligned", "check that /proc is of this machine"};
  Packer out(kAddresses);
  out.number(mappings.size());
  std::uint64_t end = 0;
  for (const RecordedMapping& mapping : mappings) {
    out.number((mapping.start - end) / kRecordedPage);
    out.number((mapping.end - mapping.start) / kRecordedPage);
    out.text(mapping.name);
    end = mapping.end;
  }
  return out.block();
}

std::string RecordEncoder::end(std::uint64_t frames) {
  Packer out(kEnd);
  out.number(frames);
  return out.block();
}

std::string RecordEncoder::trouble(const Error& error) {
  Packer out(kTrouble);
  out.text(error.what);
  out.text(error.remedy);
  return out.block();
}

Result<std::string> RecordEncoder::append(RecordedFrame& frame) {
  if (!is_in_order(frame.regions, [](const auto& r) { return r.start + r.length; }))
    return Error{"interval " + std::to_string(frame.seq) + ": its regions overlap or are unaligned",
                 "check that hmkd is of this version"};
  Packer out(kFrame, 64 + 12 * frame.regions.size());
  out.step(frame.seq, before_.seq);
  out.step(frame.start_ns, before_.end_ns);
  out.step(frame.end_ns, frame.start_ns);
  out.number(frame.num_scans);
  pack_regions(out, before_.regions, frame.regions);
  const std::string moves = frame.moves.empty() ? "" : pack_moves(frame.moves);
  std::swap(before_, frame);
  ++frames_;
  return moves.empty() ? out.block() : moves + out.block();
}

}  // namespace hmk
