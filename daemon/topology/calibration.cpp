// SPDX-License-Identifier: MIT
#include "topology/calibration.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "util/file.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

constexpr std::size_t kMostThreads = 16;
constexpr std::uint64_t kMostNode = 63, kMostBandwidth = 1ull << 44;
constexpr const char* kAnew = "measure anew with 'hmkctl calibrate'";

/// Any complaint within the file; ends the reading.
struct Wrong : std::runtime_error {
  Wrong(const YAML::Node& where, const std::string& why)
      : std::runtime_error(std::to_string(where.Mark().line + 1) + ": " + why) {}
};

std::string text_of(const YAML::Node& parent, const char* key) {
  const YAML::Node node = parent[key];
  if (!node || !node.IsScalar()) throw Wrong(parent, std::string(key) + " is missing");
  return node.Scalar();
}

template <class T>
T checked(const YAML::Node& where, const char* key, const Result<T>& value, T most) {
  if (!value) throw Wrong(where, std::string(key) + ": " + value.error().line());
  if (*value > most) throw Wrong(where, std::string(key) + " is out of range");
  return *value;
}

int node_of(const YAML::Node& parent, const char* key) {
  return static_cast<int>(
      checked<std::uint64_t>(parent, key, parse_count(text_of(parent, key)), kMostNode));
}

double duration_of(const YAML::Node& parent, const char* key) {
  const auto time = checked<Nanoseconds>(parent, key, parse_duration(text_of(parent, key)),
                                         std::chrono::seconds(1));
  return static_cast<double>(time.count());
}

BandwidthByThreads curve_of(const YAML::Node& parent, const char* key) {
  const YAML::Node list = parent[key];
  if (!list || !list.IsSequence() || list.size() == 0 || list.size() > kMostThreads)
    throw Wrong(parent, std::string(key) + " is no list of bandwidths by 1 to 16 threads");
  BandwidthByThreads curve;
  for (const YAML::Node& word : list) {
    std::string text = word.IsScalar() ? word.Scalar() : "";
    if (!text.ends_with("/s")) throw Wrong(list, std::string(key) + " wants bandwidths as 12GB/s");
    text.resize(text.size() - 2);
    const auto rate = checked<std::uint64_t>(list, key, parse_size(text), kMostBandwidth);
    if (rate == 0) throw Wrong(list, std::string(key) + " has a bandwidth of 0");
    curve.push_back(static_cast<double>(rate));
  }
  return curve;
}

Calibration::NodeShape node_from(const YAML::Node& node) {
  return {.id = node_of(node, "id"),
          .cpus = node["cpus"] ? parse_id_list(text_of(node, "cpus")) : std::set<int>{},
          .bytes = checked<std::uint64_t>(node, "memory", parse_size(text_of(node, "memory")),
                                          1ull << 50)};
}

Calibration::Access access_from(const YAML::Node& node) {
  return {.from = node_of(node, "from"),
          .to = node_of(node, "to"),
          .latency_ns = static_cast<std::uint32_t>(duration_of(node, "latency")),
          .write_latency_ns =
              node["write"] ? static_cast<std::uint32_t>(duration_of(node, "write")) : 0,
          .bandwidth = curve_of(node, "bandwidth")};
}

Calibration::Move move_from(const YAML::Node& node) {
  return {.from = node_of(node, "from"),
          .to = node_of(node, "to"),
          .copy = curve_of(node, "copy"),
          .page_ns = node["page"] ? duration_of(node, "page") : 0,
          .huge_ns = node["huge"] ? duration_of(node, "huge") : 0};
}

template <class Member, class Read>
void read_list(const YAML::Node& root, const char* key, std::vector<Member>& into, Read read) {
  const YAML::Node list = root[key];
  if (!list || !list.IsSequence()) throw Wrong(root, std::string(key) + " is missing");
  for (const YAML::Node& one : list) {
    if (!one.IsMap()) throw Wrong(list, std::string(key) + " wants entries as {from: 0, to: 1}");
    into.push_back(read(one));
  }
}

std::string list_text(const std::set<int>& ids) {
  std::string text;
  for (auto id = ids.begin(); id != ids.end();) {
    auto last = id;
    while (std::next(last) != ids.end() && *std::next(last) == *last + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(*id) +
            (last == id ? "" : "-" + std::to_string(*last));
    id = std::next(last);
  }
  return text;
}

std::string curve_text(const BandwidthByThreads& curve) {
  std::string text = "[";
  for (const double rate : curve)
    text += (text.size() == 1 ? "" : ", ") + std::to_string(std::llround(rate / 1e6)) + "MB/s";
  return text + "]";
}

std::string ns_text(double ns) {
  return std::to_string(std::llround(ns)) + "ns";
}

}  // namespace

const Calibration::Access* Calibration::find_access(int from, int to) const {
  const auto found = std::ranges::find_if(
      access, [=](const Access& one) { return one.from == from && one.to == to; });
  return found == access.end() ? nullptr : &*found;
}

