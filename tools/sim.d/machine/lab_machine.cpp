// SPDX-License-Identifier: MIT
#include "machine/lab_machine.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "machine/document.hpp"
#include "util/units.hpp"

namespace hmk::sim {

namespace {

constexpr double kLineBytes = 64, kAhead = 20;  // prices.py: LINE_BYTES, AHEAD
constexpr double kFolioNs = 521.5, kEntryNs = 257.4, kCopyMbps = 10924;
constexpr std::size_t kMostNodes = 16;  // machine.py: MOST_NODES

double bandwidth_mbps(const Document& doc) {
  const std::string text = doc.text();
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, text.data() + text.size());
  if (failed != std::errc{} || value <= 0 || (unit != "GB/s" && unit != "MB/s"))
    doc.fail("want a bandwidth as 95GB/s or 500MB/s");
  return unit == "GB/s" ? value * 1000 : value;
}

double latency_ns(const Document& doc) {
  const auto value = parse_duration(doc.text());
  if (!value || value->count() < 1 || value->count() > 65534)
    doc.fail("want a latency of 1ns .. 65534ns");
  return static_cast<double>(value->count());
}

Bytes memory_bytes(const Document& doc) {
  const auto value = parse_size(doc.text());
  if (!value || *value == 0 || *value % (2 << 20) != 0 || *value > 1ull << 40)
    doc.fail("want a multiple of 2MiB, at most 1TiB");
  return *value;
}

/// The id of the node that owns CPU 0.
int home_of(const Document& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto cpus = nodes.at(i).find("cpus");
    for (std::size_t k = 0; cpus && k < cpus->size(); ++k)
      if (cpus->at(k).text() == "0") return static_cast<int>(i);
  }
  nodes.fail("no node has CPU 0");
}

LabNode read_node(const Document& doc, int id, int home) {
  doc.allow({"id", "name", "memory", "cpus", "initiator", "access", "load"});
  if (doc.get("id").text() != std::to_string(id))
    doc.get("id").fail("want the nodes in order, ids from 0");
  const Document access = doc.get("access").get(std::to_string(home));
  access.allow({"latency", "bandwidth", "write-latency"});
  LabNode node{.bytes = memory_bytes(doc.get("memory")),
               .has_cpus = doc.find("cpus").has_value(),
               .latency_ns = latency_ns(access.get("latency")),
               .bandwidth_mbps = bandwidth_mbps(access.get("bandwidth"))};
  const auto write = access.find("write-latency");
  node.write_latency_ns = write ? latency_ns(*write) : node.latency_ns;
  return node;
}

}  // namespace

int LabMachine::home() const {
  return tiers.front();
}

double LabMachine::lines_ns(int node, const Lines& lines) const {
  const LabNode& n = nodes[static_cast<std::size_t>(node)];
  const double line_ns = kLineBytes * 1e3 / n.bandwidth_mbps;
  return (lines.misses - lines.streamed) * n.latency_ns / mlp +
         lines.streamed * std::max(line_ns, n.latency_ns / kAhead) +
         lines.written * std::max(line_ns, n.write_latency_ns / kAhead);
}

double LabMachine::move_ns(int from, int to, Bytes page) const {
  const double link = std::min(nodes[static_cast<std::size_t>(from)].bandwidth_mbps,
                               nodes[static_cast<std::size_t>(to)].bandwidth_mbps);
  return kFolioNs + kEntryNs + static_cast<double>(page) * 1e3 / std::min(kCopyMbps, link);
}

LabMachine read_lab_machine(const std::string& path) {
  const Document root = Document::load(path);
  root.allow({"name", "nodes", "distances", "mlp", "tlb"});
  const Document nodes = root.get("nodes");
  if (nodes.size() == 0 || nodes.size() > kMostNodes) nodes.fail("want 1 to 16 nodes");
  LabMachine machine{.name = root.get("name").text()};
  if (const auto mlp = root.find("mlp")) machine.mlp = mlp->number(1, 64);
  const int home = home_of(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    machine.nodes.push_back(read_node(nodes.at(i), static_cast<int>(i), home));
  machine.tiers.resize(nodes.size());
  std::iota(machine.tiers.begin(), machine.tiers.end(), 0);
  std::ranges::sort(machine.tiers, {}, [&](int id) {
    const LabNode& n = machine.nodes[static_cast<std::size_t>(id)];
    return std::tuple(n.latency_ns, -n.bandwidth_mbps, id);
  });
  if (machine.tiers.front() != home) nodes.fail("the node with CPU 0 is not the fastest for it");
  return machine;
}

}  // namespace hmk::sim
