// SPDX-License-Identifier: MIT
#include "student.hpp"

#include <cmath>

namespace hmkctl {
namespace {

/// Of the incomplete beta function, by Lentz's method; x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto kept_off_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / kept_off_zero(1 - (a + b) * x / (a + 1)), product = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_off_zero(1 + even * d);
    c = kept_off_zero(1 + even / c);
    product *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_off_zero(1 + odd * d);
    c = kept_off_zero(1 + odd / c);
    product *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return product;
}

/// The regularized incomplete beta function I_x(a, b).
double beta_share(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_within(double t, double freedom) {
  return 1 - beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_limit(double alpha, double freedom) {
  double low = 0, high = 1;
  while (1 - student_within(high, freedom) > alpha && high < 1e12) high *= 2;
  for (int halvings = 0; halvings < 200 && high - low > 1e-12 * high; ++halvings) {
    const double middle = (low + high) / 2;
    (1 - student_within(middle, freedom) > alpha ? low : high) = middle;
  }
  return high;
}

}  // namespace hmkctl
