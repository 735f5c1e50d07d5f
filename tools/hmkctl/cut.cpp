// SPDX-License-Identifier: MIT
#include "cut.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace hmkctl {
namespace {

using Place = FlowGraph::Place;

bool is_same(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::vector<std::size_t> free_nodes(const FlowGraph& graph) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].place == Place::any) found.push_back(i);
  return found;
}

Cut cut_of(const FlowGraph& graph, const std::vector<bool>& is_slow) {
  Cut cut;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_slow[i]) cut.slow.push_back(i);
    if (!is_slow[i]) cut.fast += graph.nodes[i].bytes;
  }
  for (const FlowGraph::Edge& edge : graph.edges)
    if (is_slow[edge.from] != is_slow[edge.to]) cut.traffic += edge.bytes;
  return cut;
}

/// Of each traffic the least fast memory, where that is less than with less traffic; of the second
/// least traffic every size.
std::vector<Cut> select(std::vector<Cut> all) {
  std::ranges::stable_sort(all, {},
                           [](const Cut& cut) { return std::pair(cut.traffic, -cut.fast); });
  std::vector<Cut> list;
  double least = std::numeric_limits<double>::max();
  std::size_t group = 0;
  for (auto at = all.begin(); at != all.end(); ++group) {
    const auto end = std::find_if(
        at, all.end(), [&](const Cut& cut) { return !is_same(cut.traffic, at->traffic); });
    for (auto cut = group == 1 ? at : std::prev(end); cut != end; ++cut)
      if (cut->fast < least && !is_same(cut->fast, least)) list.push_back(*cut);
    least = std::min(least, std::prev(end)->fast);
    at = end;
  }
  return list;
}

