// SPDX-License-Identifier: MIT
// hmk-load-stream: sweeps over three large arrays as STREAM's triad does; bandwidth is all it
// wants.
#include "stage.hpp"
#include "triad.hpp"

namespace {

using namespace hmk::load;

constexpr std::uint64_t kLineWords = 8, kBatch = 64;  // an operation is a line of each array

const std::string kUsage = std::string(
                               "usage: hmk-load-stream [--size 1200MiB] [--pages 4KiB|thp]\n"
                               "Three arrays of --size together: a = b + 3 * c from front to back, "
                               "then b = c + 3 * a,\n"
                               "and so on. An operation is a line of each.\n") +
                           Stage::kUsage;

struct Plan {
  std::uint64_t words = 0;  // of an array
  bool is_huge = false;
};

Plan read_plan(Options& options) {
  Plan plan;
  const std::uint64_t bytes = options.bytes("--size", 1200ull << 20);
  plan.is_huge = read_is_huge(options);
  options.finish();
  if (bytes < 1 << 20) options.fail("--size: want at least 1MiB");
  plan.words = bytes / sizeof(Triad::Word) / 3 / kLineWords * kLineWords;
  return plan;
}

int run(const Plan& plan, Stage& stage) {
  Memory memory(3 * plan.words * sizeof(Triad::Word), plan.is_huge);
  Triad triad(memory.as<Triad::Word>(), plan.words);
  stage.ready(memory.range());
  while (stage.goes_on(triad.work(kBatch * kLineWords) / kLineWords)) continue;
  stage.over();
  return stage.end(stage.checks() ? triad.wrong() : 0,
                   ", \"sweeps\": " + std::to_string(triad.sweeps()));
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Stage stage(options, Truth::kUnknown);
  const Plan plan = read_plan(options);
  return options.attempt([&] { return run(plan, stage); });
}
