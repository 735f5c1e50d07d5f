// SPDX-License-Identifier: MIT
#include "student.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hmkctl {
namespace {

TEST(Student, LimitsAreThoseOfThePrintedTables) {
  EXPECT_NEAR(student_limit(0.05, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_limit(0.05, 2), 4.3027, 1e-4);
  EXPECT_NEAR(student_limit(0.01, 5), 4.0321, 1e-4);
  EXPECT_NEAR(student_limit(0.05, 11), 2.2010, 1e-4);
  EXPECT_NEAR(student_limit(0.10, 20), 1.7247, 1e-4);
  EXPECT_NEAR(student_limit(0.05, 1e6), 1.9600, 1e-4) << "nearly normal";
  EXPECT_NEAR(student_limit(0.002, 3), 10.2145, 1e-3);
}

TEST(Student, WithOneDegreeOfFreedomItIsCauchys) {
  for (const double t : {0.0, 0.1, 1.0, 7.0, 500.0})
    EXPECT_NEAR(student_within(t, 1), 2 / std::numbers::pi * std::atan(t), 1e-12) << t;
}

TEST(Student, LimitAndShareAreEachOthersInverse) {
  for (const double freedom : {1.0, 3.0, 7.0, 30.0})
    for (const double alpha : {0.5, 0.05, 0.00625, 1e-6})
      EXPECT_NEAR(1 - student_within(student_limit(alpha, freedom), freedom), alpha,
                  1e-9 + alpha / 1e6)
          << freedom << " " << alpha;
}

}  // namespace
}  // namespace hmkctl
