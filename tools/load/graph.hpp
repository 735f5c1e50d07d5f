// SPDX-License-Identifier: MIT
// BFS, shortest paths and PageRank on a CSR graph, stopped at any batch of edges.
//
//   Search search(graph, arrays);
//   search.bfs(root, stage);         // or sssp; true: it came to its end
//   search.wrong_paths(...);         // what the result violates
//
// `Work` is anything with bool goes_on(edges): Stage, or a test's own.
#ifndef HMK_LOAD_GRAPH_HPP
#define HMK_LOAD_GRAPH_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kronecker.hpp"

namespace hmk::load {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// Walks edges and tells `work` about each batch of them.
template <typename Work>
class Walker {
 public:
  Walker(const Csr& graph, Work& work) : graph_(graph), work_(work) {}

  /// visit(edge) for all edges that leave v. False: stop.
  template <typename Visit>
  bool edges(std::uint32_t v, Visit visit) {
    const Edge* at = graph_.edges + graph_.offsets[v];
    const Edge* const end = graph_.edges + graph_.offsets[v + 1];
    while (at != end) {
      const Edge* const stop = at + std::min<std::ptrdiff_t>(end - at, kBatch - pending_);
      pending_ += stop - at;
      for (; at != stop; ++at) visit(*at);
      if (pending_ < kBatch) continue;
      pending_ = 0;
      if (!work_.goes_on(kBatch)) return false;
    }
    return true;
  }

  /// step(i) for i of [0, nr), none of which counts as an operation. False: stop.
  template <typename Step>
  bool vertices(std::uint32_t nr, Step step) {
    constexpr std::uint32_t kPiece = 1 << 10;
    for (std::uint32_t i = 0; i < nr;) {
      const std::uint32_t stop = nr - i < kPiece ? nr : i + kPiece;
      for (; i < stop; ++i) step(i);
      if (!work_.goes_on(0)) return false;
    }
    return true;
  }

 private:
  static constexpr std::ptrdiff_t kBatch = 64;

  const Csr& graph_;
  Work& work_;
  std::ptrdiff_t pending_ = 0;
};

/// What a search keeps per vertex; each array has one element per vertex.
struct SearchArrays {
  std::uint32_t *distance, *parent, *next, *previous;
};

class Search {
 public:
  Search(const Csr& graph, const SearchArrays& arrays) : graph_(graph), on_(arrays) {}

  template <typename Work>
  bool bfs(std::uint32_t root, Work& work) {
    Walker walker(graph_, work);
    if (!clear(root, walker)) return false;
    std::uint32_t* const queue = on_.next;
    std::uint32_t nr_queued = 0;
    queue[nr_queued++] = root;
    for (std::uint32_t i = 0; i < nr_queued; ++i) {
      const std::uint32_t v = queue[i];
      const bool goes_on = walker.edges(v, [&](const Edge& edge) {
        if (on_.distance[edge.target] != kNone) return;
        on_.distance[edge.target] = on_.distance[v] + 1;
        on_.parent[edge.target] = v;
        queue[nr_queued++] = edge.target;
      });
      if (!goes_on) return false;
    }
    return true;
  }

  /// Delta-stepping by one thread: vertices wait in a ring of lists by distance.
  template <typename Work>
  bool sssp(std::uint32_t root, Work& work) {
    Walker walker(graph_, work);
    if (!clear(root, walker)) return false;
    if (!walker.vertices(graph_.nr_vertices, [&](auto v) { on_.previous[v] = kNone; }))
      return false;
    lists_.fill(kNone);
    enlist(root);
    for (std::uint32_t now = 0, nr_empty = 0; nr_empty < kLists; now = (now + 1) % kLists) {
      nr_empty = lists_[now] == kNone ? nr_empty + 1 : 0;
      while (lists_[now] != kNone) {
        const std::uint32_t v = lists_[now];
        delist(v);
        const std::uint32_t here = on_.distance[v];
        const bool goes_on = walker.edges(v, [&](const Edge& edge) {
          const std::uint32_t there = here + edge.weight;
          if (there >= on_.distance[edge.target]) return;
          delist(edge.target);
          on_.distance[edge.target] = there;
          on_.parent[edge.target] = v;
          enlist(edge.target);
        });
        if (!goes_on) return false;
      }
    }
    return true;
  }

