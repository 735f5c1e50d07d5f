// SPDX-License-Identifier: MIT
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "cut.hpp"
#include "util/suggest.hpp"

namespace hmkctl {
namespace {

using Place = FlowGraph::Place;

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  FlowGraph read() {
    const YAML::Node root = load();
    know(root, {"unit", "data", "compute", "edges"});
    if (root["unit"]) graph_.unit = word(root["unit"]);
    for (const auto& data : members(root, "data"))
      add({word(data.first), amount(data.second, "its size"), Place::any}, data.first);
    for (const auto& compute : members(root, "compute"))
      add({word(compute.first), 0, place(compute.second)}, compute.first);
    if (!root["edges"] || !root["edges"].IsSequence())
      fail(root, "'edges' wants a list of {from, to, bytes}");
    for (const YAML::Node& edge : root["edges"]) add_edge(edge);
    if (std::ranges::none_of(graph_.nodes, [](auto& node) { return node.place == Place::fast; }))
      fail(root, "no computation is 'fast', so all could be slow; say which one needs fast memory");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const YAML::Node& where, const std::string& problem) const {
    const int line = where.IsDefined() ? where.Mark().line + 1 : 0;
    throw std::invalid_argument(path_ + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                                problem);
  }

  YAML::Node load() const {
    try {
      return YAML::LoadFile(path_);
    } catch (const YAML::BadFile&) {
      throw std::invalid_argument(path_ + ": cannot be read; name a YAML file");
    } catch (const YAML::Exception& problem) {
      throw std::invalid_argument(path_ + ":" + std::to_string(problem.mark.line + 1) + ": " +
                                  problem.msg);
    }
  }

  void know(const YAML::Node& map, const std::vector<std::string_view>& keys) const {
    if (!map.IsMap()) fail(map, "want KEY: VALUE");
    for (const auto& member : map) {
      const std::string key = word(member.first), near = hmk::did_you_mean(key, keys);
      if (std::ranges::find(keys, key) == keys.end())
        fail(member.first, "unknown key '" + key + "'" + (near.empty() ? "" : "; " + near));
    }
  }

  YAML::Node members(const YAML::Node& root, const char* key) const {
    if (!root[key] || !root[key].IsMap() || root[key].size() == 0)
      fail(root, std::string("'") + key + "' wants NAME: VALUE, one at least");
    return root[key];
  }

  std::string word(const YAML::Node& node) const {
    if (!node.IsDefined() || !node.IsScalar()) fail(node, "want one word");
    return node.Scalar();
  }

  double amount(const YAML::Node& node, const std::string& what) const {
    const std::string text = word(node);
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value < 1e18))
      fail(node, "'" + text + "' cannot be " + what + "; want a number of 0 or more");
    return value;
  }

  Place place(const YAML::Node& node) const {
    const std::string text = word(node);
    if (text == "any") return Place::any;
    if (text == "fast") return Place::fast;
    if (text == "slow") return Place::slow;
    fail(node, "'" + text + "' is no place; want any, fast or slow");
  }

  void add(FlowGraph::Node node, const YAML::Node& where) {
    if (find(node.name) != graph_.nodes.size()) fail(where, "'" + node.name + "' is there twice");
    graph_.nodes.push_back(std::move(node));
  }

  std::size_t find(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(graph_.nodes, name, &FlowGraph::Node::name) -
                                    graph_.nodes.begin());
  }

  std::size_t end_of(const YAML::Node& edge, const char* key) const {
    if (!edge[key]) fail(edge, std::string("an edge wants '") + key + "'");
    const std::string name = word(edge[key]);
    const std::size_t node = find(name);
    if (node < graph_.nodes.size()) return node;
    std::vector<std::string_view> names;
    for (const FlowGraph::Node& known : graph_.nodes) names.push_back(known.name);
    const std::string near = hmk::did_you_mean(name, names);
    fail(edge[key], "nothing is called '" + name + "'" + (near.empty() ? "" : "; " + near));
  }

  void add_edge(const YAML::Node& edge) {
    know(edge, {"from", "to", "bytes"});
    if (!edge["bytes"]) fail(edge, "an edge wants 'bytes'");
    graph_.edges.push_back({.from = end_of(edge, "from"),
                            .to = end_of(edge, "to"),
                            .bytes = amount(edge["bytes"], "what an edge carries")});
  }

  std::string path_;
  FlowGraph graph_;
};

}  // namespace

FlowGraph read_flow_graph(const std::string& path) {
  return Reader(path).read();
}

}  // namespace hmkctl
