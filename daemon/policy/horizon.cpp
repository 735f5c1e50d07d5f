// SPDX-License-Identifier: MIT
#include "policy/horizon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace hmk::policy {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr unsigned kRepair = 5;     // steps from one placement to the next
constexpr unsigned kPolish = 4;     // rounds of a placement, at most
constexpr double kHardly = 1e-4;    // a round that saves less is the last
constexpr unsigned kStubborn = 12;  // steps without a better bound until they get shorter
constexpr double kShorter = 0.6;
constexpr double kRounding = 1 + 1e-12;  // what was taken and given back need not be the same

using Path = std::vector<std::uint8_t>;  // tier by window

/// The cheapest way of one region through windows and tiers, with `price` on each byte.
class PathFinder {
 public:
  explicit PathFinder(const Forecast& forecast)
      : forecast_(&forecast), back_(std::size_t{forecast.windows} * forecast.tiers) {}

  /// Cost of the way with prices and moves; `path` is it. kNever: there is none.
  double find(const Forecast::Group& group, std::span<const double> price, Path& path) {
    return forecast_->is_static ? stay(group, price, path) : wander(group, price, path);
  }

 private:
  double stay(const Forecast::Group& group, std::span<const double> price, Path& path) const {
    double best = kNever;
    for (std::uint32_t tier = 0; tier < forecast_->tiers; ++tier) {
      double cost = 0;
      for (std::uint32_t w = 0; w < forecast_->windows; ++w) {
        const std::size_t cell = forecast_->cell(w, tier);
        cost += group.cost_ns[cell] + group.bytes * price[cell];
      }
      if (cost >= best) continue;
      best = cost;
      path.assign(forecast_->windows, static_cast<std::uint8_t>(tier));
    }
    return best;
  }

  double wander(const Forecast::Group& group, std::span<const double> price, Path& path) {
    const std::uint32_t tiers = forecast_->tiers, windows = forecast_->windows;
    cost_.assign(tiers, 0);
    for (std::uint32_t w = 0; w < windows; ++w) {
      before_ = cost_;
      for (std::uint32_t to = 0; to < tiers; ++to) {
        std::uint32_t best = to;
        double least = before_[to];
        for (std::uint32_t from = 0; w > 0 && from < tiers; ++from) {
          const double cost = before_[from] + group.bytes * forecast_->move_ns[from * tiers + to];
          if (cost < least) least = cost, best = from;
        }
        const std::size_t cell = forecast_->cell(w, to);
        cost_[to] = least + group.cost_ns[cell] + group.bytes * price[cell];
        back_[cell] = static_cast<std::uint8_t>(best);
      }
    }
    const auto last = std::ranges::min_element(cost_);
    path.resize(windows);
    auto tier = static_cast<std::uint8_t>(last - cost_.begin());
    for (std::uint32_t w = windows; w-- > 0; tier = back_[forecast_->cell(w, tier)]) path[w] = tier;
    return *last;
  }

  const Forecast* forecast_;
  std::vector<double> cost_, before_;  // by tier
  std::vector<std::uint8_t> back_;     // by cell: the tier before
};

class Scheduler {
 public:
  Scheduler(const Forecast& forecast, const Patience& patience)
      : forecast_(forecast),
        patience_(patience),
        finder_(forecast),
        price_(cells()),
        best_price_(cells()),
        order_(forecast.groups.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    best_.cost_ns = kNever;
    best_.bound_ns = -kNever;
  }

  Schedule run() {
    place();
    for (unsigned step = 0; step < patience_.steps; ++step) {
      improve();
      if (step % kRepair == kRepair - 1) place();
      if (patience_.on_progress)
        patience_.on_progress(static_cast<double>(step + 1) / patience_.steps);
      if (best_.gap() <= patience_.gap) break;
    }
    price_ = best_price_;
    place();
    best_.worth_ns = best_price_;
    return std::move(best_);
  }

 private:
  std::size_t cells() const { return std::size_t{forecast_.windows} * forecast_.tiers; }

  /// One step of the prices: up where more would lie in a tier than fits.
  void improve() {
    std::vector<double> excess(cells());
    double bound = 0;
    for (std::size_t cell = 0; cell < cells(); ++cell) {
      excess[cell] = -forecast_.capacity[cell];
      bound -= price_[cell] * forecast_.capacity[cell];
    }
    for (const Forecast::Group& group : forecast_.groups) {
      bound += group.count * finder_.find(group, price_, path_);
      for (std::uint32_t w = 0; w < forecast_.windows; ++w)
        excess[forecast_.cell(w, path_[w])] += group.count * group.bytes;
    }
    if (bound > best_.bound_ns) {
      best_.bound_ns = bound;
      best_price_ = price_;
      in_vain_ = 0;
    } else if (++in_vain_ == kStubborn) {
      length_ *= kShorter;
      price_ = best_price_;  // from where it was best
      in_vain_ = 0;
      return;
    }
    double norm = 0;
    for (std::size_t cell = 0; cell < cells(); ++cell) {
      if (price_[cell] == 0 && excess[cell] < 0) excess[cell] = 0;
      norm += excess[cell] * excess[cell];
    }
    if (norm == 0) return;
    const double step = length_ * (best_.cost_ns - bound) / norm;
    for (std::size_t cell = 0; cell < cells(); ++cell)
      price_[cell] = std::max(price_[cell] + step * excess[cell], 0.0);
  }

