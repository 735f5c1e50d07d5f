// SPDX-License-Identifier: MIT
#include "linear_program.hpp"

#include <limits>

namespace hmk::plan {
namespace {

using policy::Forecast;

class Builder {
 public:
  explicit Builder(const Forecast& forecast) : forecast_(forecast) {
    for (const double bytes : forecast.capacity)
      program_.rows.push_back({.low = -std::numeric_limits<double>::infinity(), .high = bytes});
  }

  LinearProgram build() {
    for (const Forecast::Group& group : forecast_.groups) add(group);
    return std::move(program_);
  }

 private:
  int row(double low, double high) {
    program_.rows.push_back({low, high});
    return static_cast<int>(program_.rows.size() - 1);
  }

  /// Of each tier in a window a row "who lies here"; its sum is 0.
  std::vector<int> rows_of_tiers() {
    std::vector<int> rows(forecast_.tiers);
    for (int& one : rows) one = row(0, 0);
    return rows;
  }

  void add(const Forecast::Group& group) {
    const int all = row(group.count, group.count);
    std::vector<int> came;  // by tier; none in the first window
    for (std::uint32_t window = 0; window < forecast_.windows; ++window) {
      const bool is_last = window + 1 == forecast_.windows;
      const std::vector<int> goes = is_last ? std::vector<int>() : rows_of_tiers();
      lie(group, window, came, goes, all);
      came = is_last ? std::vector<int>() : rows_of_tiers();
      if (!is_last) go(group, goes, came);
    }
  }

  void lie(const Forecast::Group& group, std::uint32_t window, const std::vector<int>& came,
           const std::vector<int>& goes, int all) {
    for (std::uint32_t tier = 0; tier < forecast_.tiers; ++tier) {
      const std::size_t cell = forecast_.cell(window, tier);
      LinearProgram::Column column{.cost = group.cost_ns[cell], .most = group.count};
      column.elements.push_back({static_cast<int>(cell), group.bytes});
      if (window == 0) column.elements.push_back({all, 1});
      if (!came.empty()) column.elements.push_back({came[tier], 1});
      if (!goes.empty()) column.elements.push_back({goes[tier], 1});
      program_.columns.push_back(std::move(column));
    }
  }

  void go(const Forecast::Group& group, const std::vector<int>& goes,
          const std::vector<int>& came) {
    for (std::uint32_t from = 0; from < forecast_.tiers; ++from)
      for (std::uint32_t to = 0; to < forecast_.tiers; ++to) {
        if (forecast_.is_static && from != to) continue;
        program_.columns.push_back(
            {.cost = group.bytes * forecast_.move_ns[from * forecast_.tiers + to],
             .most = group.count,
             .elements = {{goes[from], -1}, {came[to], -1}}});
      }
  }

  const Forecast& forecast_;
  LinearProgram program_;
};

}  // namespace

LinearProgram linear_program(const Forecast& forecast) {
  return Builder(forecast).build();
}

}  // namespace hmk::plan
