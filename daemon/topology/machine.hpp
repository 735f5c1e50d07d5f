// SPDX-License-Identifier: MIT
//
// The nodes of the machine as /sys/devices/system/node describes them. The root
// is injectable: tests hand in a recorded tree.
//
//   Machine machine = read_machine("/");
//   if (!renew_free(machine, "/")) machine = read_machine("/");   before each decision
//
// Memory fills all the time. Nodes, CPUs and watermarks change rarely, and are most of the files:
// 9 for each node, and zoneinfo, which grows with nodes times CPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hmk {

/// What HMAT says about accesses to a node from its best initiators.
struct Access {
  std::set<int> initiators;            ///< nodes
  std::uint32_t latency_ns = 0;        ///< read
  std::uint32_t write_latency_ns = 0;  ///< 0 when not given
  std::uint32_t bandwidth_mib = 0;     ///< MiB/s, read; 0 when not given
};

struct Node {
  int id = -1;
  std::set<int> cpus;
  std::map<int, int> distance;  ///< to node -> SLIT value, 10 is local
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  /// The kernel keeps these free (zoneinfo): "high", as long as it is raised more, and what of
  /// its lower zones is free above that and kept from movable pages ("protection").
  std::uint64_t watermark_bytes = 0;
  std::uint64_t low_bytes = 0;  ///< the same with "low": below it kswapd is woken
  /// Clean page cache that was not used a second time, but for so much: where there is less the
  /// kernel would rather swap.
  std::uint64_t cache_bytes = 0;
  static constexpr std::uint64_t kCacheLeft = 16ull << 20;
  std::optional<Access> access;     ///< none without HMAT
  std::map<int, Access> seen_from;  ///< by node with CPUs, as calibrated; else empty
};

/// What moving pages from one node to another takes, as calibrated.
struct MoveFigures {
  std::vector<double> copy_bw;      ///< bytes/s by 1, 2, ... threads
  double page_ns = 0, huge_ns = 0;  ///< of one of 4 KiB, of 2 MiB; 0 unknown
};

struct Machine {
  std::map<int, Node> nodes;
  std::map<std::pair<int, int>, MoveFigures> moves;  ///< by (from, to); empty: not calibrated

  /// The node a CPU belongs to, -1 when no node has it.
  int node_of_cpu(int cpu) const;
};

Machine read_machine(const std::filesystem::path& root);

/// Of a file with lines like "MemFree:  4900104 kB", whatever stands before; 0 without such a line.
std::uint64_t meminfo_bytes(const std::string& text, const std::string& field);

/// All swap together, bytes.
struct Swap {
  std::uint64_t total = 0, free = 0;
};
Swap read_swap(const std::filesystem::path& root);

/// Only what is free on each node and its cache, a file for each. False where it must be read
/// whole: it has other nodes than `machine` or a node more or less memory.
bool renew_free(Machine& machine, const std::filesystem::path& root);

/// Only the watermarks: one file, but with a few lines for each node and CPU.
void renew_watermarks(Machine& machine, const std::filesystem::path& root);

/// "0-2,7" -> {0, 1, 2, 7}; the kernel's list format. What is not understood is left out.
std::set<int> parse_id_list(const std::string& text);

}  // namespace hmk
