// SPDX-License-Identifier: MIT
//
// HM-Keeper where it reads every page instead of samples (HMK_SWITCH_DENSE): what kmod/dense.c
// does with pieces of memory, with accessed bits that come from the world. What becomes of a
// page's byte is the core's (include/hmk/core/dense.h).
#pragma once

#include <hmk/core/dense.h>
#include <hmk/core/region.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler.hpp"
#include "windows.hpp"

namespace hmk::sim {

class Dense {
 public:
  explicit Dense(const Means& means);

  /// Decides whether the interval reads every page, and makes ready.
  void begin(const World& world, double budget_ns);
  bool on() const { return on_; }
  /// Where regions come apart: between pieces whose hotness differs by tau2, in Q16.
  std::vector<__u64> cuts(__u32 tau2_q16) const;
  /// Regions get the windows of their pieces.
  void place(std::span<hmk_region> regions) const;
  /// Clears and reads the pieces, as many as `afford_ns` pays for.
  void watch(const World& world, const Accesses& accesses, double afford_ns);
  /// What the reads say of a sample; nothing where its piece was not read.
  std::optional<__u8> count(const hmk_sample& sample, const hmk_region& region) const;
  /// Folds what was read into the pages' hotness.
  void judge();
  /// Regions' hotness from all of their pages, and whether these differ.
  void judge(std::span<hmk_region> regions) const;
  /// Adds what is published of the region's pages, class by class. Return: the records that
  /// takes; 0: one tells all, and nothing was added.
  std::uint64_t tell(const hmk_region& region, std::vector<Estimate>& rates) const;

  std::uint64_t flushes() const { return windows_.flushes(); }
  double cost_ns() const;
  /// As hmk_dense_bytes() of kmod/dense.c.
  std::uint64_t bytes() const;

 private:
  struct Piece {
    Piece() { page.fill(HMK_DENSE_ABSENT); }

    unsigned rung = 0;
    unsigned age = 0;   // intervals in which it was read, saturating
    bool read = false;  // in this interval
    std::array<__u8, HMK_DENSE_PAGES> page;
  };

  /// Pages of a region, by class.
  struct Tally {
    std::array<std::uint64_t, HMK_CLASSES> pages{}, heat{};  // heat in 1/16 of a window
  };

  double look_ns() const { return HMK_DENSE_PAGES * means_.page_cost_ns; }
  bool affords(std::uint64_t pieces, double budget_ns) const;
  void match(const std::vector<std::uint64_t>& indices);
  void climb();
  void look(std::uint64_t index, Piece& piece, const World& world, const Accesses& accesses);
  const Piece* find(std::uint64_t address) const;
  template <typename F>
  void each_piece(const hmk_region& region, F&& f) const;
  Tally tally(const hmk_region& region) const;

  const Means means_;
  Windows windows_;  // of pieces
  std::map<std::uint64_t, Piece> pieces_;
  std::uint64_t turn_ = 0;       // the first piece that was not watched of late
  std::uint64_t read_ = 0;       // pieces, in this interval
  std::uint64_t order_cap_ = 0;  // of the module
  bool on_ = false;
};

}  // namespace hmk::sim
