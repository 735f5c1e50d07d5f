// SPDX-License-Identifier: MIT
#include "topology/machine.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

template <class T>
std::optional<T> number_in(const std::string& text, std::size_t from = 0) {
  from = text.find_first_not_of(" \t\n", from);
  if (from == text.npos) return std::nullopt;
  T value{};
  const auto [end, failed] = std::from_chars(text.data() + from, text.data() + text.size(), value);
  if (failed != std::errc{}) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> number_file(const fs::path& path) {
  const auto text = read_text(path);
  return text ? number_in<T>(*text) : std::nullopt;
}

std::set<int> id_list_file(const fs::path& path) {
  return parse_id_list(read_text(path).value_or(""));
}

}  // namespace

std::uint64_t meminfo_bytes(const std::string& text, const std::string& field) {
  const std::size_t at = text.find(field + ":");
  if (at == text.npos) return 0;
  return number_in<std::uint64_t>(text, at + field.size() + 1).value_or(0) * 1024;
}

Swap read_swap(const fs::path& root) {
  const std::string text = read_text(root / "proc/meminfo").value_or("");
  return {meminfo_bytes(text, "SwapTotal"), meminfo_bytes(text, "SwapFree")};
}

namespace {

void take_meminfo(Node& node, const fs::path& node_dir) {
  const std::string text = read_text(node_dir / "meminfo").value_or("");
  node.total_bytes = meminfo_bytes(text, "MemTotal");
  node.free_bytes = meminfo_bytes(text, "MemFree");
  const std::uint64_t dirty = meminfo_bytes(text, "Dirty") + meminfo_bytes(text, "Writeback");
  const std::uint64_t cache = meminfo_bytes(text, "Inactive(file)");
  node.cache_bytes = cache - std::min(cache, dirty + Node::kCacheLeft);
}

/// Class 1 counts CPUs only, class 0 also devices that start accesses; we place
/// memory for CPUs, so class 1 is asked first.
std::optional<Access> read_access(const fs::path& node_dir) {
  for (const char* const name : {"access1", "access0"}) {
    const fs::path dir = node_dir / name / "initiators";
    const auto latency = number_file<std::uint32_t>(dir / "read_latency");
    if (!latency || *latency == 0) continue;
    const auto number = [&](const char* file) {
      return number_file<std::uint32_t>(dir / file).value_or(0);
    };
    Access access{{}, *latency, number("write_latency"), number("read_bandwidth")};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(dir, ignored)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with("node")) continue;
      if (const auto id = number_in<int>(file, 4)) access.initiators.insert(*id);
    }
    return access;
  }
  return std::nullopt;
}

/// What the kernel keeps of a zone from movable pages, in pages.
class Zone {
 public:
  /// One of its lines in zoneinfo: "  pages free     4096", "        protection: (0, 7, 7)".
  void take(const std::string& line) {
    const auto number = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const std::size_t word = line.find_first_not_of(' ');
      if (word == line.npos || line.compare(word, key.size(), key) != 0) return std::nullopt;
      return number_in<std::uint64_t>(line, word + key.size());
    };
    if (const auto pages = number("pages free ")) free_ = *pages;
    if (const auto pages = number("low ")) low_ = *pages;
    if (const auto pages = number("high ")) high_ = *pages;
    if (number("managed ") == 0) low_ = high_ = 0;  // a zone without memory has watermarks, too
    if (line.find("protection: (") != line.npos)
      protection_ = number_in<std::uint64_t>(line, line.find_last_of("( ") + 1).value_or(0);
  }
  std::uint64_t kept_low() const { return above(low_); }
  std::uint64_t kept_high() const { return above(high_); }

 private:
  /// And what is free above it, as far as it is kept for others.
  std::uint64_t above(std::uint64_t mark) const {
    return mark + std::min(protection_, free_ - std::min(free_, mark));
  }

  std::uint64_t free_ = 0, low_ = 0, high_ = 0, protection_ = 0;
};

}  // namespace

/// "Node 1, zone   Normal" heads the lines of a zone.
void renew_watermarks(Machine& machine, const fs::path& root) {
  for (auto& [id, node] : machine.nodes) node.watermark_bytes = node.low_bytes = 0;
  std::istringstream lines(read_text(root / "proc/zoneinfo").value_or(""));
  auto node = machine.nodes.end();
  Zone zone;
  const auto end_zone = [&] {
    if (node != machine.nodes.end()) {
      node->second.watermark_bytes += zone.kept_high() * 4096;
      node->second.low_bytes += zone.kept_low() * 4096;
    }
    zone = {};
  };
  for (std::string line; std::getline(lines, line); zone.take(line))
    if (line.starts_with("Node ")) {
      end_zone();
      node = machine.nodes.find(number_in<int>(line, 5).value_or(-1));
    }
  end_zone();
}

std::set<int> parse_id_list(const std::string& text) {
  std::set<int> ids;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto first = number_in<int>(part);
    if (!first || *first < 0) continue;
    const std::size_t dash = part.find('-');
    const auto last = dash == part.npos ? first : number_in<int>(part, dash + 1);
    // A machine has at most some thousand CPUs: a wild range is a broken file.
    if (!last || *last < *first || *last - *first > 65536) continue;
    for (int id = *first; id <= *last; ++id) ids.insert(id);
  }
  return ids;
}

int Machine::node_of_cpu(int cpu) const {
  for (const auto& [id, node] : nodes)
    if (node.cpus.contains(cpu)) return id;
  return -1;
}

Machine read_machine(const fs::path& root) {
  Machine machine;
  const fs::path all = root / "sys/devices/system/node";
  const std::set<int> ids = id_list_file(all / "online");
  for (const int id : ids) {
    const fs::path dir = all / ("node" + std::to_string(id));
    Node node;
    node.id = id;
    node.cpus = id_list_file(dir / "cpulist");
    node.access = read_access(dir);
    take_meminfo(node, dir);
    // The distance file lists the online nodes in order, without their numbers.
    std::istringstream distances(read_text(dir / "distance").value_or(""));
    for (const int to : ids)
      if (int value = 0; distances >> value) node.distance[to] = value;
    machine.nodes.emplace(id, std::move(node));
  }
  renew_watermarks(machine, root);
  return machine;
}

bool renew_free(Machine& machine, const fs::path& root) {
  const fs::path all = root / "sys/devices/system/node";
  if (!std::ranges::equal(id_list_file(all / "online"), machine.nodes, {}, {},
                          &decltype(machine.nodes)::value_type::first))
    return false;
  for (auto& [id, node] : machine.nodes) {
    const std::uint64_t total_before = node.total_bytes;
    take_meminfo(node, all / ("node" + std::to_string(id)));
    if (node.total_bytes != total_before) return false;
  }
  return true;
}

}  // namespace hmk
