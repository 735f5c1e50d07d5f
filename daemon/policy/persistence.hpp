// SPDX-License-Identifier: MIT
//
// How long heat lasts: the share of it that is still there k intervals later, and what that sums
// to. A move into free room pays for as long. What changes places with another region gains only by
// what is more than any other memory has by then: nothing where each is as likely to be hot next,
// and less where the one that was cold the longest comes next.
//
//   persistence.saw(regions, hits, resident);   each interval
//   persistence.stays().horizon(60)             intervals, 60 at most
//   persistence.stands_out().horizon(60)        the same beyond other memory
//   persistence.has_changed()                   another program, as it were
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "policy/rate_scale.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

class Persistence {
 public:
  static constexpr std::array<unsigned, 6> kLags{1, 2, 3, 4, 6, 8};
  /// Addresses drawn each interval: with 9 intervals kept 36 KiB at most. A share of one half is
  /// known to 0.03.
  static constexpr std::size_t kSamples = 256;

  /// `regions` in address order, `hits`: accesses a second to each of them, `resident`: bytes of
  /// all, `parts`: where there are some, they say what rate a hotness stands for.
  void saw(std::span<const RegionView> regions, std::span<const float> hits, Bytes resident,
           std::span<const RegionView> parts = {});

  /// A share for each lag.
  class Curve {
   public:
    /// What is not known yet counts as `trusted` intervals in which all stayed.
    explicit Curve(unsigned trusted) { counts_.fill(trusted); }
    /// Of the heat of kLags[lag] intervals before, the part of then: a moving average in -1 .. 1.
    std::optional<double> share(std::size_t lag) const { return shares_[lag]; }
    /// Intervals that all heat of now is worth: the sum of the shares over the next `most`. As
    /// long as nothing is known it stays.
    double horizon(double most) const;
    void add(std::size_t lag, double share);
    std::size_t known() const;  // lags

   private:
    std::array<std::optional<double>, kLags.size()> shares_;
    std::array<unsigned, kLags.size()> counts_;  // intervals in each
  };
  /// What is still there, and what of that is more than any other memory has: below 0 it is colder.
  const Curve& stays() const { return stays_; }
  const Curve& stands_out() const { return stands_out_; }
  /// In the last two intervals much less than usual was left of the heat of three and more
  /// intervals before: it has moved. One in which all memory is at less than half of its usual rate
  /// does not count, two in a row do: with a small budget one in some twenty is read badly.
  bool has_changed() const { return has_changed_; }
  /// Of the newest interval.
  const RateScale& scale() const { return scale_; }

 private:
  struct Sample {
    std::uint64_t address;
    float rate;    // accesses a second to a page
    float spread;  // a factor that chance explains
  };
  using Cohort = std::vector<Sample>;  // in address order

  struct Seen;
  struct Left {
    double stays, stands_out;
  };
  /// Of the heat of some intervals before, sums over the lags: what is left and usually is.
  struct Old {
    Left is{}, usual{};
    unsigned lags = 0;
    void add(const Left& left, const Left& usually) {
      is.stays += left.stays;
      is.stands_out += left.stands_out;
      usual.stays += usually.stays;
      usual.stands_out += usually.stands_out;
      ++lags;
    }
    bool has_fallen_with(const Old& last) const;
  };
  void judge(const Old& old, double mean);
  static Left left_of(const Cohort& then, std::span<const RegionView> regions, const Seen& now);

  std::deque<Cohort> cohorts_;  // newest first
  /// A program that has just begun may free all that it had: that is no reason to leave room idle.
  Curve stays_{1};
  Curve stands_out_{0};
  Old old_;
  RateScale scale_;
  double mean_ = 0;  // accesses a second to a page, any page
  bool was_faint_ = false, has_changed_ = false;
};

}  // namespace hmk::policy
