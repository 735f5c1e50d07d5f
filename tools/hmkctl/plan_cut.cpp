// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cut.hpp"
#include "plan.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

json rows_of(const FlowGraph& graph, const Cuts& cuts) {
  json rows = json::array();
  for (const Cut& cut : cuts.list) {
    std::vector<std::string> slow;
    for (const std::size_t node : cut.slow) slow.push_back(graph.nodes[node].name);
    rows.push_back({{"traffic", cut.traffic},
                    {"fast", cut.fast},
                    {"times_less", cut.fast > 0 ? json(cuts.all / cut.fast) : json(nullptr)},
                    {"slow", slow}});
  }
  return {{"unit", graph.unit}, {"all", cuts.all}, {"is_exact", cuts.is_exact}, {"cuts", rows}};
}

int run_cut(const Context& context, const std::string& file) {
  static const std::vector<Table> kTables{{"cuts",
                                           {{"traffic", "TRAFFIC", Unit::decimal},
                                            {"fast", "FAST", Unit::decimal},
                                            {"times_less", "TIMES LESS", Unit::decimal},
                                            {"slow", "IN SLOW MEMORY"}}}};
  FlowGraph graph;
  try {
    graph = read_flow_graph(file);
  } catch (const std::invalid_argument& problem) {
    return fail(context, Reply{kUsage, {problem.what()}});
  }
  const json found = rows_of(graph, best_cuts(graph));
  if (context.as_json) {
    std::fputs(json_text(found, 2).c_str(), stdout);
    return kOk;
  }
  std::printf("all data: %g%s; traffic over the border in each iteration, in the same unit%s\n\n",
              found["all"].get<double>(), graph.unit.c_str(),
              found["is_exact"].get<bool>() ? "" : "; of many partitions those on the convex hull");
  print(found, kTables, false);
  return kOk;
}

}  // namespace

Run make_plan_cut(CLI::App& verb) {
  auto file = std::make_shared<std::string>();
  verb.add_option("FILE", *file, "a data-flow graph: data with sizes, computations, edges")
      ->required();
  return [file](const Context& context) { return run_cut(context, *file); };
}

}  // namespace hmkctl
