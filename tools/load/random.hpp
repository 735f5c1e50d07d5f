// SPDX-License-Identifier: MIT
// Small deterministic random numbers and the YCSB zipfian generator.
//
//   Random random(42);
//   Zipf zipf(1'000'000);
//   const std::uint64_t rank = zipf(random.unit());     // 0 is drawn most often
#ifndef HMK_LOAD_RANDOM_HPP
#define HMK_LOAD_RANDOM_HPP

#include <cmath>
#include <cstdint>

namespace hmk::load {

/// splitmix64's finisher: every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [0, n); the bias of 2^-64 n does not matter here.
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }

 private:
  std::uint64_t state_;
};

/// Half the instructions of Random, for draws that are the work itself.
class QuickRandom {
 public:
  explicit QuickRandom(std::uint64_t seed) : state_(mix(seed)) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ull;
    const auto product = static_cast<unsigned __int128>(state_) * (state_ ^ 0xbf58476d1ce4e5b9ull);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }

 private:
  std::uint64_t state_;
};

/// Zipf ranks after Gray et al., "Quickly generating billion-record synthetic databases" (1994),
/// with the constant YCSB uses. n must be at least 2.
class Zipf {
 public:
  static constexpr double kTheta = 0.99;

  explicit Zipf(std::uint64_t n)
      : n_(static_cast<double>(n)),
        zeta_(zeta(n)),
        eta_((1 - std::pow(2 / n_, 1 - kTheta)) / (1 - zeta(2) / zeta_)) {}

  /// Maps a uniform number of [0, 1) to a rank of [0, n).
  std::uint64_t operator()(double u) const {
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, kTheta)) return 1;
    const auto rank =
        static_cast<std::uint64_t>(n_ * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta)));
    return rank < static_cast<std::uint64_t>(n_) ? rank : static_cast<std::uint64_t>(n_) - 1;
  }

  /// Sum of i^-theta for i = 1 .. n: term by term at first, Euler-Maclaurin beyond (error < 1e-12).
  static double zeta(std::uint64_t n) {
    constexpr std::uint64_t kTerms = 1000;
    double sum = 0;
    for (std::uint64_t i = 1; i <= n && i <= kTerms; ++i)
      sum += std::pow(static_cast<double>(i), -kTheta);
    if (n <= kTerms) return sum;
    const double a = kTerms, b = static_cast<double>(n);
    const double integral = (std::pow(b, 1 - kTheta) - std::pow(a, 1 - kTheta)) / (1 - kTheta);
    const double ends = (std::pow(b, -kTheta) - std::pow(a, -kTheta)) / 2;
    const double slopes = -kTheta * (std::pow(b, -kTheta - 1) - std::pow(a, -kTheta - 1)) / 12;
    return sum + integral + ends + slopes;
  }

 private:
  double n_, zeta_, eta_;
};

}  // namespace hmk::load

#endif
