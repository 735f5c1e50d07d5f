// SPDX-License-Identifier: MIT
#include "recorder.hpp"

#include <cmath>
#include <utility>

#include "policy/gain.hpp"
#include "record/mappings.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

/// 1/256 of a window.
std::uint32_t to_q8(std::uint32_t hotness_q16) {
  return (hotness_q16 + 128) >> 8;
}

RecordedRegion to_recorded(const hmk_record& record) {
  RecordedRegion region;
  region.start = record.start;
  region.length = record.length;
  region.hi_q8 = to_q8(record.hi_q16);
  region.whi_q8 = to_q8(record.whi_q16);
  region.node = record.node;
  region.resident_pages = record.resident_pages;
  // Of a page, not of a leaf.
  region.rate_q4 = (record.rate_q8 - 256 * (record.leaf_shift - 12) + 8) >> 4;
  region.rate_dev_q4 = static_cast<std::uint16_t>((record.rate_dev_q8 + 8) >> 4);
  region.samples = (record.flags & HMK_RECORD_STALE) != 0 ? std::uint16_t{0} : record.samples;
  region.writes = record.writes;
  if (record.away_pages != 0) {
    region.away_pages = record.away_pages;
    region.away_node = record.away_node;
  }
  return region;
}

/// Into one that was: to allocate as much takes longer than to fill it.
void fill(RecordedFrame& frame, const Target& target) {
  const hmk_interval& interval = target.snapshot().interval;
  frame.seq = interval.seq;
  frame.start_ns = interval.start_ns;
  frame.end_ns = interval.end_ns;
  frame.num_scans = interval.hotness_max;
  frame.regions.clear();
  frame.regions.reserve(target.snapshot().records.size());
  for (const hmk_record& record : target.snapshot().records)
    frame.regions.push_back(to_recorded(record));
  frame.moves = target.ended_moves();
}

/// Of moving 4 KiB: the mean over the pairs of nodes between which pages have moved.
std::uint32_t measured_page_ns(const policy::Balance& balance) {
  double sum = 0, pairs = 0;
  for (const auto& [nodes, figures] : balance.ledger().pairs())
    if (const double ns = balance.costs().ns_per_page(nodes.first, nodes.second, false, 0); ns > 0)
      sum += ns, ++pairs;
  return pairs > 0 ? static_cast<std::uint32_t>(std::lround(sum / pairs)) : 0;
}

/// Begins and ends of what lies together.
std::vector<std::uint64_t> spans_of(const Snapshot& snapshot) {
  std::vector<std::uint64_t> borders;
  for (const hmk_record& record : snapshot.records) {
    if (borders.empty() || borders.back() != record.start) {
      borders.push_back(record.start);
      borders.push_back(record.start);
    }
    borders.back() = record.start + record.length;
  }
  return borders;
}

}  // namespace

RecordedMachine machine_of(const Target& target, const Surroundings& around) {
  RecordedMachine machine;
  for (const Tier& tier : target.tiers())
    machine.tiers.push_back({{tier.nodes.begin(), tier.nodes.end()},
                             tier.latency_ns,
                             tier.write_latency_ns,
                             tier.bandwidth_mib,
                             tier.total_bytes});
  machine.tier_source = tier_source(
      around.machine, {target.homes(), target.process().mems_allowed, target.config().tiers});
  if (target.config().move_cost) {
    machine.page_ns = static_cast<std::uint32_t>(page_ns(target.config()));
    machine.page_source = "config";
  } else if ((machine.page_ns = measured_page_ns(target.balance())) != 0) {
    machine.page_source = "measured";
  } else {
    machine.page_ns = static_cast<std::uint32_t>(policy::GainModel::kNsPerPage);
    machine.page_source = "assumed";
  }
  return machine;
}

/// Reading them holds up the process where it maps memory, so only where memory has come or gone.
Result<std::string> Recorder::new_addresses(const Target& target, const Surroundings& around) {
  std::vector<std::uint64_t> spans = spans_of(target.snapshot());
  if (spans == spans_) return std::string();
  const auto maps = read_text(around.root / "proc" / std::to_string(pid_) / "maps");
  spans_ = std::move(spans);
  return maps ? RecordEncoder::addresses(parse_mappings(*maps)) : std::string();
}

Result<std::string> Recorder::news(const Target& target, const Surroundings& around) {
  std::string bytes;
  if (!std::exchange(has_begun_, true)) bytes = RecordEncoder::head({pid_, target.process().comm});
  if (!target.has_seen() || target.snapshot().interval.seq == seq_) return bytes;
  if (RecordedMachine machine = machine_of(target, around); machine != machine_) {
    bytes += RecordEncoder::machine(machine);
    machine_ = std::move(machine);
  }
  const Result<std::string> addresses = new_addresses(target, around);
  if (!addresses) return addresses.error();
  fill(frame_, target);
  Result<std::string> frame = encoder_.append(frame_);
  if (!frame) return frame.error();
  seq_ = target.snapshot().interval.seq;
  bytes += *addresses;
  if (bytes.empty()) return frame;  // most are, and some have megabytes
  return bytes += *frame;
}

}  // namespace hmk
