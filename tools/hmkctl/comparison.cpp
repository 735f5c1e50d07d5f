// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace hmkctl {
namespace {

constexpr double kGuardFirst = 0.1, kGuardLater = 0.01;  // to one side

struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared distances from the mean

  double variance() const { return count < 2 ? 0 : squares / static_cast<double>(count - 1); }
};

Moments moments_of(std::span<const double> values) {
  Moments moments;
  for (const double value : values) {
    ++moments.count;
    const double off = value - moments.mean;
    moments.mean += off / static_cast<double>(moments.count);
    moments.squares += off * (value - moments.mean);
  }
  return moments;
}

/// The t beyond which, to both sides together, lies a share of `alpha`.
double student_limit(double alpha, double freedom) {
  return quantile(complement(boost::math::students_t(freedom), alpha / 2));
}

std::vector<Arm> draw_order(unsigned pairs, std::uint64_t seed) {
  using enum Arm;
  std::mt19937_64 random(seed);
  std::vector<Arm> order{watch, manage, watch, manage, manage, watch, manage, watch};
  for (unsigned pair = 4; pair < pairs; pair += 2) {
    const bool manage_first = random() % 2 == 1;
    const Arm outer = manage_first ? manage : watch, inner = manage_first ? watch : manage;
    order.insert(order.end(), {outer, inner, inner, outer});
  }
  return order;
}

}  // namespace

std::string_view found_name(Found found) {
  static constexpr std::array<std::string_view, 5> kNames{"gain", "loss", "same", "unclear",
                                                          "guard"};
  return kNames[static_cast<std::size_t>(found)];
}

Comparison::Comparison(const ComparisonRules& rules)
    : rules_(rules), order_(draw_order(rules.most_pairs, rules.seed)) {}

std::optional<Arm> Comparison::next() const {
  if (end_ || blocks_.size() >= order_.size()) return std::nullopt;
  return order_[blocks_.size()];
}

void Comparison::add(std::span<const double> parts) {
  const Moments seen = moments_of(parts);
  const double of_mean = seen.variance() / static_cast<double>(parts.size());
  blocks_.push_back(
      {order_[blocks_.size()], seen.mean, of_mean / (seen.mean * seen.mean), parts.size()});
  if (const auto change = broken_guard()) {
    Estimate now = estimate();
    now.found = Found::guard;
    now.change = *change;
    now.low = now.high = std::nullopt;
    end_ = now;
    return;
  }
  const bool is_look =
      blocks() % 2 == 0 && pairs() >= kFirstLook && (pairs() - kFirstLook) % kLookEvery == 0;
  if (!is_look) return;
  const Estimate now = estimate();
  if (now.found != Found::unclear) end_ = now;
}

/// Logarithm of managed over watched, of each pair that is complete.
std::vector<double> Comparison::differences() const {
  std::vector<double> differences;
  for (std::size_t at = 0; at + 1 < blocks_.size(); at += 2) {
    const double rise = std::log(blocks_[at + 1].mean / blocks_[at].mean);
    differences.push_back(blocks_[at].arm == Arm::watch ? rise : -rise);
  }
  return differences;
}

/// What the last look may err by, and what each before it.
double Comparison::alpha_at(unsigned pairs) const {
  const unsigned looks = (rules_.most_pairs - kFirstLook) / kLookEvery + 1;
  if (looks == 1) return rules_.alpha;
  return pairs >= rules_.most_pairs ? rules_.alpha / 2 : rules_.alpha / 2 / (looks - 1);
}

Estimate Comparison::estimate() const {
  if (end_) return *end_;
  Estimate estimate{.pairs = pairs()};
  std::vector<double> watched, managed;
  for (const Block& block : blocks_)
    (block.arm == Arm::watch ? watched : managed).push_back(block.mean);
  estimate.watched = moments_of(watched).mean;
  estimate.managed = moments_of(managed).mean;
  const Moments pairs = moments_of(differences());
  estimate.change = std::expm1(pairs.mean);
  if (pairs.count < 2) return estimate;
  const double error = std::sqrt(pairs.variance() / static_cast<double>(pairs.count));
  const double reach =
      student_limit(alpha_at(estimate.pairs), static_cast<double>(pairs.count - 1));
  estimate.low = std::expm1(pairs.mean - reach * error);
  estimate.high = std::expm1(pairs.mean + reach * error);
  estimate.found = judge(estimate);
  return estimate;
}

Found Comparison::judge(const Estimate& estimate) const {
  if (estimate.pairs < kFirstLook) return Found::unclear;
  const bool is_higher = *estimate.low > 0, is_lower = *estimate.high < 0;
  if (is_higher || is_lower)
    return is_higher == (rules_.better == Better::higher) ? Found::gain : Found::loss;
  return *estimate.low >= -rules_.within && *estimate.high <= rules_.within ? Found::same
                                                                            : Found::unclear;
}

std::optional<double> Comparison::broken_guard() const {
  if (!rules_.guard || blocks_.back().arm != Arm::manage) return std::nullopt;
  std::vector<double> watched, managed;
  double parts_variance = 0, parts_freedom = 0;
  for (const Block& block : blocks_) {
    (block.arm == Arm::watch ? watched : managed).push_back(std::log(block.mean));
    parts_variance += block.log_variance / static_cast<double>(blocks_.size());
    parts_freedom += static_cast<double>(block.parts - 1);
  }
  if (managed.size() < 2 || watched.empty()) return std::nullopt;
  const Moments calm = moments_of(watched), moved = moments_of(managed);
  const double rise = moved.mean - calm.mean, change = std::expm1(rise);
  const double worse = rules_.better == Better::higher ? -1 : 1;
  if (worse * change <= *rules_.guard) return std::nullopt;

  const auto blocks_freedom = static_cast<double>(blocks_.size() - 2);
  const double blocks_variance = (calm.squares + moved.squares) / blocks_freedom;
  const bool by_parts = parts_variance > blocks_variance;
  const double freedom = by_parts ? parts_freedom : blocks_freedom;
  const double error =
      std::sqrt(std::max(parts_variance, blocks_variance) *
                (1 / static_cast<double>(calm.count) + 1 / static_cast<double>(moved.count)));
  // It asks at every block: later ones must be surer, or noise would break it some day.
  const double by_chance = managed.size() == 2 ? kGuardFirst : kGuardLater;
  const bool is_chance = worse * rise <= student_limit(2 * by_chance, freedom) * error;
  return is_chance ? std::nullopt : std::optional(change);
}

}  // namespace hmkctl
