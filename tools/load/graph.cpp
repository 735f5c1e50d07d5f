// SPDX-License-Identifier: MIT
// hmk-load-graph: an algorithm on a Kronecker graph, again and again until stopped.
#include "graph.hpp"

#include "stage.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-graph [--algorithm bfs|sssp|pagerank] [--size 1280MiB] [--edge-factor "
        "16]\n"
        "                      [--pages 4KiB|thp] [--seed N]\n"
        "A Kronecker graph of as many vertices (a power of two) as fit into --size. bfs and sssp\n"
        "start from random roots, pagerank anew after 20 iterations. An operation is an edge.\n") +
    Stage::kUsage;

struct Plan {
  std::string algorithm;
  std::uint64_t edge_factor = 0, seed = 0, bytes = 0;
  unsigned scale = 0;
  bool is_huge = false;
};

constexpr std::uint64_t kVertexBytes = sizeof(SearchArrays) / sizeof(std::uint32_t*) * 4;

/// Offsets, edges, and what the algorithms keep per vertex.
struct Layout {
  explicit Layout(const Kronecker& kronecker)
      : edges(align((kronecker.nr_vertices() + 1ull) * sizeof(std::uint32_t))),
        per_vertex(align(edges + kronecker.max_edges() * sizeof(Edge))),
        bytes(align(per_vertex + kronecker.nr_vertices() * kVertexBytes)) {}

  static std::uint64_t align(std::uint64_t x) { return (x + kPage - 1) / kPage * kPage; }

  std::uint64_t edges, per_vertex, bytes;
};

Plan read_plan(Options& options) {
  Plan plan;
  plan.algorithm = options.text("--algorithm", "bfs");
  plan.bytes = options.bytes("--size", 1280ull << 20);
  plan.edge_factor = options.number("--edge-factor", 16);
  plan.is_huge = read_is_huge(options);
  plan.seed = options.number("--seed", 1);
  options.finish();
  if (plan.algorithm != "bfs" && plan.algorithm != "sssp" && plan.algorithm != "pagerank")
    options.fail("--algorithm " + plan.algorithm + ": want bfs, sssp or pagerank");
  if (plan.edge_factor == 0 || plan.edge_factor > 256) options.fail("--edge-factor: want 1 to 256");
  if (plan.bytes < 1 << 20 || plan.bytes > 16ull << 30) options.fail("--size: want 1MiB to 16GiB");
  while (Layout(Kronecker(plan.scale + 1, plan.edge_factor, 0)).bytes <= plan.bytes) ++plan.scale;
  return plan;
}

struct Unlimited {
  bool goes_on(std::uint64_t) { return true; }
};

class Load {
 public:
  Load(const Plan& plan, Stage& stage)
      : Load(plan, stage, Kronecker(plan.scale, plan.edge_factor, plan.seed)) {}

  int run() {
    stage_.ready(memory_.range());
    const std::string shape = ", \"vertices\": " + std::to_string(graph_.nr_vertices) +
                              ", \"edges\": " + std::to_string(graph_.nr_edges());
    const std::uint64_t wrong = plan_.algorithm == "pagerank" ? rank() : search();
    return stage_.end(wrong, shape + ", \"runs\": " + std::to_string(runs_));
  }

 private:
  Load(const Plan& plan, Stage& stage, Kronecker kronecker)
      : plan_(plan),
        stage_(stage),
        layout_(kronecker),
        memory_(layout_.bytes, plan.is_huge),
        graph_{kronecker.nr_vertices(), memory_.as<std::uint32_t>(),
               memory_.as<Edge>(layout_.edges)},
        random_(plan.seed + 1) {
    kronecker.write(graph_);
    for (std::uint64_t at = layout_.per_vertex; at < layout_.bytes; at += kPage)
      *memory_.as<volatile char>(at) = 0;
  }

  std::uint64_t search() {
    constexpr std::uint32_t kSamples = 64;
    const std::uint64_t nr = graph_.nr_vertices;
    auto* arrays = memory_.as<std::uint32_t>(layout_.per_vertex);
    Search search(graph_, {arrays, arrays + nr, arrays + 2 * nr, arrays + 3 * nr});
    const bool has_weights = plan_.algorithm == "sssp";
    std::uint64_t wrong = 0;
    for (bool goes_on = true; goes_on; runs_ += goes_on) {
      const std::uint32_t root = draw_root();
      goes_on = has_weights ? search.sssp(root, stage_) : search.bfs(root, stage_);
      if (!goes_on || !stage_.checks()) continue;
      wrong += search.wrong_parents(has_weights, kSamples, random_, stage_);
      wrong += search.wrong_distances(has_weights, kSamples, random_, stage_);
    }
    stage_.over();
    Unlimited unlimited;  // what was interrupted is a tree all the same, only not of shortest paths
    if (stage_.checks() && !has_weights)
      wrong += search.wrong_parents(false, kSamples, random_, unlimited);
    return wrong;
  }

  std::uint64_t rank() {
    constexpr std::uint64_t kIterations = 20;
    auto* ranks = memory_.as<std::uint64_t>(layout_.per_vertex);
    PageRank page_rank(graph_, ranks, ranks + graph_.nr_vertices);
    for (bool goes_on = true; goes_on; runs_ += goes_on) {
      page_rank.reset();
      for (std::uint64_t i = 0; i < kIterations && goes_on; ++i)
        goes_on = page_rank.iterate(stage_);
    }
    stage_.over();
    return stage_.checks() && page_rank.sum() != PageRank::kWhole;
  }

  std::uint32_t draw_root() {
    for (;;) {
      const auto root = static_cast<std::uint32_t>(random_.below(graph_.nr_vertices));
      if (graph_.degree(root) > 0) return root;
    }
  }

  const Plan& plan_;
  Stage& stage_;
  Layout layout_;
  Memory memory_;
  Csr graph_;
  Random random_;
  std::uint64_t runs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kUnknown);
  const Plan plan = read_plan(options);
  return options.attempt([&] { return Load(plan, stage).run(); });
}
