// SPDX-License-Identifier: MIT
//
// hmkd on the simulated machine: the shipped Target, decide() and Mover over a Device that is the
// simulated module, and a folder that stands for "/". Nothing of what hmkd decides is repeated
// here; the calls are those of App::on_readable() and App::keep_pace().
//
//   Host host(machine, memory, config, module);
//   host.tell({HMK_EVENT_INTERVAL, seq}, now);
//   host.wakes_at();                            when the pace lets it go on
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

#include "config/config.hpp"
#include "machine/lab_machine.hpp"
#include "machine/memory.hpp"
#include "machine/tickets.hpp"
#include "target.hpp"

namespace hmk::sim {

/// A temporary folder, gone with its owner.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void put(const std::string& file, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

class Host {
 public:
  /// All but `config` must outlive it.
  Host(const LabMachine& machine, const Memory& memory, Tickets& tickets, Config config);

  /// The newest interval, told at the next event of that kind.
  void publish(Snapshot snapshot) { snapshot_ = std::move(snapshot); }
  /// Something has happened in the module.
  void tell(std::uint32_t kind, std::uint64_t value, std::uint64_t now);
  /// Time has come to a wakes_at().
  void wake(std::uint64_t now);
  std::optional<std::uint64_t> wakes_at() const;

  const Target& target() const { return *target_; }
  /// What hmkd has set, in percent of an interval.
  double budget_percent() const { return budget_percent_; }

 private:
  class Module;
  void show(std::uint64_t now);
  Surroundings around() { return {machine_now_, root_.path(), pace_}; }

  const LabMachine* machine_;
  const Memory* memory_;
  Tickets* tickets_;
  double budget_percent_;
  std::uint64_t now_ = 0;
  std::deque<hmk_event> events_;
  Snapshot snapshot_;
  Folder root_;
  Machine machine_now_;
  Pace pace_;
  std::unique_ptr<Target> target_;
};

}  // namespace hmk::sim
