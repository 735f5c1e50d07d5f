// SPDX-License-Identifier: MIT
//
// How long the threads of managed processes are kept waiting for pages that are
// being moved, by whomever: a program in the kernel counts (waits.bpf.c). Needs
// CAP_BPF and CAP_PERFMON; without them hmkd runs without these figures.
//
//   Result<std::unique_ptr<Waits>> waits = Waits::open();
//   if (waits) (*waits)->watch(pid);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "bpf/waits.h"
#include "util/result.hpp"

namespace hmk {

class Waits {
 public:
  /// Loads the program and attaches it; it counts nothing yet.
  static Result<std::unique_ptr<Waits>> open();
  virtual ~Waits() = default;

  /// Counts from now on, from zero. A process beyond the 1024th is not counted.
  virtual Result<void> watch(std::int32_t pid) = 0;
  virtual void forget(std::int32_t pid) = 0;
  /// Nothing for a process that is not watched.
  virtual std::optional<hmk_waits> read(std::int32_t pid) const = 0;
};

}  // namespace hmk