const Calibration::Move* Calibration::find_move(int from, int to) const {
  const auto found = std::ranges::find_if(
      moves, [=](const Move& one) { return one.from == from && one.to == to; });
  return found == moves.end() ? nullptr : &*found;
}

Result<Calibration> read_calibration(const std::filesystem::path& file) {
  const auto text = read_text(file);
  if (!text) return Error{file.string() + " cannot be read", kAnew, ENOENT};
  Calibration read;
  try {
    const YAML::Node root = YAML::Load(*text);
    if (!root.IsMap()) throw Wrong(root, "it is no file of hmkctl calibrate");
    read.cpu = text_of(root, "cpu");
    read_list(root, "nodes", read.nodes, node_from);
    read_list(root, "access", read.access, access_from);
    read_list(root, "moves", read.moves, move_from);
  } catch (const Wrong& wrong) {
    return Error{file.string() + ":" + wrong.what(), kAnew, EINVAL};
  } catch (const YAML::Exception& e) {
    return Error{file.string() + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg, kAnew,
                 EINVAL};
  }
  return read;
}

std::string to_yaml(const Calibration& measured) {
  YAML::Emitter cpu;
  cpu << measured.cpu;
  std::string text = "# Measured by hmkctl calibrate. Bandwidths are by 1, 2, ... threads.\ncpu: " +
                     std::string(cpu.c_str()) + "\nnodes:\n";
  for (const auto& node : measured.nodes)
    text += "  - {id: " + std::to_string(node.id) +
            (node.cpus.empty() ? "" : ", cpus: \"" + list_text(node.cpus) + "\"") +
            ", memory: " + format_size(node.bytes) + "}\n";
  text += measured.access.empty() ? "access: []\n" : "access:\n";
  for (const auto& one : measured.access)
    text += "  - {from: " + std::to_string(one.from) + ", to: " + std::to_string(one.to) +
            ", latency: " + ns_text(one.latency_ns) +
            (one.write_latency_ns > 0 ? ", write: " + ns_text(one.write_latency_ns) : "") +
            ", bandwidth: " + curve_text(one.bandwidth) + "}\n";
  text += measured.moves.empty() ? "moves: []\n" : "moves:\n";
  for (const auto& one : measured.moves)
    text += "  - {from: " + std::to_string(one.from) + ", to: " + std::to_string(one.to) +
            ", copy: " + curve_text(one.copy) +
            (one.page_ns > 0 ? ", page: " + ns_text(one.page_ns) : "") +
            (one.huge_ns > 0 ? ", huge: " + ns_text(one.huge_ns) : "") + "}\n";
  return text;
}

std::string cpu_model(const std::filesystem::path& root) {
  const std::string text = read_text(root / "proc/cpuinfo").value_or("");
  const std::size_t at = text.find("model name");
  if (at == text.npos) return "";
  const std::size_t colon = text.find(": ", at);
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

Calibration shape_of(const Machine& machine, std::string cpu) {
  Calibration shape;
  shape.cpu = std::move(cpu);
  for (const auto& [id, node] : machine.nodes)
    shape.nodes.push_back({id, node.cpus, node.total_bytes});
  return shape;
}

Result<void> check_same_machine(const Calibration& measured, const Calibration& here) {
  const auto other = [](const std::string& how) {
    return Error{"the calibration is of another machine: " + how, kAnew, ESTALE};
  };
  if (measured.cpu != here.cpu)
    return other("its CPU is '" + measured.cpu + "', here '" + here.cpu + "'");
  if (measured.nodes.size() != here.nodes.size())
    return other("it has " + std::to_string(measured.nodes.size()) + " nodes, here are " +
                 std::to_string(here.nodes.size()));
  for (std::size_t i = 0; i < here.nodes.size(); ++i) {
    const auto &there = measured.nodes[i], &node = here.nodes[i];
    const auto [less, more] = std::minmax(there.bytes, node.bytes);
    if (there.id != node.id || there.cpus != node.cpus || more - less > more / 20)
      return other("node " + std::to_string(node.id) + " has other CPUs or memory");
  }
  return {};
}

void apply(const Calibration& measured, Machine& machine) {
  for (const Calibration::Access& one : measured.access) {
    const auto node = machine.nodes.find(one.to);
    if (node == machine.nodes.end()) continue;
    const double most = std::ranges::max(one.bandwidth) / (1 << 20);
    node->second.seen_from[one.from] = {.initiators = {one.from},
                                        .latency_ns = one.latency_ns,
                                        .write_latency_ns = one.write_latency_ns,
                                        .bandwidth_mib = static_cast<std::uint32_t>(most)};
  }
  for (const Calibration::Move& one : measured.moves)
    machine.moves[{one.from, one.to}] = {one.copy, one.page_ns, one.huge_ns};
}

}  // namespace hmk
