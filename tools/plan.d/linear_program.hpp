// SPDX-License-Identifier: MIT
//
// A forecast (policy/horizon.hpp) as a linear program: how many regions of a group lie in each tier
// in each window, and how many go from which tier to which between two windows.
//
//   least    sum of cost * lies + bytes * move_ns * goes
//   so that  in the first window all of a group lie somewhere,
//            who lies in a tier goes from there, and who has come lies there,
//            no tier holds more than its capacity in any window.
//
// In whole numbers it is AutoTM's program (Hildebrand et al., ASPLOS 2020, 4.2); without that, its
// relaxation, whose least is the best bound that prices can reach.
#pragma once

#include <vector>

#include "policy/horizon.hpp"

namespace hmk::plan {

/// Least `cost` * x with x in 0 .. `most`; by row `low` <= sum of its elements <= `high`.
struct LinearProgram {
  struct Element {
    int row = 0;
    double value = 0;
  };
  struct Column {
    double cost = 0;
    double most = 0;
    std::vector<Element> elements = {};
  };
  struct Row {
    double low = 0, high = 0;
  };
  std::vector<Column> columns = {};  // all of whole numbers where that is asked for
  std::vector<Row> rows = {};
};

LinearProgram linear_program(const policy::Forecast& forecast);

}  // namespace hmk::plan
