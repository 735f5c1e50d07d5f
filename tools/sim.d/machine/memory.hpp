// SPDX-License-Identifier: MIT
//
// Which node every page of the process lies on, and how much of each node is free.
//
//   Memory memory(bytes, rooms, order, 1);      touched in order of addresses, fastest node first
//   memory.move(page, 512, node);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "world.hpp"

namespace hmk::sim {

class Memory {
 public:
  static constexpr Bytes kPage = 4096;

  /// `rooms`: bytes of each node that the process may have. `leaf_pages`: of a page of its table,
  /// 1 or 512; one lies on one node. Throws std::invalid_argument when it does not fit.
  Memory(Bytes bytes, std::vector<Bytes> rooms, std::span<const int> order,
         std::uint64_t leaf_pages);

  std::uint64_t pages() const { return nodes_.size(); }
  std::uint64_t leaf_pages() const { return leaf_pages_; }
  int node(std::uint64_t page) const { return nodes_[page]; }
  std::size_t nr_nodes() const { return rooms_.size(); }
  Bytes room(int node) const { return rooms_[static_cast<std::size_t>(node)]; }
  Bytes used(int node) const { return used_[static_cast<std::size_t>(node)]; }
  Bytes free(int node) const { return room(node) - used(node); }

  struct Moved {
    std::uint64_t pages = 0, already = 0, no_room = 0;
  };
  /// Told of each page that moves: page, from.
  using OnMove = std::function<void(std::uint64_t, int)>;
  /// Whole leaves of [first, first + nr); those without room stay.
  Moved move(std::uint64_t first, std::uint64_t nr, int to, const OnMove& on_move);

  /// Each page where `nodes` says, as far as there is room; the others as the first touch does.
  void place_as(std::span<const std::uint32_t> nodes, std::span<const int> order);

  /// All that can be moved where it is best: what has most of `heat` (by page) into the first of
  /// `order`, and so on.
  void place_by(std::span<const double> heat, std::span<const int> order);

 private:
  void clear() { used_.assign(rooms_.size(), 0); }
  void fill(std::span<const std::uint64_t> leaves, std::span<const int> order);
  void put(std::uint64_t leaf, std::size_t node);

  std::vector<Bytes> rooms_, used_;
  std::uint64_t leaf_pages_;
  std::vector<std::uint8_t> nodes_;  // by page
};

}  // namespace hmk::sim
