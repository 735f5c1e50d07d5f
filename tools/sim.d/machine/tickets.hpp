// SPDX-License-Identifier: MIT
//
// The module's moves: tickets one after the other, each as long as its pages take.
//
//   tickets.take(cookie, ranges, flags, now);
//   if (tickets.ends_at() == now) tickets.end();   pages are in their new place
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <linux/hmk.h>

#include "machine/program.hpp"

namespace hmk::sim {

struct MovePrices {
  double page_ns = 0;     // of 4 KiB; 0: as the machine's links and prices.py say
  double exposed_ns = 0;  // of each page of 4 KiB, or of 2 MiB where leaves are: the program's
  double limit_mbps = 0;  // between any two nodes; 0: none but the links'
};

class Tickets {
 public:
  /// All must outlive it.
  Tickets(const LabMachine& machine, Memory& memory, Program& program, const MovePrices& prices)
      : machine_(&machine), memory_(&memory), program_(&program), prices_(prices) {}

  void take(std::uint64_t cookie, std::span<const hmk_range> ranges, std::uint32_t flags,
            std::uint64_t now);
  /// Ends now, as far as nothing of it has moved; unknown ones are ignored.
  void cancel(std::uint64_t cookie, std::uint64_t now);
  std::optional<std::uint64_t> ends_at() const;
  /// The first one has ended. Returns its cookie.
  std::uint64_t end();
  /// One that has ended; it is forgotten.
  std::optional<std::vector<hmk_range_result>> result(std::uint64_t cookie);

  Bytes risen() const { return risen_; }
  Bytes fallen() const { return fallen_; }
  double exposed_ns() const { return exposed_ns_; }
  double spent_ns() const { return spent_ns_; }

 private:
  struct Ticket {
    std::uint64_t cookie;
    std::vector<hmk_range> ranges;
    std::uint32_t flags;
    std::uint64_t ends_at;
    bool is_cancelled;
  };
  double page_ns(int from, int to) const;
  double range_ns(const hmk_range& range) const;
  std::uint64_t duration(const Ticket& ticket) const;
  hmk_range_result move(const hmk_range& range);

  const LabMachine* machine_;
  Memory* memory_;
  Program* program_;
  MovePrices prices_;
  std::deque<Ticket> waiting_;  // the first is under way
  std::map<std::uint64_t, std::vector<hmk_range_result>> ended_;
  Bytes risen_ = 0, fallen_ = 0;
  double exposed_ns_ = 0, spent_ns_ = 0;
};

}  // namespace hmk::sim
