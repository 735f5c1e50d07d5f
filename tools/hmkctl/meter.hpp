// SPDX-License-Identifier: MIT
//
// A figure of a program, read again and again: what a command prints, or what the CPU counts of it.
//
//   CommandMeter meter("redis-cli info stats | sed -n 's/^total_commands_processed://p'",
//   {.is_total = true}); const auto before = meter.read(), after = meter.read();
//   figure_between(*before, *after)     per second
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "util/fd.hpp"
#include "util/result.hpp"

namespace hmkctl {

struct Reading {
  double value = 0;
  double seconds = 0;  ///< of the clock it is counted over
};

class Meter {
 public:
  Meter() = default;
  virtual ~Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  virtual hmk::Result<Reading> read() = 0;
  /// It only ever grows, and what counts is by how much per second.
  virtual bool is_total() const = 0;
  /// What it is, for people.
  virtual std::string name() const = 0;
};

/// The one number that a command, run by the shell, prints.
class CommandMeter final : public Meter {
 public:
  struct Options {
    bool is_total = false;
    std::chrono::milliseconds limit{10'000};  ///< then it is killed, and all that it has started
  };
  CommandMeter(std::string command, Options options)
      : command_(std::move(command)), options_(options) {}

  hmk::Result<Reading> read() override;
  bool is_total() const override { return options_.is_total; }
  std::string name() const override { return "'" + command_ + "'"; }

 private:
  hmk::Error problem(const std::string& what) const;

  std::string command_;
  Options options_;
};

/// Instructions of user space that all threads of a process complete, per second of their CPU time.
class InstructionMeter final : public Meter {
 public:
  explicit InstructionMeter(int pid) : pid_(pid) {}

  hmk::Result<Reading> read() override;
  bool is_total() const override { return true; }
  std::string name() const override { return "instructions per second of its CPU time"; }

 private:
  hmk::Result<void> open();

  int pid_;
  std::vector<hmk::Fd> counters_;  ///< of the threads there were, and of all they start
};

/// What the figure was between two readings of a total; an error where it fell or stood still.
hmk::Result<double> figure_between(const Meter& meter, const Reading& before, const Reading& after);

}  // namespace hmkctl
