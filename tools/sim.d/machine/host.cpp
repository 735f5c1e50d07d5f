// SPDX-License-Identifier: MIT
#include "machine/host.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "decide.hpp"
#include "machine/watcher.hpp"

namespace hmk::sim {

namespace {

constexpr std::int32_t kPid = 4711;
constexpr double kMiB = 1 << 20;

std::string node_folder(std::size_t id) {
  return "sys/devices/system/node/node" + std::to_string(id) + "/";
}

/// SLIT values, as machine.py derives them: ten times the latency relative to the home's own.
std::string distances(const LabMachine& machine, std::size_t of) {
  std::string text;
  const auto home = static_cast<std::size_t>(machine.home());
  for (std::size_t to = 0; to < machine.nodes.size(); ++to) {
    const std::size_t far = of == home ? to : of;  // both ways alike; between others unasked
    const double ratio = machine.nodes[far].latency_ns / machine.nodes[home].latency_ns;
    const long value = of == to ? 10 : std::clamp(std::lround(10 * ratio), 11L, 254L);
    text += (text.empty() ? "" : " ") + std::to_string(value);
  }
  return text + "\n";
}

/// What does not change: HMAT as it is for the CPUs the process runs on.
void put_machine(const Folder& root, const LabMachine& machine) {
  const std::string last = std::to_string(machine.nodes.size() - 1);
  root.put("sys/devices/system/node/online",
           machine.nodes.size() == 1 ? "0\n" : "0-" + last + "\n");
  for (std::size_t id = 0; id < machine.nodes.size(); ++id) {
    const LabNode& node = machine.nodes[id];
    const std::string dir = node_folder(id), access = dir + "access1/initiators/";
    root.put(dir + "cpulist", static_cast<int>(id) == machine.home() ? "0\n" : "\n");
    root.put(dir + "distance", distances(machine, id));
    root.put(access + "read_latency", std::to_string(std::lround(node.latency_ns)) + "\n");
    root.put(access + "write_latency", std::to_string(std::lround(node.write_latency_ns)) + "\n");
    root.put(access + "read_bandwidth",
             std::to_string(std::lround(node.bandwidth_mbps * 1e6 / kMiB)) + "\n");
    root.put(access + "node" + std::to_string(machine.home()) + "/online", "");
  }
  root.put("proc/" + std::to_string(kPid) + "/comm", "program\n");
  root.put("proc/" + std::to_string(kPid) + "/status", "Mems_allowed_list:\t0-" + last + "\n");
}

/// Fields of proc(5): a program that has used its CPU since the beginning.
std::string stat_text(std::uint64_t cpu_ns) {
  std::string stat = std::to_string(kPid) + " (program) R";
  for (int field = 4; field <= 39; ++field)
    stat += " " + std::to_string(field == 14 ? cpu_ns / cpu_tick_ns() : field == 4 ? 1 : 0);
  return stat + "\n";
}

hmk_info module_info() {
  hmk_info info{};
  info.abi_version = HMK_ABI_VERSION;
  for (const unsigned feature : {HMK_FEAT_SCAN, HMK_FEAT_MOVE_OWN, HMK_FEAT_MOVE_BATCH,
                                 HMK_FEAT_MOVE_PAIRED, HMK_FEAT_LSM_CHECK})
    info.features |= 1ull << feature;
  return info;
}

}  // namespace

Folder::Folder() {
  const std::filesystem::path memory = "/dev/shm";
  std::string name =
      ((std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
       "hmk-sim-XXXXXX")
          .string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::put(const std::string& file, const std::string& text) const {
  const auto full = path_ / file;
  std::filesystem::create_directories(full.parent_path());
  std::ofstream out(full);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + full.string());
}

/// The simulated module as hmkd's Device.
class Host::Module final : public Device {
 public:
  explicit Module(Host& host) : host_(&host) {}

  int poll_fd() const override { return -1; }
  Result<std::vector<hmk_event>> read_events() override {
    std::vector<hmk_event> events(host_->events_.begin(), host_->events_.end());
    host_->events_.clear();
    return events;
  }
  Result<void> snapshot(Snapshot& into) override {
    into = host_->snapshot_;
    return {};
  }
  Result<hmk_stats> stats() override { return hmk_stats{}; }
  Result<std::vector<std::int32_t>> places(std::uint64_t start, std::uint64_t length) override {
    const Memory& memory = *host_->memory_;
    const std::uint64_t first = (start - Watcher::kStart) / Memory::kPage;
    std::vector<std::int32_t> places;
    for (std::uint64_t page = first; page < first + length / Memory::kPage; ++page)
      places.push_back(page < memory.pages() ? memory.node(page) : -ENOENT);
    return places;
  }
  Result<void> set(const hmk_params& params) override {
    if (params.mask & HMK_PARAM_BUDGET) host_->budget_percent_ = params.budget_bp / 100.0;
    return {};
  }
  Result<void> run(bool) override { return {}; }
  Result<void> move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                    const MoveHow& how) override {
    if (!(how.flags & HMK_MOVE_DRY_RUN))
      host_->tickets_->take(cookie, ranges, how.flags, host_->now_);
    return {};
  }
  Result<void> cancel(std::uint64_t cookie) override {
    host_->tickets_->cancel(cookie, host_->now_);
    return {};
  }
  Result<std::vector<hmk_range_result>> result(std::uint64_t cookie, std::size_t) override {
    auto told = host_->tickets_->result(cookie);
    if (!told) return Error{"no such ticket", "", ENOENT};
    return *std::move(told);
  }

 private:
  Host* host_;
};

Host::Host(const LabMachine& machine, const Memory& memory, Tickets& tickets, Config config)
    : machine_(&machine),
      memory_(&memory),
      tickets_(&tickets),
      budget_percent_(config.overhead_bp / 100.0),
      pace_([this] { return Pace::Clock::time_point(std::chrono::nanoseconds(now_)); }) {
  spdlog::set_level(spdlog::level::off);
  put_machine(root_, machine);
  show(0);
  pace_.limit(config.bandwidth);
  Result<ProcessInfo> process = read_process(root_.path(), kPid);
  if (!process) throw std::runtime_error(process.error().line());
  target_ = std::make_unique<Target>(kPid, *std::move(process),
                                     Session{std::make_unique<Module>(*this), module_info()},
                                     std::make_shared<const Config>(std::move(config)));
  target_->look_around(around());
}

/// What hmkd reads at an interval. The program and the module's clock began together.
void Host::show(std::uint64_t now) {
  for (std::size_t id = 0; id < machine_->nodes.size(); ++id) {
    const int node = static_cast<int>(id);
    std::ostringstream text;
    text << "Node " << id << " MemTotal: " << machine_->nodes[id].bytes / 1024 << " kB\n"
         << "Node " << id << " MemFree: " << memory_->free(node) / 1024 << " kB\n";
    root_.put(node_folder(id) + "meminfo", text.str());
  }
  const std::string process = "proc/" + std::to_string(kPid) + "/";
  root_.put(process + "stat", stat_text(now));
  root_.put(process + "task/" + std::to_string(kPid) + "/stat", stat_text(now));
  machine_now_ = read_machine(root_.path());
}

void Host::tell(std::uint32_t kind, std::uint64_t value, std::uint64_t now) {
  now_ = now;
  if (kind == HMK_EVENT_INTERVAL) show(now);
  events_.push_back({sizeof(hmk_event), kind, value, now});
  if (target_->handle_events(around()) != Target::State::alive)
    throw std::runtime_error("hmkd has let go of the simulated program");
  if (is_due({target_.get()})) decide({target_.get()}, around());
}

void Host::wake(std::uint64_t now) {
  now_ = now;
  target_->retry_moves();
}

std::optional<std::uint64_t> Host::wakes_at() const {
  const auto until = target_->held_until();
  if (!until) return std::nullopt;
  return static_cast<std::uint64_t>(until->time_since_epoch().count());
}

}  // namespace hmk::sim
