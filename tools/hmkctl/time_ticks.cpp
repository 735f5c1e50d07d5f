// SPDX-License-Identifier: MIT
#include "time_ticks.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace hmkctl {
namespace {

/// The smallest round step of which `most` reach over `seconds`.
double step_of(double seconds, std::size_t most) {
  constexpr std::array kSteps{1.0,    2.0,    5.0,     10.0,    20.0,   30.0,
                              60.0,   120.0,  300.0,   600.0,   1200.0, 1800.0,
                              3600.0, 7200.0, 21600.0, 43200.0, 86400.0};
  const auto fits = [&](double step) { return seconds < step * static_cast<double>(most); };
  for (const double small : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1})
    for (const double step : {small, 2 * small, 5 * small})
      if (fits(step)) return step;
  for (const double step : kSteps)
    if (fits(step)) return step;
  double days = 86400;
  while (!fits(days)) days *= 2;
  return days;
}

std::string label(double time, double step) {
  const char* unit = "s";
  if (step < 1) time *= 1000, unit = "ms";
  if (step < 1e-3) time *= 1000, unit = "us";
  if (step >= 60) time /= 60, unit = "min";
  if (step >= 3600) time /= 60, unit = "h";
  if (step >= 86400) time /= 24, unit = "d";
  char text[48];
  std::snprintf(text, sizeof(text), "%.0f%s", time, unit);
  return text;
}

}  // namespace

std::vector<TimeTick> time_ticks(double seconds, std::size_t most) {
  if (!(seconds > 0)) return {{0, "0s"}};
  const double step = step_of(seconds, most);
  std::vector<TimeTick> ticks;
  for (std::size_t n = 0; static_cast<double>(n) * step <= seconds * (1 + 1e-9); ++n)
    ticks.push_back(
        {static_cast<double>(n) * step / seconds, label(static_cast<double>(n) * step, step)});
  return ticks;
}

}  // namespace hmkctl
