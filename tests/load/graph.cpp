// SPDX-License-Identifier: MIT
#include "graph.hpp"

#include <gtest/gtest.h>

#include <map>

namespace hmk::load {
namespace {

struct Unlimited {
  bool goes_on(std::uint64_t edges) {
    nr_edges += edges;
    return true;
  }
  std::uint64_t nr_edges = 0;
};

struct Graph {
  explicit Graph(unsigned scale, std::uint64_t seed = 1, std::uint64_t edge_factor = 16)
      : kronecker(scale, edge_factor, seed),
        offsets(kronecker.nr_vertices() + 1),
        edges(kronecker.max_edges()),
        arrays(4, std::vector<std::uint32_t>(kronecker.nr_vertices())),
        csr{kronecker.nr_vertices(), offsets.data(), edges.data()},
        search(csr, {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data()}) {
    kronecker.write(csr);
    while (csr.degree(root) == 0) ++root;
  }

  std::uint64_t wrong(bool has_weights) {
    Random random(9);
    Unlimited work;
    return search.wrong_parents(has_weights, 1000, random, work) +
           search.wrong_distances(has_weights, 1000, random, work);
  }

  /// Bellman and Ford's way: until nothing changes.
  std::vector<std::uint32_t> distances(bool has_weights) const {
    std::vector<std::uint32_t> far(csr.nr_vertices, kNone);
    far[root] = 0;
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::uint32_t v = 0; v < csr.nr_vertices; ++v) {
        if (far[v] == kNone) continue;
        for (std::uint32_t e = offsets[v]; e < offsets[v + 1]; ++e) {
          const std::uint32_t there = far[v] + (has_weights ? edges[e].weight : 1);
          if (there >= far[edges[e].target]) continue;
          far[edges[e].target] = there;
          is_changed = true;
        }
      }
    }
    return far;
  }

  Kronecker kronecker;
  std::vector<std::uint32_t> offsets;
  std::vector<Edge> edges;
  std::vector<std::vector<std::uint32_t>> arrays;  // distance, parent, next, previous
  Csr csr;
  Search search;
  std::uint32_t root = 0;
};

TEST(Kronecker, IsTheSameForTheSameSeedOnly) {
  const Graph a(12, 1), b(12, 1), c(12, 2);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_NE(a.edges, c.edges);
}

TEST(Kronecker, PutsEdgesIntoTheQuadrantsOfEveryLevelByTheirShares) {
  constexpr unsigned kScale = 14;
  const Graph graph(kScale);
  std::map<std::uint32_t, std::uint32_t> old;
  for (std::uint32_t v = 0; v < graph.csr.nr_vertices; ++v) old[graph.kronecker.renumber(v)] = v;
  ASSERT_EQ(old.size(), graph.csr.nr_vertices);
  for (unsigned bit = 0; bit < kScale; ++bit) {
    double nr[4] = {};
    for (std::uint32_t v = 0; v < graph.csr.nr_vertices; ++v)
      for (std::uint32_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
        ++nr[((old[v] >> bit) & 1) * 2 + ((old[graph.edges[e].target] >> bit) & 1)];
    const double all = graph.csr.nr_edges();
    EXPECT_NEAR(all, 16.0 * graph.csr.nr_vertices, 0.01 * all);
    EXPECT_NEAR(nr[0] / all, 0.57, 0.01) << bit;
    EXPECT_NEAR(nr[1] / all, 0.19, 0.01) << bit;
    EXPECT_NEAR(nr[2] / all, 0.19, 0.01) << bit;
    EXPECT_NEAR(nr[3] / all, 0.05, 0.01) << bit;
  }
}

TEST(Search, FindsTheDistancesOfARelaxationOfAllEdges) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const bool has_weights : {false, true}) {
      Graph graph(11, seed, 4);
      Unlimited work;
      EXPECT_TRUE(has_weights ? graph.search.sssp(graph.root, work)
                              : graph.search.bfs(graph.root, work));
      EXPECT_EQ(graph.arrays[0], graph.distances(has_weights)) << seed;
      EXPECT_EQ(graph.wrong(has_weights), 0u);
      EXPECT_GT(work.nr_edges, graph.csr.nr_edges() / 2);  // not a root that reaches nothing
    }
}

TEST(Search, IsFoundWrongWithOneWordPlanted) {
  for (const bool has_weights : {false, true})
    for (const unsigned array : {0, 1}) {
      Graph graph(6);
      Unlimited work;
      has_weights ? graph.search.sssp(graph.root, work) : graph.search.bfs(graph.root, work);
      ASSERT_EQ(graph.wrong(has_weights), 0u);
      std::uint32_t v = 0;
      while (v == graph.root || graph.arrays[0][v] == kNone || graph.csr.degree(v) == 0) ++v;
      graph.arrays[array][v] += array == 0 ? 1000 : 1;
      EXPECT_GT(graph.wrong(has_weights), 0u) << array;
    }
}

TEST(Search, StopsWhenItIsTold) {
  struct {
    bool goes_on(std::uint64_t edges) { return (left -= edges) > 128; }
    std::uint64_t left = 1024;
  } work;
  Graph graph(10);
  EXPECT_FALSE(graph.search.bfs(graph.root, work));
  EXPECT_EQ(work.left, 128u);
}

TEST(PageRank, SumsToOneExactlyAndPutsTheHubFirst) {
  const Graph graph(12);
  std::vector<std::uint64_t> ranks(graph.csr.nr_vertices), next(graph.csr.nr_vertices);
  PageRank page_rank(graph.csr, ranks.data(), next.data());
  page_rank.reset();
  Unlimited work;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(page_rank.iterate(work));
    EXPECT_EQ(page_rank.sum(), PageRank::kWhole);
  }
  const auto hub = std::max_element(ranks.begin(), ranks.end()) - ranks.begin();
  EXPECT_EQ(hub, graph.kronecker.renumber(0));
}

}  // namespace
}  // namespace hmk::load
