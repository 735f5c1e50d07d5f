// SPDX-License-Identifier: MIT
#include "governor/window.hpp"

#include <algorithm>
#include <limits>

namespace hmk::bench {
namespace {

constexpr double kNothing = 1e-9;  // of a window, of a byte

/// Rates at one moment: of the program in windows/s, of copies in bytes/s.
struct Rates {
  double program = 0, in = 0, out = 0;
};

struct Left {
  double program = 1, in = 0, out = 0;

  bool runs() const { return program > kNothing; }
  bool copies() const { return in > kNothing || out > kNothing; }
};

/// What so many threads write at most: beyond the peak of a curve that falls the tier has less.
double most_written(const CopyCurve& curve, unsigned threads) {
  const auto peak = std::ranges::max_element(curve.out_bw) - curve.out_bw.begin();
  return threads > peak ? curve.out_bw[threads - 1] : curve.max_out;
}

/// Of the tier's time, 1 is all.
double use_of(const SlowTier& tier, double read_bw, double written_bw, double most_written_bw) {
  const double read = read_bw / tier.curve.max_in, written = written_bw / most_written_bw;
  return tier.is_duplex ? std::max(read, written) : read + written;
}

Rates rates_of(const SlowTier& tier, const Program& program, unsigned c, const Left& left,
               bool paced) {
  const unsigned busy = (left.runs() ? program.threads : 0) + (left.copies() ? c : 0);
  const double cpu = std::min(1.0, static_cast<double>(tier.cpus) / busy);
  Rates rates{.in = left.in > kNothing ? tier.curve.in_bw[c - 1] * cpu : 0,
              .out = left.out > kNothing ? tier.curve.out_bw[c - 1] * cpu : 0};
  const double own = left.runs() ? program.tier_bw * cpu : 0;
  const double most = most_written(tier.curve, c);
  const double use = use_of(tier, own + rates.in, rates.out, most);
  double given = 1 / std::max(1.0, use), to_copies = given;
  if (paced && left.runs()) {
    given = 1;
    const double copies = use_of(tier, rates.in, rates.out, most);
    to_copies = copies > 0 ? std::min(1.0, (1 - use_of(tier, own, 0, most)) / copies) : 1;
  }
  if (left.runs()) rates.program = cpu / (1 - program.memory_bound + program.memory_bound / given);
  rates.in *= to_copies;
  rates.out *= to_copies;
  return rates;
}

double seconds(double left, double rate) {
  return rate > 0 ? left / rate : std::numeric_limits<double>::infinity();
}

}  // namespace

Outcome run_window(const SlowTier& tier, const Program& program, double bytes,
                   unsigned copy_threads, bool paced) {
  Left left{.program = 1, .in = bytes, .out = bytes};
  Outcome outcome;
  while (left.runs() || left.copies()) {
    const Rates rates = rates_of(tier, program, copy_threads, left, paced);
    const bool ran = left.runs();
    const double step = std::min({seconds(left.program, rates.program), seconds(left.in, rates.in),
                                  seconds(left.out, rates.out)});
    left.program -= rates.program * step;
    left.in -= rates.in * step;
    left.out -= rates.out * step;
    outcome.all_s += step;
    if (ran && !left.runs()) outcome.program_s = outcome.all_s;
  }
  return outcome;
}

}  // namespace hmk::bench
