// SPDX-License-Identifier: MIT
// hmk-load-sort: sorts records by random keys, again and again until stopped.
#include "sort.hpp"

#include "stage.hpp"

namespace {

using namespace hmk::load;

const std::string kUsage =
    std::string(
        "usage: hmk-load-sort [--size 1200MiB] [--pages 4KiB|thp] [--seed N]\n"
        "As many records of 100 bytes as --size holds twice: samples, partitions, "
        "sorts\n"
        "each part, validates order and content, draws new keys, and starts again. An operation is "
        "a\n"
        "record that passed one of these steps.\n") +
    Stage::kUsage;

struct Plan {
  std::uint64_t records = 0, seed = 0;
  bool is_huge = false;
};

Plan read_plan(Options& options) {
  Plan plan;
  const std::uint64_t bytes = options.bytes("--size", 1200ull << 20);
  plan.is_huge = read_is_huge(options);
  plan.seed = options.number("--seed", 1);
  options.finish();
  if (bytes < 1 << 20) options.fail("--size: want at least 1MiB");
  plan.records = bytes / (2 * sizeof(Record) + 1);
  return plan;
}

struct Unlimited {
  bool goes_on(std::uint64_t) { return true; }
};

int run(const Plan& plan, Stage& stage) {
  Memory memory(plan.records * (2 * sizeof(Record) + 1), plan.is_huge);
  memory.touch();
  auto* records = memory.as<Record>();
  Sorter sorter(records, records + plan.records,
                memory.as<std::uint8_t>(2 * plan.records * sizeof(Record)), plan.records,
                plan.seed);
  Unlimited unlimited;
  sorter.fill(unlimited);
  stage.ready(memory.range());
  std::uint64_t wrong = 0, rounds = 0;
  while (sorter.round(stage) && (!stage.checks() || sorter.validate(stage, wrong))) ++rounds;
  stage.over();
  if (stage.checks()) wrong += sorter.is_changed();
  return stage.end(wrong, ", \"records\": " + std::to_string(plan.records) +
                              ", \"rounds\": " + std::to_string(rounds));
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kUnknown);
  const Plan plan = read_plan(options);
  return options.attempt([&] { return run(plan, stage); });
}