  /// Of `nr` random vertices, how many were reached by an edge that is not there or not as long.
  /// Holds at any moment of a search by bfs, and at the end of sssp.
  template <typename Work>
  std::uint64_t wrong_parents(bool has_weights, std::uint32_t nr, Random& random,
                              Work& work) const {
    Walker walker(graph_, work);
    std::uint64_t wrong = 0;
    for (; nr > 0; --nr) {
      const auto v = static_cast<std::uint32_t>(random.below(graph_.nr_vertices));
      const std::uint32_t parent = on_.parent[v], distance = on_.distance[v];
      if (parent == kNone) {
        wrong += distance != kNone;
        continue;
      }
      bool is_found = v == parent && distance == 0;  // the root
      const auto look = [&](const Edge& edge) {
        is_found |=
            edge.target == v && on_.distance[parent] + (has_weights ? edge.weight : 1) == distance;
      };
      if (!is_found && !walker.edges(parent, look)) return wrong;
      wrong += !is_found;
    }
    return wrong;
  }

  /// Of the edges of `nr` random vertices, how many lead to one that is farther away than they make
  /// it. None does at the end of a search.
  template <typename Work>
  std::uint64_t wrong_distances(bool has_weights, std::uint32_t nr, Random& random,
                                Work& work) const {
    Walker walker(graph_, work);
    std::uint64_t wrong = 0;
    for (; nr > 0; --nr) {
      const auto v = static_cast<std::uint32_t>(random.below(graph_.nr_vertices));
      if (on_.distance[v] == kNone) continue;
      const bool goes_on = walker.edges(v, [&](const Edge& edge) {
        wrong += on_.distance[edge.target] > on_.distance[v] + (has_weights ? edge.weight : 1);
      });
      if (!goes_on) break;
    }
    return wrong;
  }

 private:
  static constexpr std::uint32_t kDelta = 32, kLists = 256 / kDelta + 1;
  // previous[v] of the first of list i is kFirst + i; vertices are fewer than 2^31
  static constexpr std::uint32_t kFirst = 1u << 31;

  template <typename Work>
  bool clear(std::uint32_t root, Walker<Work>& walker) {
    const bool goes_on = walker.vertices(graph_.nr_vertices, [&](auto v) {
      on_.distance[v] = kNone;
      on_.parent[v] = kNone;
    });
    on_.distance[root] = 0;
    on_.parent[root] = root;
    return goes_on;
  }

  void enlist(std::uint32_t v) {
    const std::uint32_t list = on_.distance[v] / kDelta % kLists;
    on_.previous[v] = kFirst + list;
    on_.next[v] = lists_[list];
    if (lists_[list] != kNone) on_.previous[lists_[list]] = v;
    lists_[list] = v;
  }

  void delist(std::uint32_t v) {
    const std::uint32_t previous = std::exchange(on_.previous[v], kNone);
    if (previous == kNone) return;
    (previous >= kFirst ? lists_[previous - kFirst] : on_.next[previous]) = on_.next[v];
    if (on_.next[v] != kNone) on_.previous[on_.next[v]] = previous;
  }

  const Csr& graph_;
  SearchArrays on_;
  std::array<std::uint32_t, kLists> lists_{};
};

/// In whole numbers, so that the sum of all ranks is exactly kWhole after each iteration, and
/// because floating point is what an emulated CPU does worst.
class PageRank {
 public:
  static constexpr std::uint64_t kWhole = 1ull << 60;

  /// Two arrays with one element per vertex.
  PageRank(const Csr& graph, std::uint64_t* ranks, std::uint64_t* next)
      : graph_(graph), ranks_(ranks), next_(next) {}

  void reset() {
    const std::uint64_t nr = graph_.nr_vertices;
    for (std::uint64_t v = 0; v < nr; ++v) ranks_[v] = kWhole / nr + (v < kWhole % nr);
  }

  /// False: stopped in the middle, the ranks are those of the last iteration.
  template <typename Work>
  bool iterate(Work& work) {
    Walker walker(graph_, work);
    std::uint64_t left = kWhole;  // what no edge carries: 15 %, vertices without edges, rounding
    bool goes_on = walker.vertices(graph_.nr_vertices, [&](auto v) { next_[v] = 0; });
    for (std::uint32_t v = 0; v < graph_.nr_vertices && goes_on; ++v) {
      const std::uint32_t degree = graph_.degree(v);
      if (degree == 0) continue;
      const std::uint64_t share = ranks_[v] / 100 * 85 / degree;
      left -= share * degree;
      goes_on = walker.edges(v, [&](const Edge& edge) { next_[edge.target] += share; });
    }
    const std::uint64_t all = left / graph_.nr_vertices, first = left % graph_.nr_vertices;
    goes_on = goes_on && walker.vertices(graph_.nr_vertices,
                                         [&](auto v) { next_[v] += all + (v < first ? 1 : 0); });
    if (goes_on) std::swap(ranks_, next_);
    return goes_on;
  }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::uint64_t v = 0; v < graph_.nr_vertices; ++v) sum += ranks_[v];
    return sum;
  }

 private:
  const Csr& graph_;
  std::uint64_t *ranks_, *next_;
};

}  // namespace hmk::load

#endif
