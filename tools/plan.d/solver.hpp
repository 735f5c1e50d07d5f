// SPDX-License-Identifier: MIT
//
// The one seam to a solver: COIN-OR's CLP for fractions, CBC for whole numbers.
#pragma once

#include "linear_program.hpp"

namespace hmk::plan {

/// Least value of the program. Throws std::runtime_error where the solver does not prove one.
double least_in_fractions(const LinearProgram& program);
double least_in_whole_numbers(const LinearProgram& program);

}  // namespace hmk::plan
