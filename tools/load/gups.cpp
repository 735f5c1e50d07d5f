// SPDX-License-Identifier: MIT
// hmk-load-gups: random updates on anonymous memory with a hot set that is known exactly.
//
// The memory is cut into chunks; some of them, at random places or in one piece, are hot. Prints
// its truth (the hot ranges) first, then one line per second; verifies a checksum at the end.
#include <sys/mman.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "options.hpp"
#include "random.hpp"

namespace {

using hmk::load::Options;
using hmk::load::Random;
using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: hmk-load-gups [--size 1GiB] [--chunk 2MiB] [--hot 10%] [--hot-updates 90%]\n"
    "                     [--contiguous] [--write-share 100%] [--pages 4KiB|thp] [--jump-after "
    "TIME]\n"
    "                     [--for TIME] [--updates N] [--seed N]\n"
    "Updates random 64-bit words; --hot-updates of them fall into the --hot share of the chunks.\n"
    "--jump-after draws a new hot set once. Ends after --for, --updates or SIGTERM.\n"
    "JSON lines on stdout; exit code 0, 1 (memory does not hold what was written), 2 (usage).";

struct Plan {
  std::uint64_t size, chunk, for_ms, jump_ms, updates, seed;
  double hot, hot_updates, writes;
  bool is_contiguous, is_huge;
};

volatile std::sig_atomic_t stop_asked = 0;

Plan read_plan(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Plan plan{};
  plan.size = options.bytes("--size", 1ull << 30);
  plan.chunk = options.bytes("--chunk", 2ull << 20);
  plan.hot = options.share("--hot", 0.10);
  plan.hot_updates = options.share("--hot-updates", 0.90);
  plan.writes = options.share("--write-share", 1.0);
  plan.is_contiguous = options.flag("--contiguous");
  const std::string pages = options.text("--pages", "4KiB");
  plan.is_huge = pages == "thp";
  plan.jump_ms = options.milliseconds("--jump-after", 0);
  plan.for_ms = options.milliseconds("--for", 0);
  plan.updates = options.number("--updates", 0);
  plan.seed = options.number("--seed", 1);
  options.finish();
  if (!plan.is_huge && pages != "4KiB") options.fail("--pages " + pages + ": want 4KiB or thp");
  if (plan.chunk == 0 || plan.chunk % 4096 != 0 || plan.size == 0 || plan.size % plan.chunk != 0)
    options.fail("--size must be a multiple of --chunk, and --chunk of 4KiB");
  return plan;
}

/// Chunk numbers, the hot ones first. All chunks once, so every word can be drawn.
std::vector<std::uint64_t> draw_hot(const Plan& plan, std::uint64_t nr_hot, Random& random) {
  std::vector<std::uint64_t> chunks(plan.size / plan.chunk);
  std::iota(chunks.begin(), chunks.end(), 0);
  if (plan.is_contiguous) {
    const auto first = random.below(chunks.size() - nr_hot + 1);
    std::rotate(chunks.begin(), chunks.begin() + static_cast<long>(first), chunks.end());
  } else {
    for (std::uint64_t i = 0; i < nr_hot; ++i)
      std::swap(chunks[i], chunks[i + random.below(chunks.size() - i)]);
  }
  return chunks;
}

void print_truth(const Plan& plan, const std::uint64_t* words, std::vector<std::uint64_t> chunks,
                 std::uint64_t nr_hot) {
  std::sort(chunks.begin(), chunks.begin() + static_cast<long>(nr_hot));
  std::printf("{\"verb\": \"truth\", \"pid\": %d, \"start\": %lu, \"length\": %lu, \"hot\": [",
              getpid(), reinterpret_cast<std::uintptr_t>(words), plan.size);
  for (std::uint64_t i = 0, run; i < nr_hot; i += run) {
    for (run = 1; i + run < nr_hot && chunks[i + run] == chunks[i] + run;) ++run;
    std::printf("%s[%lu, %lu]", i == 0 ? "" : ", ",
                reinterpret_cast<std::uintptr_t>(words) + chunks[i] * plan.chunk, run * plan.chunk);
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = read_plan(argc, argv);
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });

  constexpr std::uint64_t kHuge = 2ull << 20;
  void* mapping = mmap(nullptr, plan.size + kHuge, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    std::perror("hmk-load-gups: mmap");
    return 1;
  }
  auto* words = reinterpret_cast<std::uint64_t*>(
      static_cast<char*>(mapping) + (-reinterpret_cast<std::uintptr_t>(mapping) & (kHuge - 1)));
  madvise(words, plan.size, plan.is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(words, 0, plan.size);  // first touch, in order

  Random random(plan.seed);
  const std::uint64_t nr_chunks = plan.size / plan.chunk, chunk_words = plan.chunk / 8;
  const auto nr_hot = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(plan.hot * static_cast<double>(nr_chunks)), 1, nr_chunks);
  std::vector<std::uint64_t> chunks = draw_hot(plan, nr_hot, random);
  print_truth(plan, words, chunks, nr_hot);

  const auto started = Clock::now();
  auto report_at = started + std::chrono::seconds(1);
  std::uint64_t total = 0, reported = 0, sum = 0, read_sum = 0;
  bool is_jump_due = plan.jump_ms != 0;
  while (!stop_asked && (plan.updates == 0 || total < plan.updates)) {
    constexpr std::uint64_t kBatch = 1 << 14;
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      const bool is_hot = random.unit() < plan.hot_updates || nr_hot == nr_chunks;
      const std::uint64_t at =
          is_hot ? random.below(nr_hot) : nr_hot + random.below(nr_chunks - nr_hot);
      std::uint64_t& word = words[chunks[at] * chunk_words + random.below(chunk_words)];
      if (random.unit() < plan.writes) {
        word += total + i;
        sum += total + i;
      } else {
        read_sum += word;
      }
    }
    total += kBatch;
    const auto now = Clock::now();
    if (is_jump_due && now - started >= std::chrono::milliseconds(plan.jump_ms)) {
      is_jump_due = false;
      chunks = draw_hot(plan, nr_hot, random);
      print_truth(plan, words, chunks, nr_hot);
    }
    if (now >= report_at) {
      std::printf("{\"verb\": \"run\", \"updates\": %lu}\n", total - reported);
      std::fflush(stdout);
      reported = total;
      report_at += std::chrono::seconds(1);
    }
    if (plan.for_ms != 0 && now - started >= std::chrono::milliseconds(plan.for_ms)) break;
  }
  const std::uint64_t found = std::accumulate(words, words + plan.size / 8, std::uint64_t{0});
  std::printf("{\"verb\": \"end\", \"updates\": %lu, \"wrong_values\": %d, \"read_sum\": %lu}\n",
              total, found != sum, read_sum);
  return found == sum ? 0 : 1;
}
