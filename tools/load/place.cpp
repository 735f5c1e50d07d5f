// SPDX-License-Identifier: MIT
#include "place.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace hmk::load {
namespace {

std::uint64_t free_bytes(int node) {
  const std::string file = "/sys/devices/system/node/node" + std::to_string(node) + "/meminfo";
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemFree:" && in >> kib) return kib << 10;
  }
  throw std::runtime_error(file + ": no such node here; --nodes names nodes that have memory");
}

void move_pages(std::vector<void*>& pages, const int* nodes, std::vector<int>& status) {
  // Its positive result is a number of pages left behind; where they are is asked afterwards.
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nodes, status.data(), MPOL_MF_MOVE) <
      0)
    throw std::runtime_error(std::string("move_pages: ") + std::strerror(errno));
}

Places look(Range memory, const PlaceOptions& options) {
  std::vector<void*> pages(memory.length / kPage);
  for (std::uint64_t i = 0; i < pages.size(); ++i)
    pages[i] = reinterpret_cast<void*>(memory.start + i * kPage);
  Places places{std::vector<int>(pages.size()), options.nodes, {}};
  move_pages(pages, nullptr, places.node_of_page);
  for (const int node : options.nodes) {
    const std::uint64_t bytes = free_bytes(node);
    places.room.push_back((bytes - std::min(bytes, options.reserve_bytes)) / kPage);
  }
  return places;
}

void carry_out(Range memory, const std::vector<Move>& moves) {
  std::vector<void*> pages;
  std::vector<int> nodes, status(moves.size());
  for (const Move& move : moves) {
    pages.push_back(reinterpret_cast<void*>(memory.start + move.page * kPage));
    nodes.push_back(move.node);
  }
  move_pages(pages, nodes.data(), status);
}

std::vector<bool> mark_hot(Range memory, const std::vector<Range>& hot, std::uint64_t page_bytes) {
  std::vector<bool> is_hot(memory.length / kPage);
  for (const Range& range : hot) {
    const std::uint64_t first = (range.start - memory.start) / page_bytes * page_bytes;
    const std::uint64_t past = range.start - memory.start + range.length;
    const std::uint64_t end =
        std::min(memory.length, (past + page_bytes - 1) / page_bytes * page_bytes);
    for (std::uint64_t at = first; at < end; at += kPage) is_hot[at / kPage] = true;
  }
  return is_hot;
}

std::string mib(std::uint64_t pages) {
  return std::to_string(pages * kPage >> 20) + " MiB";
}

}  // namespace

std::vector<Move> plan_truth(const Places& places, const std::vector<bool>& is_hot) {
  const int fastest = places.nodes.front();
  std::vector<Move> arrivals, moves;
  std::vector<std::uint64_t> cold_here;
  std::uint64_t hot_here = 0;
  for (std::uint64_t page = 0; page < is_hot.size(); ++page) {
    const bool is_here = places.node_of_page[page] == fastest;
    if (is_hot[page] && !is_here) arrivals.push_back({page, fastest});
    if (!is_hot[page] && is_here) cold_here.push_back(page);
    hot_here += is_hot[page] && is_here;
  }
  std::uint64_t room = places.room.front();
  if (arrivals.size() > room + cold_here.size())
    throw std::runtime_error("the truth does not fit into node " + std::to_string(fastest) + ": " +
                             mib(hot_here + arrivals.size()) + " are hot, " +
                             mib(hot_here + room + cold_here.size()) +
                             " can be had beside the reserve; lower --hot or --reserve");
  std::size_t to = places.nodes.size() - 1;
  std::uint64_t left = places.room[to];
  for (auto page = cold_here.begin(); room + moves.size() < arrivals.size(); ++page, --left) {
    while (left == 0 && to > 0) left = places.room[--to];
    if (to == 0)
      throw std::runtime_error("no room for cold pages outside node " + std::to_string(fastest));
    moves.push_back({*page, places.nodes[to]});
  }
  moves.insert(moves.end(), arrivals.begin(), arrivals.end());
  return moves;
}

Placed place(Range memory, const std::vector<Range>& hot, std::uint64_t page_bytes,
             const PlaceOptions& options) {
  constexpr int kRounds = 5;  // a page somebody holds for a moment moves in the next one
  const auto started = std::chrono::steady_clock::now();
  const std::vector<bool> is_hot = mark_hot(memory, hot, page_bytes);
  std::uint64_t moved = 0;
  std::vector<Move> moves;
  for (int round = 0; round < kRounds; ++round) {
    moves = plan_truth(look(memory, options), is_hot);
    if (moves.empty()) {
      const std::chrono::duration<double, std::milli> ms =
          std::chrono::steady_clock::now() - started;
      return {moved, ms.count()};
    }
    carry_out(memory, moves);
    moved += moves.size();
  }
  throw std::runtime_error(
      std::to_string(moves.size()) + " pages refuse to move; the first is page " +
      std::to_string(moves.front().page) + ", to node " + std::to_string(moves.front().node));
}

}  // namespace hmk::load
