// SPDX-License-Identifier: MIT
// hmk-stall: a program whose memory is moved to another node while it works: how long is it kept
// waiting?
//
// One thread on CPU 0 reads or writes a word of a random page, again and again; another, on CPU 2,
// has all pages moved. A wait is an access during which the thread took a page fault: the time
// until it went on. After the move every page is accessed once more, so that faults the move leaves
// behind are counted with it. Mark 0 of the counting plugin is the start of the move, mark 1 the
// end of that.
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../../tests/support/ship.h"
#include "gaps.hpp"
#include "mark.h"
#include "memory.hpp"
#include "options.hpp"
#include "random.hpp"

namespace {

using namespace hmk::load;
using Clock = std::chrono::steady_clock;

constexpr const char* kShipped = "hm-keeper";    // paired tickets, as hmkd sends them
constexpr const char* kCall = "hm-keeper-call";  // one synchronous request

constexpr const char* kUsage =
    "usage: hmk-stall --method hm-keeper|hm-keeper-call|move_pages|numa-balancing [--size 1GiB]\n"
    "                 [--chunk PAGES] [--pages 4KiB|thp] [--write-percent 0] [--from 1] [--to 0]\n"
    "                 [--limit 120s]\n"
    "Works on its memory while that is moved between the nodes: by paired tickets as hmkd does,\n"
    "by one call, or by the kernel; move_pages in calls of --chunk pages (default: all in one).\n"
    "One JSON line; exit code 1 when a page did not arrive or does not hold what was written.\n"
    "numa-balancing ends when 90 % have arrived or at the limit, with what has arrived by then.";

struct Plan {
  std::string method;
  std::uint64_t size, limit_ms, chunk;  // chunk: pages that one move_pages(2) names
  bool is_huge;
  unsigned write_percent;
  int from, to;
};

/// What became of the pages; of the module's moves also how, and where their time went.
struct Moved {
  std::uint64_t pages = 0, recopied = 0;
  double ms = 0;
  std::uint64_t sync = 0, prepare_ns = 0, copy_ns = 0, commit_ns = 0;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) < 0) fail("CPU " + std::to_string(cpu));
}

void prefer(int node) {
  const unsigned long mask = node < 0 ? 0 : 1ul << node;
  if (syscall(SYS_set_mempolicy, node < 0 ? MPOL_DEFAULT : MPOL_BIND, node < 0 ? nullptr : &mask,
              64) < 0)
    fail("set_mempolicy to node " + std::to_string(node));
}

long faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// The thread that works.
class Worker {
 public:
  Worker(const Memory& memory, const Plan& plan)
      : words_(memory.as<volatile std::uint64_t>()),
        nr_pages_(plan.size / kPage),
        writes_(plan.write_percent) {}

  void access(std::uint64_t page) {
    volatile std::uint64_t* const word = words_ + page * (kPage / sizeof(*words_));
    const bool is_write = random_.below(100) < writes_;
    const std::uint64_t begin = __rdtsc();
    const std::uint64_t value = *word;
    if (is_write) *word = value + 1;
    const std::uint64_t took = __rdtsc() - begin;
    written_ += is_write;
    ++accesses_;
    if (took > kNoticed) look(took);
  }
  void somewhere() { access(random_.below(nr_pages_)); }
  void everywhere() {
    for (std::uint64_t page = 0; page < nr_pages_; ++page) access(page);
  }
  void forget() {
    waits_ = Gaps();
    sum_ = accesses_ = 0;
    faults_ = faults();
  }
  bool holds_everything() const {
    std::uint64_t total = 0;
    for (std::uint64_t page = 0; page < nr_pages_; ++page)
      total += words_[page * (kPage / sizeof(*words_))];
    return total == written_;
  }

  const Gaps& waits() const { return waits_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t accesses() const { return accesses_; }

 private:
  static constexpr std::uint64_t kNoticed = 1000;  // ticks: no fault is as short

  /// Turns of other CPUs, interrupts and flushes take time as well; a fault tells that it was the
  /// page.
  void look(std::uint64_t took) {
    const long now = faults();
    if (now != faults_) {
      waits_.add(took);
      sum_ += took;
    }
    faults_ = now;
  }

  volatile std::uint64_t* words_;
  std::uint64_t nr_pages_;
  unsigned writes_;
  Random random_{42};
  Gaps waits_;
  std::uint64_t sum_ = 0, accesses_ = 0, written_ = 0;
  long faults_ = 0;
};

Moved by_module(const Range& memory, const Plan& plan) {
  const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail(HMK_DEVICE_PATH " (is hmk.ko loaded?)");
  hmk_attach attach{};
  attach.size = sizeof(attach);
  attach.flags = HMK_ATTACH_PID;
  attach.pidfd = getpid();
  if (ioctl(fd, HMK_IOC_ATTACH, &attach) < 0) fail("attach");
  ship moved{};
  ship_begin(&moved, fd, 42);
  HMK_MARK(0);
  if (plan.method == kShipped) {
    errno = ship_move(&moved, SHIP_PAIRED, 0, 0, memory.start, memory.length, plan.to, plan.to);
  } else {
    const hmk_range range{memory.start, memory.length, plan.to, 0, 0};
    errno = ship_send(&moved, SHIP_SYNC, 0, 0, &range, 1);
  }
  if (errno != 0) fail("HMK_IOC_MOVE");
  close(fd);
  const hmk_range_result& sum = moved.sum;
  return {.pages = ship_pages(&sum),
          .recopied = sum.pages_recopied,
          .sync = sum.pages_sync,
          .prepare_ns = sum.prepare_ns,
          .copy_ns = sum.copy_ns,
          .commit_ns = sum.commit_ns};
}

/// Named one by one in 4 KiB pages, but huge pages by their first.
Moved by_call(const Range& memory, const Plan& plan) {
  const std::uint64_t step = plan.is_huge ? kHugePage : kPage, count = memory.length / step;
  std::vector<std::uint64_t> pages(count);
  std::vector<int> nodes(count, plan.to), status(count, -1);
  for (std::uint64_t i = 0; i < count; ++i) pages[i] = memory.start + i * step;
  HMK_MARK(0);
  for (std::uint64_t i = 0; i < count; i += plan.chunk) {
    const std::uint64_t named = std::min(plan.chunk, count - i);
    if (syscall(SYS_move_pages, 0, named, &pages[i], &nodes[i], &status[i], MPOL_MF_MOVE) < 0)
      fail("move_pages");
  }
  Moved moved;
  for (const int where : status) moved.pages += where == plan.to ? step / kPage : 0;
  return moved;
}

void set(const char* path, const char* text) {
  std::ofstream file(path);
  if (!(file << text << std::flush)) fail(path);
}

std::uint64_t promoted() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value)
    if (name == "pgpromote_success") return value;
  throw std::runtime_error("this kernel's NUMA balancing promotes no pages");
}

