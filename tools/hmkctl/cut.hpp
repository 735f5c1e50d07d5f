// SPDX-License-Identifier: MIT
//
// Which data of a program should live in the slow memory: the partitions of its data-flow graph
// that send the least bytes over the border between the two, for each size of the fast memory.
// ZeRO-Offload (Ren et al., USENIX ATC 2021) chooses the partition of its Table 5.1 so.
//
//   const Cuts cuts = best_cuts(graph);
//   cuts.list[1].traffic, .fast, .slow            the first is: all in the fast memory
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hmkctl {

/// Sizes and traffic are in one unit, the graph's own.
struct FlowGraph {
  enum class Place { any, fast, slow };
  struct Node {
    std::string name;
    double bytes = 0;  // of data; a computation has none
    Place place = Place::any;
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    double bytes = 0;  // in each iteration
  };
  std::string unit = {};
  std::vector<Node> nodes = {};
  std::vector<Edge> edges = {};
};

struct Cut {
  double traffic = 0, fast = 0;
  std::vector<std::size_t> slow = {};  // nodes, in their order
};

struct Cuts {
  double all = 0;  // bytes of all data
  /// By traffic, then from much fast memory to little: of each traffic the least fast memory, where
  /// that is less than with less traffic; of the second least traffic (the least above none) every
  /// size.
  std::vector<Cut> list = {};
  /// Every partition was looked at; else those on the convex hull, found by minimum cuts.
  bool is_exact = true;
};

/// So many nodes that may lie anywhere are tried in every way: 65,536 partitions.
inline constexpr std::size_t kMostTried = 16;

Cuts best_cuts(const FlowGraph& graph);

/// Throws std::invalid_argument with one line: file, line, what is wrong and what to write.
FlowGraph read_flow_graph(const std::string& path);

}  // namespace hmkctl
