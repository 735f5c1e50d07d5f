// SPDX-License-Identifier: MIT
//
// Which node a physical address belongs to, as /proc/zoneinfo says where zones begin and how far
// they reach.
//
//   const NodeSpans spans = read_node_spans("/");
//   spans.node_of(0x1a0000000)    -1: memory of no node
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace hmkctl {

class NodeSpans {
 public:
  struct Span {
    std::uint64_t begin = 0, end = 0;  ///< bytes
    int node = -1;
  };

  NodeSpans() = default;
  explicit NodeSpans(std::vector<Span> spans);

  bool empty() const { return spans_.empty(); }
  /// Where spans lie in each other, as nodes of some machines do, it is the one that begins last.
  int node_of(std::uint64_t address) const;

 private:
  std::vector<Span> spans_;  // by begin
};

/// Empty where it cannot be read.
NodeSpans read_node_spans(const std::filesystem::path& root);

}  // namespace hmkctl
