// SPDX-License-Identifier: MIT
// hmk-load-gups: random updates on anonymous memory with a hot set that is known exactly.
#include <sched.h>

#include <atomic>
#include <cinttypes>
#include <deque>
#include <numeric>
#include <system_error>
#include <thread>

#include "hot_set.hpp"
#include "levels.hpp"
#include "random.hpp"
#include "stage.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-gups [--size 1GiB] [--chunk 2MiB] [--hot 10%|SIZE] [--hot-updates 90%]\n"
        "                     [--contiguous] [--write-share 100%] [--pages 4KiB|thp] [--seed N]\n"
        "                     [--levels N] [--cpus 0,1] [--jump-after TIME] [--jump-every TIME]\n"
        "                     [--place truth] [--nodes 0,1,2,3] [--reserve 24MiB]\n"
        "Updates random 64-bit words; --hot-updates of them fall into the hot chunks, which are\n"
        "scattered, or with --contiguous in one piece. --write-share of them write, others read.\n"
        "--levels in place of hot and cold: N of as many chunks each, the n-th with 1/n of the\n"
        "first's updates. --cpus: a thread on each of these, with lines of its own in every page.\n"
        "--jump-* draw another hot set. --place truth moves the hot chunks to the first of "
        "--nodes\n"
        "before the work: those of now and, where it jumps once, of then; else after each "
        "jump.\n") +
    Stage::kUsage;

struct Plan {
  std::uint64_t size = 0, seed = 0;
  HotSet::Plan hot{};
  std::uint64_t nr_levels = 0;
  std::vector<int> cpus;
  double writes = 0;
  bool is_huge = false;
};

Plan read_plan(Options& options, const Stage& stage) {
  Plan plan;
  plan.size = options.bytes("--size", 1ull << 30);
  const std::uint64_t chunk = options.bytes("--chunk", 2ull << 20);
  const std::uint64_t hot_bytes = options.bytes_or_share("--hot", 0.10, plan.size);
  plan.hot.hot_accesses = options.share("--hot-updates", 0.90);
  plan.hot.is_contiguous = options.flag("--contiguous");
  plan.writes = options.share("--write-share", 1.0);
  plan.is_huge = read_is_huge(options);
  plan.seed = options.number("--seed", 1);
  plan.nr_levels = options.number("--levels", 0);
  plan.cpus = options.numbers("--cpus", "", "one for each thread");
  options.finish();
  if (!std::has_single_bit(chunk) || chunk < kPage) options.fail("--chunk: want 4KiB, 8KiB, ...");
  if (plan.size == 0 || plan.size % chunk != 0 || plan.size > 32ull << 30)
    options.fail("--size: want a multiple of --chunk, at most 32GiB");
  if (hot_bytes > plan.size) options.fail("--hot is larger than --size");
  plan.hot.words = plan.size / 8;
  plan.hot.chunk_words = chunk / 8;
  plan.hot.nr_hot = std::max<std::uint64_t>(hot_bytes / chunk, 1);
  if (plan.hot.hot_accesses * static_cast<double>(plan.size) <
      static_cast<double>(plan.hot.nr_hot * chunk))
    options.fail("--hot-updates is less than the share of the memory that is hot");
  if (plan.nr_levels == 1 || plan.nr_levels > Levels::kMost ||
      (plan.nr_levels != 0 && plan.size / chunk % plan.nr_levels != 0))
    options.fail("--levels: want 2 to 64 that share the chunks of --size evenly");
  if (!plan.cpus.empty() && (!std::has_single_bit(plan.cpus.size()) || plan.cpus.size() > 64))
    options.fail("--cpus: want 1, 2, 4, ... 64 of them");
  if (plan.cpus.size() > 1 && stage.keeps_rate())
    options.fail("--rate holds one thread back: leave it or --cpus out");
  return plan;
}

void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0)
    throw std::system_error(errno, std::generic_category(), "CPU " + std::to_string(cpu));
}

/// One thread's part: of every kPage / 64 lines those that are its own, so that no two write a
/// word.
struct alignas(64) Worker {
  Worker(std::uint64_t seed, std::uint64_t lane) : bits(seed), lane_word(lane * kLineWords) {}

  static constexpr std::uint64_t kLineWords = 8;
  QuickRandom bits;
  std::uint64_t lane_word, sum = 0, read_from_zero = 0;
  std::atomic<std::uint64_t> ops = 0;  // of a thread beside the first, which reads it
};

enum class Mix { kReads, kWrites, kBoth };

