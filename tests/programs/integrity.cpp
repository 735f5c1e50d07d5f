// SPDX-License-Identifier: MIT
// hmk-integrity: do moved pages keep every write? (kmod/migrate.c, the promise of the pre-copy)
//
// Every page holds a version in several words. A reader looks at half of the pages, a hot writer
// keeps rewriting a quarter, a slow writer the last quarter; each visit compares all versions of
// the page with a private copy. Meanwhile the range is moved from node to node. A lost write shows
// as an old version, a torn copy as different versions, a stale mapping as either.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "common.hpp"
#include "options.hpp"

namespace {

using namespace hmk::test;
using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: hmk-integrity [--size 64MiB] [--for 60s] [--pages 4KiB|thp|shmem] [--chunk N]\n"
    "                     [--force-vma] [--sync] [--clear-refs] [--mover-first] [--no-flush] "
    "[--write-bit] [--no-move]\n"
    "Moves the range over all nodes with memory, round robin, through /dev/hmk while a reader and "
    "two\n"
    "writers check every page they visit. --chunk pages are committed at a time. --clear-refs "
    "takes "
    "the\n"
    "write bit of all pages away, again and again, as checkpointing does. --mover-first: "
    "the others have\n"
    "a tenth of a CPU each, so that one they share is spent on moves. --no-flush leaves the "
    "TLB "
    "flush\n"
    "out, --write-bit takes that bit alone for the sign of a write (both need a module with test "
    "switches):\n"
    "the negative controls. --no-move only checks.\n"
    "One JSON line; exit code 0, 1 (corruption found), 2 (usage), 3 (could not be tested).";

struct Plan {
  std::uint64_t size, for_ms;
  Pages pages;
  hmk_move move;  // size, flags and chunk
  bool is_moving, is_clearing, is_mover_first;
};

/// The versions of one page: one word in each of 16 places, no two in the same cache line.
class Page {
 public:
  static constexpr std::size_t kWords = 16, kStride = kPage / kWords / sizeof(std::uint64_t);

  explicit Page(char* at) : words_(reinterpret_cast<volatile std::uint64_t*>(at)) {}

  void write(std::uint64_t version) const {
    for (std::size_t i = 0; i < kWords; ++i) words_[i * kStride + i % kStride] = version + i;
  }
  /// True when all words hold @version; else @found is the first that does not.
  bool holds(std::uint64_t version, std::uint64_t& found) const {
    for (std::size_t i = 0; i < kWords; ++i) {
      found = words_[i * kStride + i % kStride] - i;
      if (found != version) return false;
    }
    return true;
  }

 private:
  volatile std::uint64_t* words_;
};

/// One thread's share of the pages and what it knows about them.
class Visitor {
 public:
  Visitor(const char* name, char* start, std::size_t nr_pages) : name_(name), start_(start) {
    for (std::size_t i = 0; i < nr_pages; ++i) {
      shadow_.push_back((reinterpret_cast<std::uintptr_t>(start) / kPage + i) << 32);
      page(i).write(shadow_[i]);
    }
  }

  void check(std::size_t i) {
    std::uint64_t found = 0;
    ++visits_;
    if (page(i).holds(shadow_[i], found)) return;
    if (++corrupt_ <= 5)
      std::fprintf(stderr, "corrupt page: thread=%s page=%zu expected=%#lx found=%#lx\n", name_, i,
                   shadow_[i], found);
    page(i).write(shadow_[i]);  // count each event once
  }
  void rewrite(std::size_t i) {
    check(i);
    page(i).write(++shadow_[i]);
  }

  std::size_t size() const { return shadow_.size(); }
  std::uint64_t corrupt() const { return corrupt_; }
  std::uint64_t visits() const { return visits_; }

 private:
  Page page(std::size_t i) const { return Page(start_ + i * kPage); }

  const char* name_;
  char* start_;
  std::vector<std::uint64_t> shadow_;
  std::uint64_t corrupt_ = 0, visits_ = 0;
};

/// What all moves came to.
struct Sum {
  std::uint64_t rounds = 0, off_target = 0, commit_max_ns = 0, paths = 0, errors = 0;
  hmk_range_result result{};