  /// A placement that fits: those with most at stake choose first, at today's prices.
  void place() {
    sort_by_stake();
    std::vector<double> room = forecast_.capacity;
    Schedule made;
    for (const std::size_t group : order_)
      if (!place(group, forecast_.groups[group].count, price_, room, made)) return;
    polish(room, made);
    if (made.cost_ns >= best_.cost_ns) return;
    made.bound_ns = best_.bound_ns;
    best_ = std::move(made);
  }

  /// Each part chooses anew, without prices, where the others leave room: never dearer than before.
  void polish(std::vector<double>& room, Schedule& made) {
    const std::vector<double> free(cells());
    for (unsigned round = 0; round < kPolish; ++round) {
      Schedule again;
      for (const Schedule::Part& part : made.parts) {
        const double bytes = part.count * forecast_.groups[part.group].bytes;
        for (std::uint32_t w = 0; w < forecast_.windows; ++w)
          room[forecast_.cell(w, part.tier[w])] += bytes;
        place(part.group, part.count, free, room, again);
      }
      const bool is_better = again.cost_ns < made.cost_ns * (1 - kHardly);
      made = std::move(again);
      if (!is_better) return;
    }
  }

  /// What a byte loses where it does not get its way: its worst price over its best.
  void sort_by_stake() {
    std::vector<double> stake(forecast_.groups.size());
    for (std::size_t i = 0; i < stake.size(); ++i) {
      const Forecast::Group& group = forecast_.groups[i];
      for (std::uint32_t w = 0; w < forecast_.windows; ++w) {
        const auto costs = std::span(group.cost_ns).subspan(forecast_.cell(w, 0), forecast_.tiers);
        stake[i] += std::ranges::max(costs) - std::ranges::min(costs);
      }
      stake[i] /= group.bytes;
    }
    std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t i) { return stake[i]; });
  }

  /// False where some of it fits nowhere.
  bool place(std::size_t index, double count, std::vector<double> price, std::vector<double>& room,
             Schedule& made) {
    const Forecast::Group& group = forecast_.groups[index];
    const auto shut = [&] {
      for (std::size_t cell = 0; cell < cells(); ++cell)
        if (room[cell] * kRounding < group.bytes) price[cell] = kNever;
    };
    for (double left = count; left > 0;) {
      shut();
      if (finder_.find(group, price, path_) == kNever) return false;
      double fits = left;
      for (std::uint32_t w = 0; w < forecast_.windows; ++w)
        fits =
            std::min(fits, std::floor(room[forecast_.cell(w, path_[w])] * kRounding / group.bytes));
      for (std::uint32_t w = 0; w < forecast_.windows; ++w)
        room[forecast_.cell(w, path_[w])] -= fits * group.bytes;
      made.cost_ns += fits * cost_of(group, path_);
      made.parts.push_back({index, fits, path_});
      left -= fits;
    }
    return true;
  }

  double cost_of(const Forecast::Group& group, const Path& path) const {
    double cost = 0;
    for (std::uint32_t w = 0; w < forecast_.windows; ++w) {
      cost += group.cost_ns[forecast_.cell(w, path[w])];
      if (w > 0) cost += group.bytes * forecast_.move_ns[path[w - 1] * forecast_.tiers + path[w]];
    }
    return cost;
  }

  const Forecast& forecast_;
  const Patience& patience_;
  PathFinder finder_;
  std::vector<double> price_, best_price_;  // ns a byte, by cell
  std::vector<std::size_t> order_;          // of the groups that are placed
  double length_ = 1;                       // of a step
  unsigned in_vain_ = 0;
  Path path_;
  Schedule best_;
};

void check(const Forecast& forecast) {
  const std::size_t cells = std::size_t{forecast.windows} * forecast.tiers;
  const std::size_t pairs = std::size_t{forecast.tiers} * forecast.tiers;
  if (forecast.windows == 0 || forecast.tiers == 0 || forecast.tiers > 255)
    throw std::invalid_argument("a forecast has windows, and 1 to 255 tiers");
  if (forecast.capacity.size() != cells || forecast.move_ns.size() != pairs)
    throw std::invalid_argument("capacity is by window and tier, the price of a move by two tiers");
  for (const Forecast::Group& group : forecast.groups)
    if (group.cost_ns.size() != cells || !(group.bytes > 0))
      throw std::invalid_argument("a group has bytes, and a cost by window and tier");
}

}  // namespace

Schedule schedule(const Forecast& forecast, const Patience& patience) {
  check(forecast);
  Schedule best = Scheduler(forecast, patience).run();
  if (best.cost_ns == kNever) throw std::invalid_argument("the memory does not fit into the tiers");
  return best;
}

}  // namespace hmk::policy
