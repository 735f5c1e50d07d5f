// SPDX-License-Identifier: MIT
//
// Who has begun, ended, or become somebody else by exec, by name or by control
// group, as a program in the kernel tells it (newcomers.bpf.c). Needs CAP_BPF and
// CAP_PERFMON; without them hmkd looks through /proc every attach_poll.
//
//   Result<std::unique_ptr<Newcomers>> newcomers = Newcomers::open();
//   if (newcomers) look_at((*newcomers)->take());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "util/result.hpp"

namespace hmk {

/// Processes, no threads. Nothing: more than could be remembered, look at all.
using Told = std::optional<std::set<std::int32_t>>;

class Newcomers {
 public:
  static Result<std::unique_ptr<Newcomers>> open();
  virtual ~Newcomers() = default;

  /// Readable when there is somebody to take.
  virtual int poll_fd() const = 0;
  /// Since the last time; who has ended by now is among them.
  virtual Told take() = 0;
};

}  // namespace hmk
