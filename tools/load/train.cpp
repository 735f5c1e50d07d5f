// SPDX-License-Identifier: MIT
// hmk-load-train: uses memory as the training of a network does.
#include "train.hpp"

#include "stage.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-train [--size 192MiB] [--pages 4KiB|thp] [--compute N]\n"
        "24 layers forward and backward, with Adam's moments, in whole numbers. An operation is a\n"
        "word that was computed; --compute: rounds of arithmetic for each (4).\n") +
    Stage::kUsage;

constexpr std::uint64_t kMostRounds = 1000;

struct Plan {
  Net net;
  bool is_huge = false;
};

Plan read_plan(Options& options) {
  Plan plan;
  const std::uint64_t bytes = options.bytes("--size", 192ull << 20);
  const std::uint64_t compute = options.number("--compute", plan.net.compute);
  plan.is_huge = read_is_huge(options);
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
  stage.ready(memory.range());
  while (stage.goes_on(trainer.work(1))) continue;
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
