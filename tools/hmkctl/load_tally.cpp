// SPDX-License-Identifier: MIT
#include "load_tally.hpp"

#include <linux/perf_event.h>

#include <cstring>

namespace hmkctl {

const std::uint64_t kSampleFields = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT |
                                    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;

namespace {

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

/// A sample's values, as kSampleFields has them.
struct Sample {
  std::uint32_t pid, tid;
  std::uint64_t period, cycles, source, address;
};

/// Kernels and CPUs tell it by the level's number, by its bit, or by both.
bool is_load_from_memory(std::uint64_t source) {
  const perf_mem_data_src told{.val = source};
  if ((told.mem_op & PERF_MEM_OP_LOAD) == 0) return false;
  switch (told.mem_lvl_num) {
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
    case PERF_MEM_LVLNUM_CXL:
      return true;
    default:
      break;
  }
  constexpr std::uint64_t kMemory =
      PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;
  return (told.mem_lvl & kMemory) != 0;
}

}  // namespace

void LoadTally::take(std::span<const std::byte> records) {
  while (records.size() >= sizeof(perf_event_header)) {
    const auto header = value_at<perf_event_header>(records, 0);
    if (header.size < sizeof(header) || header.size > records.size()) break;
    const auto values = records.subspan(sizeof(header), header.size - sizeof(header));
    if (header.type == PERF_RECORD_SAMPLE && values.size() >= sizeof(Sample))
      take_sample(values, (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER);
    else if (header.type == PERF_RECORD_LOST && values.size() >= 2 * sizeof(std::uint64_t))
      lost_ += value_at<std::uint64_t>(values, sizeof(std::uint64_t));
    records = records.subspan(header.size);
  }
  if (!records.empty()) ++broken_;
}

void LoadTally::take_sample(std::span<const std::byte> values, bool is_user) {
  const auto sample = value_at<Sample>(values, 0);
  ++seen_;
  if (!is_user || !is_load_from_memory(sample.source)) return;
  if (!pids_.empty() && !pids_.contains(static_cast<int>(sample.pid))) return;
  const int node = sample.address == 0 ? -1 : spans_.node_of(sample.address);
  if (node < 0) {
    ++untold_;
    return;
  }
  ++samples_;
  Node& of = nodes_[node];
  ++of.samples;
  of.loads += static_cast<double>(sample.period);
  of.cycles += static_cast<double>(sample.period) * static_cast<double>(sample.cycles);
}

}  // namespace hmkctl
