// SPDX-License-Identifier: MIT
//
// Measures memory of a node as programs see it, with this process's own memory and time.
//
//   Result<NodeMemory> memory = NodeMemory::on(2, 64 << 20, Pages::huge);
//   Chain(*memory).step_ns(0, 1000, Chain::Way::read);   of an access that waits for the one before
//   read_bandwidth(*memory, {0, 1}, 50ms);               bytes/s by a thread on each of these CPUs
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "util/result.hpp"

namespace hmkctl {

enum class Pages { base, huge };  ///< huge: where the machine gives them

/// Memory of ours, present, on one node and nowhere else.
class NodeMemory {
 public:
  static hmk::Result<NodeMemory> on(int node, std::size_t bytes, Pages pages);
  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&&) = delete;
  ~NodeMemory();

  char* data() const { return start_; }
  std::size_t bytes() const { return bytes_; }

 private:
  NodeMemory(char* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  char* start_;
  std::size_t bytes_;
};

/// A chain through all lines of some memory, in random order, which it overwrites.
class Chain {
 public:
  enum class Way { read, write };  ///< write: each line is written, too

  explicit Chain(const NodeMemory& memory);
  /// Follows it on a CPU, from where the last call has ended: what was passed is in a cache, and
  /// comes again only after all the rest. Return: ns of a step.
  double step_ns(int cpu, std::size_t steps, Way way);

 private:
  char* volatile* at_;
};

/// By a thread on each of these CPUs, each in a part of its own, for so long. Return: bytes/s.
double read_bandwidth(const NodeMemory& memory, const std::vector<int>& cpus,
                      std::chrono::nanoseconds time);
double copy_bandwidth(const NodeMemory& from, const NodeMemory& to, const std::vector<int>& cpus,
                      std::chrono::nanoseconds time);

struct MoveCost {
  double ns_per_page = 0;  ///< of 4096 bytes
  bool by_module = false;  ///< else by move_pages(2)
};
/// Moves the memory to a node. Nothing when less than half of it moved.
std::optional<MoveCost> move_cost(const NodeMemory& memory, int node);

}  // namespace hmkctl