/// In the order of a Gray code: from one partition to the next one node changes sides.
std::vector<Cut> try_all(const FlowGraph& graph, const std::vector<std::size_t>& free) {
  std::vector<std::vector<const FlowGraph::Edge*>> edges_of(graph.nodes.size());
  for (const FlowGraph::Edge& edge : graph.edges) {
    edges_of[edge.from].push_back(&edge);
    if (edge.to != edge.from) edges_of[edge.to].push_back(&edge);
  }
  std::vector<bool> is_slow(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    is_slow[i] = graph.nodes[i].place == Place::slow;
  // Sums of many steps err: what differs by less than a millionth is the same, and worked out anew.
  Cut now = cut_of(graph, is_slow);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<bool>> found;
  const auto keep = [&] {
    const auto key = [](double value) { return std::llround(value * 1e6); };
    found.try_emplace({key(now.traffic), key(now.fast)}, is_slow);
  };
  keep();
  for (std::uint64_t step = 1; step < std::uint64_t{1} << free.size(); ++step) {
    const std::size_t node = free[static_cast<std::size_t>(__builtin_ctzll(step))];
    is_slow[node] = !is_slow[node];
    now.fast += is_slow[node] ? -graph.nodes[node].bytes : graph.nodes[node].bytes;
    for (const FlowGraph::Edge* const edge : edges_of[node])
      if (edge->from != edge->to)
        now.traffic += is_slow[edge->from] != is_slow[edge->to] ? edge->bytes : -edge->bytes;
    keep();
  }
  std::vector<Cut> all;
  all.reserve(found.size());
  for (const auto& [sums, sides] : found) all.push_back(cut_of(graph, sides));
  return all;
}

/// Minimum cuts of traffic + price * fast bytes, for every price at which another one is best.
class Hull {
 public:
  explicit Hull(const FlowGraph& graph) : graph_(graph) {}

  std::vector<Cut> run() {
    std::vector<bool> is_slow(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      is_slow[i] = graph_.nodes[i].place == Place::slow;
    const Cut all = cut_of(graph_, is_slow);
    double traffic = 1, smallest = std::numeric_limits<double>::max();
    for (const FlowGraph::Edge& edge : graph_.edges) traffic += edge.bytes;
    for (const FlowGraph::Node& node : graph_.nodes)
      if (node.bytes > 0) smallest = std::min(smallest, node.bytes);
    const Cut least = best(traffic / smallest);  // any byte is dearer than all traffic
    found_ = {all, least};
    between(all, least);
    return std::move(found_);
  }

 private:
  using Flow = std::int64_t;
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Net = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<
          boost::edge_capacity_t, Flow,
          boost::property<boost::edge_residual_capacity_t, Flow,
                          boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

  static void connect(Net& net, std::size_t from, std::size_t to, Flow most) {
    const auto forth = boost::add_edge(from, to, net).first;
    const auto reverse = boost::add_edge(to, from, net).first;
    boost::put(boost::edge_capacity, net, forth, most);
    boost::put(boost::edge_capacity, net, reverse, Flow{0});
    boost::put(boost::edge_reverse, net, forth, reverse);
    boost::put(boost::edge_reverse, net, reverse, forth);
  }

  Cut best(double price) const {
    const std::size_t n = graph_.nodes.size(), fast = n, slow = n + 1;
    double all = 0;
    for (const FlowGraph::Edge& edge : graph_.edges) all += edge.bytes;
    for (const FlowGraph::Node& node : graph_.nodes) all += price * node.bytes;
    // Whole numbers, of which all together are 2^50.
    const auto flow = [&](double bytes) { return std::llround(std::ldexp(bytes / all, 50)); };
    const Flow never = Flow{1} << 52;
    Net net(n + 2);
    for (std::size_t i = 0; i < n; ++i) {
      const FlowGraph::Node& node = graph_.nodes[i];
      connect(net, fast, i, node.place == Place::fast ? never : 0);
      connect(net, i, slow, node.place == Place::slow ? never : flow(price * node.bytes));
    }
    for (const FlowGraph::Edge& edge : graph_.edges) {
      if (edge.from == edge.to) continue;
      connect(net, edge.from, edge.to, flow(edge.bytes));  // whichever side either is on
      connect(net, edge.to, edge.from, flow(edge.bytes));
    }
    boost::push_relabel_max_flow(net, fast, slow);
    return cut_of(graph_, cut_off(net, fast));
  }

  /// What the source reaches no more.
  std::vector<bool> cut_off(const Net& net, std::size_t source) const {
    std::vector<bool> is_reached(boost::num_vertices(net));
    std::vector<std::size_t> next{source};
    is_reached[source] = true;
    while (!next.empty()) {
      const std::size_t at = next.back();
      next.pop_back();
      for (const auto edge : boost::make_iterator_range(boost::out_edges(at, net))) {
        const std::size_t to = boost::target(edge, net);
        if (is_reached[to] || boost::get(boost::edge_residual_capacity, net, edge) == 0) continue;
        is_reached[to] = true;
        next.push_back(to);
      }
    }
    std::vector<bool> is_off;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) is_off.push_back(!is_reached[i]);
    return is_off;
  }

  /// At the price at which both cost the same, what costs less lies between them.
  void between(const Cut& much, const Cut& little) {
    if (!(much.fast > little.fast) || is_same(much.fast, little.fast)) return;
    const double price = (little.traffic - much.traffic) / (much.fast - little.fast);
    const Cut middle = best(price);
    const double line = much.traffic + price * much.fast;
    const double value = middle.traffic + price * middle.fast;
    if (value >= line || is_same(value, line)) return;
    found_.push_back(middle);
    between(much, middle);
    between(middle, little);
  }

  const FlowGraph& graph_;
  std::vector<Cut> found_;
};

}  // namespace

Cuts best_cuts(const FlowGraph& graph) {
  const std::vector<std::size_t> free = free_nodes(graph);
  Cuts cuts{.is_exact = free.size() <= kMostTried};
  for (const FlowGraph::Node& node : graph.nodes) cuts.all += node.bytes;
  cuts.list = select(cuts.is_exact ? try_all(graph, free) : Hull(graph).run());
  return cuts;
}

}  // namespace hmkctl
