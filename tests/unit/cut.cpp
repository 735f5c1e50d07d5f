// SPDX-License-Identifier: MIT
#include "cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/random.hpp"
#include "support/temp_folder.hpp"

using namespace hmkctl;
using hmk::test::Random;

namespace {

using Place = FlowGraph::Place;

FlowGraph chain(std::size_t nodes) {
  FlowGraph graph;
  graph.nodes.push_back({"work", 0, Place::fast});
  for (std::size_t i = 0; i < nodes; ++i) {
    graph.nodes.push_back({"d" + std::to_string(i), 1});
    graph.edges.push_back({.from = i, .to = i + 1, .bytes = static_cast<double>(nodes - i)});
  }
  return graph;
}

std::vector<std::pair<double, double>> sums(const Cuts& cuts) {
  std::vector<std::pair<double, double>> found;
  for (const Cut& cut : cuts.list) found.emplace_back(cut.traffic, cut.fast);
  return found;
}

TEST(Cut, OfMixedPrecisionTrainingIsTableFiveOneOfZeroOffload) {
  const FlowGraph graph = read_flow_graph(HMK_ZERO_GRAPH);
  const Cuts cuts = best_cuts(graph);
  EXPECT_EQ(cuts.all, 16);
  EXPECT_TRUE(cuts.is_exact);
  const std::vector<std::pair<double, double>> expected{{0, 16}, {4, 14}, {4, 4}, {4, 2}, {6, 0}};
  EXPECT_EQ(sums(cuts), expected);
  std::vector<std::string> slow;
  for (const std::size_t node : cuts.list[3].slow) slow.push_back(graph.nodes[node].name);
  EXPECT_EQ(slow, (std::vector<std::string>{"g16", "p32", "m32", "v32", "update", "float2half"}));
}

TEST(Cut, WhatMustBeSlowIsAndWhatIsApartCostsNothing) {
  FlowGraph graph = chain(3);
  graph.nodes.push_back({"apart", 10});
  EXPECT_EQ(best_cuts(graph).list[0].fast, 3) << "the node apart is slow at no price";
  graph.nodes[3].place = Place::slow;
  const Cut first = best_cuts(graph).list[0];
  EXPECT_EQ(first.traffic, 1);
  EXPECT_EQ(first.fast, 2);
}

// What is on the hull of all partitions is found, and nothing that is not a partition.
TEST(Cut, ByMinimumCutsIsTheHullOfAll) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    FlowGraph graph;
    graph.nodes.push_back({"work", 0, Place::fast});
    for (std::size_t i = 1; i < 9; ++i)
      graph.nodes.push_back({std::to_string(i), static_cast<double>(random.below(9))});
    for (int i = 0; i < 14; ++i)
      graph.edges.push_back(
          {random.below(9), random.below(9), static_cast<double>(1 + random.below(20))});
    const Cuts all = best_cuts(graph);
    for (std::size_t i = 0; i < kMostTried; ++i)  // with which nothing else has to do
      graph.nodes.push_back({"x" + std::to_string(i), 0});
    const Cuts hull = best_cuts(graph);
    EXPECT_FALSE(hull.is_exact);
    for (const Cut& cut : hull.list) {
      const auto is_it = [&](const Cut& one) {
        return one.traffic == cut.traffic && one.fast == cut.fast;
      };
      EXPECT_TRUE(std::ranges::any_of(all.list, is_it)) << cut.traffic << " " << cut.fast;
    }
    EXPECT_EQ(hull.list.front().traffic, all.list.front().traffic);
    EXPECT_EQ(hull.list.back().fast, all.list.back().fast);
  }
}

struct Wrong {
  const char *text, *said;
};
class CutRefuses : public testing::TestWithParam<Wrong> {};

TEST_P(CutRefuses, InOneLineWithTheLineOfTheFile) {
  const hmk::test::TempFolder folder;
  const std::string path = folder / "graph.yaml";
  std::ofstream(path) << GetParam().text;
  try {
    read_flow_graph(path);
    FAIL() << "taken";
  } catch (const std::invalid_argument& problem) {
    EXPECT_EQ(problem.what(), path + GetParam().said);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, CutRefuses,
    testing::Values(
        Wrong{"data: {a: 1}\ncompute: {w: fast}\nedges:\n  - {from: a, to: w, bytes: -2}\n",
              ":4: '-2' cannot be what an edge carries; want a number of 0 or more"},
        Wrong{
            "data: {a: 1}\ncompute: {w: any}\nedges: []\n",
            ":1: no computation is 'fast', so all could be slow; say which one needs fast memory"},
        Wrong{"data: {alpha: 1}\ncompute: {w: fast}\nedges:\n  - {from: alhpa, to: w, bytes: 1}\n",
              ":4: nothing is called 'alhpa'; did you mean 'alpha'?"},
        Wrong{"data: {a: 1}\ncompute: {a: fast}\nedges: []\n", ":2: 'a' is there twice"},
        Wrong{"data: {a: x}\ncompute: {w: fast}\nedges: []\n",
              ":1: 'x' cannot be its size; want a number of 0 or more"},
        Wrong{"data: {a: 1}\ncompute: {w: GPU}\nedges: []\n",
              ":2: 'GPU' is no place; want any, fast or slow"},
        Wrong{"data: {a: 1}\ncomputes: {w: fast}\n",
              ":2: unknown key 'computes'; did you mean 'compute'?"},
        Wrong{"data: {a: 1}\ncompute: {w: fast}\n",
              ":1: 'edges' wants a list of {from, to, bytes}"},
        Wrong{"data: [", ":1: end of sequence flow not found"}));

TEST(Cut, AFileThatIsNotThereIsNamed) {
  EXPECT_THROW(read_flow_graph("/nonexistent/graph.yaml"), std::invalid_argument);
}

}  // namespace
