// SPDX-License-Identifier: MIT
// A Kronecker (R-MAT) graph with a = 0.57, b = c = 0.19, d = 0.05, written as CSR in one pass.
//
//   const Kronecker kronecker(23, 16, seed);          // 2^23 vertices, about 16 edges each
//   Csr graph{kronecker.nr_vertices(), offsets, edges};
//   kronecker.write(graph);
//
// No edge list and no sorting, which would take a slow guest minutes. A vertex's out-degree follows
// from how many of its bits are set (0.76 for each 0, 0.24 for each 1), and a target's bits are
// drawn given the source's: 1 with 0.19 / 0.76 below a 0 and with 0.05 / 0.24 below a 1. Words of
// such bits are drawn once, into pools; an edge combines an upper and a lower half of them.
// Vertices are renumbered by a multiplication, so that the hubs are spread over the memory.
#ifndef HMK_LOAD_KRONECKER_HPP
#define HMK_LOAD_KRONECKER_HPP

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "random.hpp"

namespace hmk::load {

struct Edge {
  std::uint32_t target, weight;  // weight: 1 to 255
  bool operator==(const Edge&) const = default;
};

struct Csr {
  std::uint32_t nr_vertices;
  std::uint32_t* offsets;  // one more than vertices
  Edge* edges;

  std::uint32_t degree(std::uint32_t v) const { return offsets[v + 1] - offsets[v]; }
  std::uint32_t nr_edges() const { return offsets[nr_vertices]; }
};

class Kronecker {
 public:
  Kronecker(unsigned scale, std::uint64_t edge_factor, std::uint64_t seed)
      : scale_(scale), mask_((1u << scale) - 1), edge_factor_(edge_factor), random_(seed) {}

  std::uint32_t nr_vertices() const { return mask_ + 1; }
  /// The number of edges is random; never more than this.
  std::uint64_t max_edges() const {
    return nr_vertices() * edge_factor_ + nr_vertices() / 16 + 1024;
  }

  /// The number of a vertex in the CSR from its number in the R-MAT recursion.
  std::uint32_t renumber(std::uint32_t v) const { return (v * kOdd + kShift) & mask_; }

  void write(Csr& graph) {
    fill_pools();
    std::vector<std::uint64_t> degrees;  // by set bits, times 2^32
    for (unsigned ones = 0; ones <= scale_; ++ones)
      degrees.push_back(
          static_cast<std::uint64_t>(0x1p32 * static_cast<double>(nr_vertices() * edge_factor_) *
                                     std::pow(0.76, scale_ - ones) * std::pow(0.24, ones)));
    const auto most = static_cast<std::uint32_t>(max_edges() - kLanes);
    std::uint32_t at = 0, u = (0 - kShift) * inverse();
    for (std::uint32_t v = 0; v < nr_vertices(); ++v, u += inverse()) {
      const auto ones = static_cast<unsigned>(std::popcount(u & mask_));
      auto degree = static_cast<std::uint32_t>((degrees[ones] + (random_.next() >> 32)) >> 32);
      graph.offsets[v] = at;
      for (degree = std::min(degree, most - at); degree > 0;) {
        const std::uint32_t run = std::min(degree, kRun);
        write_run(u, graph.edges + at, run);
        at += run;
        degree -= run;
      }
    }
    graph.offsets[nr_vertices()] = at;
    pools_ = {};
  }

 private:
  static constexpr std::uint32_t kOdd = 0x9e3779b1, kShift = 0x1234567;
  static constexpr std::uint32_t kPool = 1 << 16, kRun = 1 << 10, kLanes = 4;

  /// Of kOdd, modulo 2^32 (Newton's iteration doubles the number of right bits).
  static constexpr std::uint32_t inverse() {
    std::uint32_t x = kOdd;
    for (int i = 0; i < 4; ++i) x *= 2 - kOdd * x;
    return x;
  }

  /// 32 bits, each 1 with a chance of `p` / 256: binary digits of p from the last to the first.
  std::uint32_t biased_bits(unsigned p) {
    std::uint32_t bits = 0;
    for (unsigned digit = 0; digit < 8; ++digit) {
      const auto draw = static_cast<std::uint32_t>(random_.next() >> 32);
      bits = ((p >> digit) & 1) != 0 ? bits | draw : bits & draw;
    }
    return bits;
  }

  void fill_pools() {
    const std::uint32_t lower = (1u << scale_ / 2) - 1, upper = mask_ & ~lower;
    for (auto* pool : {&pools_.upper0, &pools_.upper1, &pools_.lower0, &pools_.lower1}) {
      const bool is_upper = pool == &pools_.upper0 || pool == &pools_.upper1;
      const bool is_below0 = pool == &pools_.upper0 || pool == &pools_.lower0;
      pool->resize(kPool + kRun + kLanes);
      for (auto& word : *pool) word = biased_bits(is_below0 ? 64 : 53) & (is_upper ? upper : lower);
    }
    pools_.weights.resize(kPool + kRun + kLanes);
    for (auto& weight : pools_.weights) weight = static_cast<std::uint32_t>(1 + random_.below(255));
  }

  void write_run(std::uint32_t u, Edge* edges, std::uint32_t nr) {
    const std::uint64_t draw = random_.next();
    const auto i = static_cast<std::uint32_t>(draw) % kPool;
    const auto k = static_cast<std::uint32_t>(draw >> 32) % kPool;
    const std::uint32_t *upper0 = &pools_.upper0[i], *upper1 = &pools_.upper1[i],
                        *lower0 = &pools_.lower0[k], *lower1 = &pools_.lower1[k],
                        *weights = &pools_.weights[i];
    const std::uint32_t mask = mask_;
    // Whole vectors: what is too much, the next vertex's edges replace.
    nr = (nr + kLanes - 1) / kLanes * kLanes;
#ifndef __clang__
#pragma GCC ivdep  // the pools and the edges do not overlap
#endif
    for (std::uint32_t e = 0; e < nr; ++e) {
      const std::uint32_t below0 = upper0[e] | lower0[e], below1 = upper1[e] | lower1[e];
      const std::uint32_t target = below0 ^ ((below0 ^ below1) & u);
      edges[e].target = (target * kOdd + kShift) & mask;
      edges[e].weight = weights[e];
    }
  }

  unsigned scale_;
  std::uint32_t mask_;
  std::uint64_t edge_factor_;
  Random random_;
  struct {
    std::vector<std::uint32_t> upper0, upper1, lower0, lower1, weights;
  } pools_;
};

}  // namespace hmk::load

#endif
