// SPDX-License-Identifier: MIT
//
// The module's moves between nodes that are full, as kmod/copy.c sees room: a chunk of which not
// all pages fit above the low watermark moves none, and what moves free is first kept in the lists
// of a CPU, where it counts for nobody.
//
//   FullNodes nodes({{.free = 4 * kMiB, .low = 4 * kMiB, .listed_at_most = 4 * kMiB}, ...});
//   nodes.put(start, length, 1);
//   results = nodes.run(ticket);
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "fake_device.hpp"

namespace hmk::test {

class FullNodes {
 public:
  struct Room {
    std::uint64_t free = 0;            // bytes that all see
    std::uint64_t low = 0;             // bytes: the module goes no lower
    std::uint64_t listed_at_most = 0;  // bytes that the lists of its CPUs keep
    std::uint64_t listed = 0;          // bytes that they hold
  };
  explicit FullNodes(std::vector<Room> rooms) : rooms_(std::move(rooms)) {}

  void put(std::uint64_t start, std::uint64_t length, int node) {
    for (std::uint64_t page = start; page < start + length; page += HMK_PAGE_SIZE)
      nodes_[page] = node;
  }
  const Room& room(int node) const { return rooms_.at(static_cast<std::size_t>(node)); }

  /// Two ranges are under way at a time: what one frees is there when the next one has ended.
  std::vector<hmk_range_result> run(const FakeKernel::Ticket& ticket) {
    std::vector<hmk_range_result> results;
    std::vector<std::uint64_t> before(rooms_.size()), now;
    for (const hmk_range& range : ticket.ranges) {
      now.assign(rooms_.size(), 0);
      results.push_back(move(range, now));
      release(before);
      std::swap(before, now);
    }
    release(before);
    return results;
  }

 private:
  static constexpr std::uint64_t kChunk = std::uint64_t{512} * HMK_PAGE_SIZE;

  hmk_range_result move(const hmk_range& range, std::vector<std::uint64_t>& freed) {
    hmk_range_result result{};
    const std::uint64_t end = range.start + range.length;
    std::uint64_t next = 0;
    for (std::uint64_t at = range.start; at < end; at = next) {
      next = std::min(end, (at / kChunk + 1) * kChunk);
      std::vector<std::uint64_t> pages;
      for (std::uint64_t page = at; page < next; page += HMK_PAGE_SIZE)
        if (const auto there = nodes_.find(page); there == nodes_.end())
          ++result.pages_absent;
        else if (there->second == range.node)
          ++result.pages_already;
        else
          pages.push_back(page);
      const std::uint64_t bytes = pages.size() * HMK_PAGE_SIZE;
      Room& to = rooms_.at(static_cast<std::size_t>(range.node));
      if (to.free < to.low + bytes) {
        result.refused[HMK_REFUSED_NO_ROOM] += static_cast<__u32>(pages.size());
        continue;
      }
      const std::uint64_t from_lists = std::min(to.listed, bytes);
      to.listed -= from_lists;
      to.free -= bytes - from_lists;
      for (const std::uint64_t page : pages) {
        int& node = nodes_.at(page);
        freed.at(static_cast<std::size_t>(node)) += HMK_PAGE_SIZE;
        node = range.node;
      }
      result.pages_clean += static_cast<__u32>(pages.size());
    }
    return result;
  }

  void release(const std::vector<std::uint64_t>& freed) {
    for (std::size_t node = 0; node < freed.size(); ++node) {
      Room& room = rooms_[node];
      const std::uint64_t kept = std::min(freed[node], room.listed_at_most - room.listed);
      room.listed += kept;
      room.free += freed[node] - kept;
    }
  }

  std::vector<Room> rooms_;
  std::map<std::uint64_t, int> nodes_;  // by address of a page
};

}  // namespace hmk::test