template <typename Set>
class Gups {
 public:
  Gups(const Plan& plan, const typename Set::Plan& set, Stage& stage)
      : plan_(plan),
        set_plan_(set),
        stage_(stage),
        random_(plan.seed),
        memory_(plan.size, plan.is_huge) {
    workers_.emplace_back(random_.next(), 0);
    for (std::uint64_t lane = 1; lane < plan.cpus.size(); ++lane)
      workers_.emplace_back(plan.seed + lane, lane);
    hot_ = &sets_.emplace_back(set_plan_, random_);
    sets_.emplace_back(set_plan_, random_);
    for (auto cpu = plan.cpus.rbegin(); cpu != plan.cpus.rend(); ++cpu) stay_on(*cpu);
    memory_.touch();
  }

  int run() {
    stage_.ready(memory_.range(), truth(sets_.front()), plan_.is_huge ? kHugePage : kPage,
                 truth(sets_.back()));
    if (plan_.writes == 0)
      work<Mix::kReads>();
    else if (plan_.writes == 1)
      work<Mix::kWrites>();
    else
      work<Mix::kBoth>();
    stage_.over();
    if (!stage_.checks()) return stage_.end(0);
    std::uint64_t added = 0, read_from_zero = 0;
    for (const Worker& worker : workers_) {
      added += worker.sum;
      read_from_zero |= worker.read_from_zero;
    }
    const auto* words = memory_.as<std::uint64_t>();
    const bool is_wrong =
        std::accumulate(words, words + plan_.hot.words, std::uint64_t{0}) != added;
    return stage_.end(is_wrong || read_from_zero != 0);
  }

 private:
  static constexpr std::uint64_t kBatch = 64;

  template <Mix kMix>
  void work() {
    if (workers_.size() == 1) return lead<kMix, true>();
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers_.size(); ++i)
      others.emplace_back([this, i](const std::stop_token& stop) {
        stay_on(plan_.cpus[i]);
        while (!stop.stop_requested()) {
          update<kMix, false>(workers_[i]);
          workers_[i].ops.fetch_add(kBatch, std::memory_order_relaxed);
        }
      });
    lead<kMix, false>();
  }

  template <Mix kMix, bool kIsAlone>
  void lead() {
    std::uint64_t seen = 0, done = 0;
    do {
      if (stage_.jump_is_due()) jump();
      update<kMix, kIsAlone>(workers_.front());
      done = seen;
      seen = kIsAlone ? 0 : others_ops();
    } while (stage_.goes_on(kBatch + seen - done));
  }

  std::uint64_t others_ops() const {
    return std::accumulate(workers_.begin() + 1, workers_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Worker& worker) {
                             return sum + worker.ops.load(std::memory_order_relaxed);
                           });
  }

  /// No set is freed: another thread may still draw from it.
  void jump() {
    const Set& set = sets_.back();
    sets_.emplace_back(set_plan_, random_);
    hot_ = &set;
    stage_.jump(truth(set));
  }

  /// What is added is random, too; memory then holds the sum of all that was added.
  template <Mix kMix, bool kIsAlone>
  void update(Worker& worker) {
    const Set& hot = *hot_.load(std::memory_order_relaxed);
    auto* words = memory_.as<std::uint64_t>();
    const auto write_below = static_cast<std::uint64_t>(plan_.writes * 0x1p16);
    const std::uint64_t not_lane = ~((workers_.size() - 1) * Worker::kLineWords);
    std::uint64_t sum = 0, read = 0;
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      const std::uint64_t bits = worker.bits.next(), drawn = hot.word(bits);
      std::uint64_t& word = words[kIsAlone ? drawn : (drawn & not_lane) | worker.lane_word];
      if (kMix == Mix::kWrites || (kMix == Mix::kBoth && ((bits >> 16) & 0xffff) < write_below)) {
        word += bits;
        sum += bits;
      } else {
        read += word;
      }
    }
    worker.sum += sum;
    if (kMix == Mix::kReads) worker.read_from_zero |= read;
    asm volatile("" : : "r"(read));  // reads of a mix are wanted, their sum is not
  }

  std::vector<Range> truth(const Set& set) const {
    std::vector<Range> hot = set.ranges();
    for (Range& range : hot) range.start += memory_.range().start;
    return hot;
  }

  const Plan& plan_;
  const typename Set::Plan set_plan_;
  Stage& stage_;
  Random random_;
  Memory memory_;
  std::deque<Worker> workers_;
  std::deque<Set> sets_;  // of now and before, and the next one
  std::atomic<const Set*> hot_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kKnown);
  const Plan plan = read_plan(options, stage);
  return options.attempt([&] {
    if (plan.nr_levels == 0) return Gups<HotSet>(plan, plan.hot, stage).run();
    const Levels::Plan levels{plan.hot.words, plan.hot.chunk_words, plan.nr_levels};
    return Gups<Levels>(plan, levels, stage).run();
  });
}