Moved by_balancing(const Range& memory, const Plan& plan) {
  const std::uint64_t before = promoted(), wanted = memory.length / kPage * 9 / 10;
  const auto end = Clock::now() + std::chrono::milliseconds(plan.limit_ms);
  HMK_MARK(0);
  set("/proc/sys/kernel/numa_balancing", "2");
  while (promoted() - before < wanted && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  set("/proc/sys/kernel/numa_balancing", "0");
  return {promoted() - before, 0};
}

Moved move(const Range& memory, const Plan& plan) {
  run_on(2);
  const auto begin = Clock::now();
  Moved moved = plan.method == kShipped || plan.method == kCall ? by_module(memory, plan)
                : plan.method == "move_pages"                   ? by_call(memory, plan)
                                                                : by_balancing(memory, plan);
  moved.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return moved;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

double in_ms(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

/// Accesses without a move beside them; forgotten afterwards.
double accesses_per_ms(Worker& worker) {
  constexpr std::uint64_t kEnough = 200'000;
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < kEnough; ++i) worker.somewhere();
  return kEnough / std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Plan read_plan(int argc, char** argv) {
  Options options(argc, argv, kUsage);
  Plan plan{};
  plan.method = options.text("--method", "");
  plan.size = options.bytes("--size", 1ull << 30);
  plan.is_huge = read_is_huge(options);
  plan.write_percent = static_cast<unsigned>(options.number("--write-percent", 0));
  plan.from = static_cast<int>(options.number("--from", 1));
  plan.to = static_cast<int>(options.number("--to", 0));
  plan.chunk = options.number("--chunk", plan.size / kPage);
  plan.limit_ms = options.milliseconds("--limit", 120'000);
  options.finish();
  if (plan.method != kShipped && plan.method != kCall && plan.method != "move_pages" &&
      plan.method != "numa-balancing")
    options.fail("--method '" + plan.method +
                 "': want hm-keeper, hm-keeper-call, move_pages or numa-balancing");
  if (plan.chunk == 0 || (plan.chunk != plan.size / kPage && plan.method != "move_pages"))
    options.fail("--chunk must be at least 1, and is of move_pages only");
  if (plan.size == 0 || plan.size % kHugePage != 0)
    options.fail("--size must be a multiple of 2MiB");
  return plan;
}

bool run(const Plan& plan) {
  run_on(0);
  prefer(plan.from);
  Memory memory(plan.size, plan.is_huge);
  memory.touch();
  prefer(-1);
  Worker worker(memory, plan);
  worker.everywhere();
  const double idle = accesses_per_ms(worker);
  worker.forget();

  const std::uint64_t ticks = __rdtsc();
  const auto begin = Clock::now();
  Moved moved;
  std::exception_ptr error;
  std::atomic<bool> is_over{false};
  std::thread mover([&] {
    try {
      moved = move(memory.range(), plan);
    } catch (...) {
      error = std::current_exception();
    }
    is_over = true;
  });
  while (!is_over.load(std::memory_order_relaxed)) worker.somewhere();
  mover.join();
  if (error) std::rethrow_exception(error);
  const std::uint64_t during = worker.accesses();
  worker.everywhere();
  HMK_MARK(1);
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() /
                    static_cast<double>(__rdtsc() - ticks);
  const auto in_us = [&](std::uint64_t t) { return static_cast<double>(t) * us; };
  std::printf(
      "{\"longest_us\": %.1f, \"p99_us\": %.1f, \"sum_us\": %.0f, \"waits\": %lu, \"pages\": %lu, "
      "\"recopied_percent\": %.2f, \"sync_percent\": %.2f, \"prepare_ms\": %.3f, \"copy_ms\": %.3f, "
      "\"commit_ms\": %.3f, \"move_ms\": %.3f, \"accesses\": %lu, \"idle_per_ms\": %.1f}\n",
      in_us(worker.waits().longest()), in_us(worker.waits().quantile(0.99)), in_us(worker.sum()),
      worker.waits().count(), moved.pages, percent(moved.recopied, moved.pages),
      percent(moved.sync, moved.pages), in_ms(moved.prepare_ns), in_ms(moved.copy_ns),
      in_ms(moved.commit_ns), moved.ms, during, idle);
  const bool moves_all = plan.method != "numa-balancing";
  return worker.holds_everything() && moved.pages >= (moves_all ? plan.size / kPage * 9 / 10 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = read_plan(argc, argv);
  try {
    return run(plan) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmk-stall: %s\n", error.what());
    return 3;
  }
}
