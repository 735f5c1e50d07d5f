// SPDX-License-Identifier: MIT
// hmk-load-train: uses memory as the training of a network does.
#include "train.hpp"

#include "stage.hpp"
#include "train_hints.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-train [--size 192MiB] [--pages 4KiB|thp] [--compute N]\n"
        "                      [--hints none|past|next|both|lies]\n"
        "24 layers forward and backward, with Adam's moments, in whole numbers. An operation is a\n"
        "word that was computed; --compute: rounds of arithmetic for each (4). --hints: it says\n"
        "by libhmk what is dead or not used for a while, what is used next, or anything.\n") +
    Stage::kUsage;

constexpr std::uint64_t kMostRounds = 1000;

struct Plan {
  Net net;
  bool is_huge = false;
  unsigned says = 0;  // TrainHints::k...
};

unsigned read_hints(Options& options) {
  const std::string said = options.text("--hints", "none");
  for (const auto& [word, says] : {std::pair{"none", 0u},
                                   {"past", TrainHints::kPast},
                                   {"next", TrainHints::kNext},
                                   {"both", TrainHints::kPast | TrainHints::kNext},
                                   {"lies", TrainHints::kLies}})
    if (said == word) return says;
  options.fail("--hints " + said + ": want none, past, next, both or lies");
}

Plan read_plan(Options& options) {
  Plan plan;
  const std::uint64_t bytes = options.bytes("--size", 192ull << 20);
  const std::uint64_t compute = options.number("--compute", plan.net.compute);
  plan.is_huge = read_is_huge(options);
  plan.says = read_hints(options);
  plan.net.gives_back = (plan.says & TrainHints::kPast) != 0;
  options.finish();
  const std::uint64_t block = Net::words_of_lane() * Net::kBlock * sizeof(Trainer::Word);
  if (bytes < block) options.fail("--size: want at least " + std::to_string(block) + "B");
  if (compute > kMostRounds) options.fail("--compute: want at most " + std::to_string(kMostRounds));
  plan.net.lanes = bytes / block * Net::kBlock;
  plan.net.compute = static_cast<unsigned>(compute);
  return plan;
}

int run(const Plan& plan, Stage& stage) {
  Memory memory(plan.net.words() * sizeof(Trainer::Word), plan.is_huge);
  memory.touch();
  Trainer trainer(plan.net, memory.as<Trainer::Word>());
  TrainHints hints(trainer, plan.says);
  stage.ready(memory.range());
  while (stage.goes_on(trainer.work(1))) hints.at(trainer.steps());
  stage.over();
  return stage.end(stage.checks() ? trainer.wrong() : 0,
                   ", \"iterations\": " + std::to_string(trainer.iterations()));
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kUnknown);
  const Plan plan = read_plan(options);
  return options.attempt([&] { return run(plan, stage); });
}
