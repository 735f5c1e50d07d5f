// SPDX-License-Identifier: MIT
//
// The findings that files of /proc, /sys and /boot answer.
#include <algorithm>
#include <sstream>

#include "doctor.hpp"
#include "load_event.hpp"
#include "table.hpp"
#include "topology/tiers.hpp"
#include "util/file.hpp"

namespace hmkctl {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

/// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  return open < close && close != line.npos ? line.substr(open + 1, close - open - 1) : line;
}

void check_config(const fs::path& root, const std::string& release, Findings& out) {
  const auto config = hmk::read_text(root / "boot" / ("config-" + release));
  if (!config) return out.push_back({State::note, "kernel configuration", "not found in /boot"});
  std::string missing;
  for (const char* const option : {"MODULES", "NUMA", "MIGRATION", "KPROBES", "KALLSYMS"})
    if (("\n" + *config).find("\nCONFIG_" + std::string(option) + "=y") == std::string::npos)
      missing += (missing.empty() ? "CONFIG_" : " CONFIG_") + std::string(option);
  if (missing.empty())
    return out.push_back({State::ok, "kernel configuration", "has all that hmk needs"});
  out.push_back(
      {State::warn, "kernel configuration", "lacks " + missing, "run a kernel that has it"});
}

void check_huge_pages(const fs::path& root, Findings& out) {
  const std::string mode =
      chosen(hmk::first_line(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  if (mode.empty()) return out.push_back({State::note, "huge pages", "not in this kernel"});
  out.push_back({mode == "never" ? State::note : State::ok, "huge pages", mode,
                 mode == "never" ? "profiling costs more on small pages; consider 'madvise'" : ""});
}

/// A file that holds `calm` when nothing of this kind runs.
struct Rival {
  const char *check, *file, *calm, *off;
  State state;
  const char *found, *remedy;
};
constexpr Rival kRivals[]{
    {"NUMA balancing", "proc/sys/kernel/numa_balancing", "0", "off", State::warn,
     "on: it moves the same pages, at the cost of a fault each", "sysctl kernel.numa_balancing=0"},
    {"kernel demotion", "sys/kernel/mm/numa/demotion_enabled", "false", "off", State::note,
     "on: under memory pressure the kernel demotes by itself", ""},
    {"DAMON reclaim", "sys/module/damon_reclaim/parameters/enabled", "N", "off", State::warn,
     "on: it pages cold memory out", "echo N >/sys/module/damon_reclaim/parameters/enabled"},
    {"DAMON LRU sort", "sys/module/damon_lru_sort/parameters/enabled", "N", "off", State::warn,
     "on: it clears the accessed bits that hmk reads",
     "echo N >/sys/module/damon_lru_sort/parameters/enabled"},
    {"zswap", "sys/module/zswap/parameters/enabled", "N", "off", State::note,
     "on: pages it has compressed have no tier", ""},
    {"KSM", "sys/kernel/mm/ksm/run", "0", "off", State::note,
     "on: merged pages are shared and stay where they are", ""},
    {"zone reclaim", "proc/sys/vm/zone_reclaim_mode", "0", "off", State::note,
     "on: a full node reclaims before it spills into the next", ""},
};

/// DAMON's sysfs may hold contexts that do nothing; only a running one matters.
void check_damon(const fs::path& root, Findings& out) {
  const fs::path all = root / "sys/kernel/mm/damon/admin/kdamonds";
  std::error_code ignored;
  int running = 0;
  for (const auto& entry : fs::directory_iterator(all, ignored))
    if (hmk::first_line(entry.path() / "state") == "on") ++running;
  if (running == 0) return out.push_back({State::ok, "DAMON", "no kdamond runs"});
  out.push_back(
      {State::warn, "DAMON",
       std::to_string(running) + " kdamond runs: it clears the accessed bits that hmk reads",
       "echo off >/sys/kernel/mm/damon/admin/kdamonds/0/state"});
}

std::string nodes_text(const std::vector<int>& nodes) {
  std::string text;
  for (const int node : nodes) text += (text.empty() ? "" : ", ") + std::to_string(node);
  return (nodes.size() == 1 ? "node " : "nodes ") + text;
}

std::string latency_text(const hmk::Tier& tier) {
  std::string text = tier.latency_ns == 0 ? "" : std::to_string(tier.latency_ns) + " ns, ";
  if (tier.bandwidth_mib != 0) text += std::to_string(tier.bandwidth_mib) + " MiB/s, ";
  return text;
}

}  // namespace

void check_kernel(const fs::path& root, Findings& out) {
  const std::string release = hmk::first_line(root / "proc/sys/kernel/osrelease");
  const bool is_tested = release.starts_with("6.1.") || release.starts_with("6.12");
  out.push_back({is_tested ? State::ok : State::note, "kernel", release,
                 is_tested ? "" : "hmk is tested on 6.1 and 6.12"});
  check_config(root, release, out);
  const std::string lockdown = chosen(hmk::first_line(root / "sys/kernel/security/lockdown"));
  if (!lockdown.empty() && lockdown != "none")
    out.push_back({State::note, "lockdown", lockdown, "only a signed hmk.ko loads"});
  const bool has_btf = fs::exists(root / "sys/kernel/btf/vmlinux");
  out.push_back({has_btf ? State::ok : State::note, "BPF",
                 has_btf ? "type information is there" : "no type information (BTF)"});
  check_huge_pages(root, out);
}

void check_rivals(const fs::path& root, Findings& out) {
  for (const Rival& rival : kRivals) {
    const std::string now = hmk::first_line(root / rival.file);
    if (now.empty() || now == rival.calm) {
      out.push_back({State::ok, rival.check, now.empty() ? "not in this kernel" : rival.off});
    } else {
      out.push_back({rival.state, rival.check, rival.found, rival.remedy});
    }
  }
  check_damon(root, out);
}

void check_balanced(const nlohmann::json& stats, Findings& out) {
  for (const nlohmann::json& target : stats.value("targets", nlohmann::json::array())) {
    const nlohmann::json seen = target.value("numa_balancing", nlohmann::json());
    if (!seen.is_object() || !seen.value("on", false)) continue;
    const auto moved = seen.value("moved_bytes", std::uint64_t{0});
    const auto scans = seen.value("scans", std::uint64_t{0});
    const std::string comm = target.value("comm", "?");
    const State state = moved > 0 ? State::warn : scans > 0 ? State::note : State::ok;
    out.push_back(
        {state, "process " + std::to_string(target.value("pid", 0)),
         state == State::ok ? comm + ": NUMA balancing leaves it alone"
                            : comm + ": NUMA balancing moved " + to_text(moved, Unit::bytes) +
                                  ", marked it " + std::to_string(scans) + " times",
         state == State::ok ? ""
                            : "turn it off, or start the program under 'numactl --localalloc'"});
  }
}

void check_tiers(const fs::path& root, Findings& out) {
  const hmk::Machine machine = hmk::read_machine(root);
  const std::vector<hmk::Tier> tiers = hmk::order_tiers(machine, {});
  const bool is_hmat = hmk::tier_source(machine, {}) == "hmat";
  if (tiers.size() < 2)
    return out.push_back({State::warn, "tiers", "one node with memory: there is nothing to tier",
                          "online the memory of the second tier (daxctl, ndctl), or make swap one: "
                          "page_out in hmkd.yaml"});
  out.push_back(
      {is_hmat ? State::ok : State::note, "tiers",
       std::to_string(tiers.size()) + ", ordered by " +
           (is_hmat ? "latency (HMAT)" : "distance (SLIT), without latencies"),
       is_hmat ? "" : "check the order; name it with 'tiers' in hmkd.yaml if it is wrong"});
  for (std::size_t t = 0; t < tiers.size(); ++t)
    out.push_back({State::ok, "tier " + std::to_string(t + 1),
                   nodes_text(tiers[t].nodes) + ", " + latency_text(tiers[t]) +
                       to_text(tiers[t].total_bytes, Unit::bytes)});
}

void check_samples(const fs::path& root, Findings& out) {
  const auto event = find_load_event(root);
  out.push_back({event ? State::ok : State::note, "load samples",
                 event ? event->name + ": 'hmkctl measure' counts what each tier serves"
                       : "none by these CPUs: what a tier serves is an estimate"});
}

void check_rights(const fs::path& root, Findings& out) {
  std::istringstream lines(hmk::read_text(root / "proc/self/status").value_or(""));
  std::uint64_t capabilities = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("CapEff:")) capabilities = std::stoull(line.substr(7), nullptr, 16);
  constexpr std::uint64_t kPtrace = 1ull << 19, kNice = 1ull << 23;
  const bool may_all = (capabilities & kPtrace) != 0 && (capabilities & kNice) != 0;
  out.push_back({may_all ? State::ok : State::note, "this user",
                 may_all ? "may manage every process" : "may manage processes of its own only",
                 may_all ? "" : "run hmkd as a service: systemctl start hmkd"});
  if (hmk::first_line(root / "proc/sys/kernel/yama/ptrace_scope") == "3")
    out.push_back({State::warn, "ptrace",
                   "kernel.yama.ptrace_scope is 3: no process may be attached",
                   "it can be lowered by a reboot only"});
}

}  // namespace hmkctl
