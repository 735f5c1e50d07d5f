// SPDX-License-Identifier: MIT
#include "machine/memory.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace hmk::sim {

Memory::Memory(Bytes bytes, std::vector<Bytes> rooms, std::span<const int> order,
               std::uint64_t leaf_pages)
    : rooms_(std::move(rooms)), leaf_pages_(leaf_pages), nodes_(bytes / kPage) {
  std::vector<std::uint64_t> leaves(nodes_.size() / leaf_pages_);
  std::iota(leaves.begin(), leaves.end(), 0);
  clear();
  fill(leaves, order);
}

void Memory::put(std::uint64_t leaf, std::size_t node) {
  std::fill_n(nodes_.begin() + static_cast<std::ptrdiff_t>(leaf * leaf_pages_), leaf_pages_,
              static_cast<std::uint8_t>(node));
  used_[node] += leaf_pages_ * kPage;
}

void Memory::fill(std::span<const std::uint64_t> leaves, std::span<const int> order) {
  auto at = order.begin();
  for (const std::uint64_t leaf : leaves) {
    while (at != order.end() && free(*at) < leaf_pages_ * kPage) ++at;
    if (at == order.end())
      throw std::invalid_argument(
          "the scenario's memory does not fit into the machine; take a "
          "larger machine or less of --taken");
    put(leaf, static_cast<std::size_t>(*at));
  }
}

Memory::Moved Memory::move(std::uint64_t first, std::uint64_t nr, int to, const OnMove& on_move) {
  Moved moved;
  const std::uint64_t end = std::min(first + nr, pages());
  for (std::uint64_t page = first / leaf_pages_ * leaf_pages_; page < end; page += leaf_pages_) {
    const int from = node(page);
    if (from == to) {
      moved.already += leaf_pages_;
    } else if (free(to) < leaf_pages_ * kPage) {
      moved.no_room += leaf_pages_;
    } else {
      for (std::uint64_t i = page; i < page + leaf_pages_; ++i) {
        nodes_[i] = static_cast<std::uint8_t>(to);
        on_move(i, from);
      }
      used_[static_cast<std::size_t>(from)] -= leaf_pages_ * kPage;
      used_[static_cast<std::size_t>(to)] += leaf_pages_ * kPage;
      moved.pages += leaf_pages_;
    }
  }
  return moved;
}

void Memory::place_as(std::span<const std::uint32_t> nodes, std::span<const int> order) {
  clear();
  std::vector<std::uint64_t> others;
  for (std::uint64_t leaf = 0; leaf < nodes_.size() / leaf_pages_; ++leaf) {
    const std::uint32_t node = nodes[leaf * leaf_pages_];
    if (node < nr_nodes() && free(static_cast<int>(node)) >= leaf_pages_ * kPage)
      put(leaf, node);
    else
      others.push_back(leaf);
  }
  fill(others, order);
}

void Memory::place_by(std::span<const double> heat, std::span<const int> order) {
  std::vector<std::uint64_t> leaves(nodes_.size() / leaf_pages_);
  std::iota(leaves.begin(), leaves.end(), 0);
  std::vector<double> hot(leaves.size());
  for (std::size_t i = 0; i < heat.size(); ++i) hot[i / leaf_pages_] += heat[i];
  std::ranges::stable_sort(leaves, std::greater{}, [&](std::uint64_t leaf) { return hot[leaf]; });
  clear();
  fill(leaves, order);
}

}  // namespace hmk::sim
