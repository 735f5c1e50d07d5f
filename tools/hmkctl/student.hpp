// SPDX-License-Identifier: MIT
//
// Student's t: how far the mean of a few figures lies from the truth, in its own standard errors.
#pragma once

namespace hmkctl {

/// Probability that |t| with `freedom` degrees of freedom is at most `t`, which is not below 0.
double student_within(double t, double freedom);

/// The t beyond which, to both sides together, lies a share of `alpha`, 0 < alpha < 1.
double student_limit(double alpha, double freedom);

}  // namespace hmkctl