  std::uint64_t page_moves() const {
    return result.pages_clean + result.pages_recopied + result.pages_sync;
  }
  void add(const hmk_range_result& r) {
    result.pages_clean += r.pages_clean;
    result.pages_recopied += r.pages_recopied;
    result.pages_sync += r.pages_sync;
    for (int i = 0; i < HMK_REFUSED_NR; ++i) result.refused[i] += r.refused[i];
    commit_max_ns = std::max<std::uint64_t>(commit_max_ns, r.commit_max_ns);
    paths |= r.paths;
    errors += r.error != 0;
  }
};

Plan read_plan(int argc, char** argv) {
  hmk::load::Options options(argc, argv, kUsage);
  Plan plan{};
  plan.size = options.bytes("--size", 64ull << 20);
  plan.for_ms = options.milliseconds("--for", 60000);
  plan.move.size = sizeof(plan.move);
  plan.move.chunk_pages = static_cast<std::uint32_t>(options.number("--chunk", 0));
  plan.move.flags |= options.flag("--force-vma") ? HMK_MOVE_FORCE_VMA : 0;
  plan.move.flags |= options.flag("--sync") ? HMK_MOVE_SYNC_COPY : 0;
  plan.move.flags |= options.flag("--no-flush") ? HMK_MOVE_TEST_NO_FLUSH : 0;
  plan.move.flags |= options.flag("--write-bit") ? HMK_MOVE_TEST_WRITE_BIT : 0;
  plan.is_clearing = options.flag("--clear-refs");
  plan.is_mover_first = options.flag("--mover-first");
  plan.is_moving = !options.flag("--no-move");
  const std::string pages = options.text("--pages", "4KiB");
  plan.pages = pages == "thp"     ? Pages::kTransparentHuge
               : pages == "shmem" ? Pages::kShared
                                  : Pages::kBase;
  options.finish();
  if (plan.pages == Pages::kBase && pages != "4KiB")
    options.fail("--pages " + pages + ": want 4KiB, thp or shmem");
  if (plan.size == 0 || plan.size % (4 * kHuge) != 0)
    options.fail("--size must be a multiple of 8MiB");
  return plan;
}

/// Moves the whole range to @node, waits, and looks where its pages are.
void move_once(const Session& session, const Plan& plan, const char* data, int node, Sum& sum) {
  hmk_range range{};
  range.start = reinterpret_cast<std::uintptr_t>(data);
  range.length = plan.size;
  range.node = node;
  hmk_range_result result{};
  hmk_move move = plan.move;
  move.ranges = reinterpret_cast<std::uintptr_t>(&range);
  move.results = reinterpret_cast<std::uintptr_t>(&result);
  move.nr_ranges = 1;
  if (ioctl(session.fd(), HMK_IOC_MOVE, &move) < 0)
    fail("HMK_IOC_MOVE to node " + std::to_string(node));
  sum.add(result);
  ++sum.rounds;
  const std::vector<int> status = nodes_of(data, plan.size / kPage);
  sum.off_target += static_cast<std::uint64_t>(
      std::count_if(status.begin(), status.end(), [&](int where) { return where != node; }));
}

/// Clears the soft-dirty bits of this process: entries lose their write bit, not their dirty bit.
void clear_refs() {
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << "4" << std::flush)) std::abort();
}

void print(const Plan& plan, const Sum& sum, std::uint64_t corrupt, std::uint64_t visits) {
  static constexpr const char* kReasons[] = {"pinned", "shared", "busy", "no_room", "kind", "gone"};
  std::printf(
      "{\"pages\": %lu, \"rounds\": %lu, \"page_moves\": %lu, \"clean\": %llu, "
      "\"recopied\": %llu, \"sync\": %llu, \"off_target\": %lu, \"refused\": {",
      plan.size / kPage, sum.rounds, sum.page_moves(), sum.result.pages_clean,
      sum.result.pages_recopied, sum.result.pages_sync, sum.off_target);
  for (std::size_t i = 0; i < std::size(kReasons); ++i)
    std::printf("%s\"%s\": %llu", i == 0 ? "" : ", ", kReasons[i], sum.result.refused[i]);
  std::printf(
      "}, \"errors\": %lu, \"paths\": %lu, \"commit_max_ns\": %lu, \"visits\": %lu, "
      "\"corrupt\": %lu}\n",
      sum.errors, sum.paths, sum.commit_max_ns, visits, corrupt);
}

int test(const Plan& plan) {
  const std::vector<int> nodes = nodes_with_memory();
  std::unique_ptr<Session> session;
  if (plan.is_moving) session = std::make_unique<Session>(getpid());
  const Memory memory(plan.size, plan.pages);

  const std::size_t quarter = plan.size / kPage / 4;
  Visitor reader("reader", memory.data(), 2 * quarter);
  Visitor hot("hot-writer", memory.data() + 2 * quarter * kPage, quarter);
  Visitor slow("slow-writer", memory.data() + 3 * quarter * kPage, quarter);

  std::atomic<bool> is_over{false};
  const auto until_over = [&](const std::function<void()>& round) {
    return std::thread([&is_over, &plan, round] {
      // Still a turn while a chunk is under way: no turn is shorter than a millisecond.
      if (plan.is_mover_first) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
      while (!is_over.load(std::memory_order_relaxed)) round();
    });
  };
  std::vector<std::thread> threads;
  threads.push_back(until_over([&] {
    for (std::size_t i = 0; i < reader.size() && !is_over; ++i) reader.check(i);
  }));
  // Round after round without a pause: whatever is being pre-copied is written meanwhile, and the
  // TLB entries of all its pages stay in use, which is what a missing flush needs to show.
  threads.push_back(until_over([&] {
    for (std::size_t i = 0; i < hot.size() && !is_over; ++i) hot.rewrite(i);
  }));
  threads.push_back(until_over([&, i = std::size_t{0}]() mutable {
    slow.rewrite(i);
    i = i + 1 < slow.size() ? i + 1 : 0;
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }));

  if (plan.is_clearing) threads.push_back(until_over(clear_refs));

  Sum sum;
  std::exception_ptr error;
  const auto end = Clock::now() + std::chrono::milliseconds(plan.for_ms);
  try {
    for (std::size_t i = 0; Clock::now() < end; i = (i + 1) % nodes.size()) {
      if (plan.is_moving)
        move_once(*session, plan, memory.data(), nodes[i], sum);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  } catch (...) {
    error = std::current_exception();
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);

  std::uint64_t corrupt = 0, visits = 0;
  for (Visitor* visitor : {&reader, &hot, &slow}) {
    for (std::size_t i = 0; i < visitor->size(); ++i) visitor->check(i);
    corrupt += visitor->corrupt();
    visits += visitor->visits();
  }
  print(plan, sum, corrupt, visits);
  return corrupt == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = read_plan(argc, argv);
  try {
    return test(plan);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmk-integrity: %s\n", error.what());
    return kExitCannot;
  }
}
