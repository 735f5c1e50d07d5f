// SPDX-License-Identifier: MIT
// hmk-load-gups: random updates on anonymous memory with a hot set that is known exactly.
#include <cinttypes>
#include <exception>
#include <numeric>
#include <utility>

#include "hot_set.hpp"
#include "random.hpp"
#include "stage.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-gups [--size 1GiB] [--chunk 2MiB] [--hot 10%|SIZE] [--hot-updates 90%]\n"
        "                     [--contiguous] [--write-share 100%] [--pages 4KiB|thp] [--seed N]\n"
        "                     [--jump-after TIME] [--jump-every TIME]\n"
        "                     [--place truth] [--nodes 0,1,2,3] [--reserve 24MiB]\n"
        "Updates random 64-bit words; --hot-updates of them fall into the hot chunks, which are\n"
        "scattered, or with --contiguous in one piece. --write-share of them write, others read.\n"
        "--jump-* draw another hot set. --place truth moves the hot chunks to the first of "
        "--nodes\n"
        "before the work: those of now and, where it jumps once, of then; else after each "
        "jump.\n") +
    Stage::kUsage;

struct Plan {
  std::uint64_t size = 0, seed = 0;
  HotSet::Plan hot{};
  double writes = 0;
  bool is_huge = false;
};

Plan read_plan(Options& options) {
  Plan plan;
  plan.size = options.bytes("--size", 1ull << 30);
  const std::uint64_t chunk = options.bytes("--chunk", 2ull << 20);
  const std::uint64_t hot_bytes = options.bytes_or_share("--hot", 0.10, plan.size);
  plan.hot.hot_accesses = options.share("--hot-updates", 0.90);
  plan.hot.is_contiguous = options.flag("--contiguous");
  plan.writes = options.share("--write-share", 1.0);
  plan.is_huge = read_is_huge(options);
  plan.seed = options.number("--seed", 1);
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
  return plan;
}

class Gups {
 public:
  Gups(const Plan& plan, Stage& stage)
      : plan_(plan),
        stage_(stage),
        random_(plan.seed),
        bits_(random_.next()),
        memory_(plan.size, plan.is_huge),
        hot_(plan.hot, random_),
        next_(plan.hot, random_) {
    memory_.touch();
  }

  int run() {
    stage_.ready(memory_.range(), truth(hot_), plan_.is_huge ? kHugePage : kPage, truth(next_));
    if (plan_.writes == 0)
      work<Mix::kReads>();
    else if (plan_.writes == 1)
      work<Mix::kWrites>();
    else
      work<Mix::kBoth>();
    stage_.over();
    if (!stage_.checks()) return stage_.end(0);
    const auto* words = memory_.as<std::uint64_t>();
    const bool is_wrong = std::accumulate(words, words + plan_.hot.words, std::uint64_t{0}) != sum_;
    return stage_.end(is_wrong || read_from_zero_ != 0);
  }

 private:
  enum class Mix { kReads, kWrites, kBoth };

  template <Mix kMix>
  void work() {
    constexpr std::uint64_t kBatch = 64;
    do {
      if (stage_.jump_is_due()) {
        hot_ = std::exchange(next_, HotSet(plan_.hot, random_));
        stage_.jump(truth(hot_));
      }
      update<kMix>(kBatch);
    } while (stage_.goes_on(kBatch));
  }

  /// What is added is random, too; memory then holds the sum of all that was added.
  template <Mix kMix>
  void update(std::uint64_t nr) {
    auto* words = memory_.as<std::uint64_t>();
    const auto write_below = static_cast<std::uint64_t>(plan_.writes * 0x1p16);
    std::uint64_t sum = 0, read = 0;
    for (std::uint64_t i = 0; i < nr; ++i) {
      const std::uint64_t bits = bits_.next();
      std::uint64_t& word = words[hot_.word(bits)];
      if (kMix == Mix::kWrites || (kMix == Mix::kBoth && ((bits >> 16) & 0xffff) < write_below)) {
        word += bits;
        sum += bits;
      } else {
        read += word;
      }
    }
    sum_ += sum;
    if (kMix == Mix::kReads) read_from_zero_ |= read;
    asm volatile("" : : "r"(read));  // reads of a mix are wanted, their sum is not
  }

  std::vector<Range> truth(const HotSet& set) const {
    std::vector<Range> hot = set.ranges();
    for (Range& range : hot) range.start += memory_.range().start;
    return hot;
  }

  const Plan& plan_;
  Stage& stage_;
  Random random_;
  QuickRandom bits_;
  Memory memory_;
  HotSet hot_, next_;
  std::uint64_t sum_ = 0, read_from_zero_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kKnown);
  const Plan plan = read_plan(options);
  try {
    return Gups(plan, stage).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmk-load-gups: %s\n", error.what());
    return 1;
  }
}
