// SPDX-License-Identifier: MIT
#include "gauge.hpp"

#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "util/fd.hpp"

namespace hmkctl {
namespace {

using Clock = std::chrono::steady_clock;
using hmk::Error;
using hmk::Result;

constexpr std::size_t kLine = 64, kHuge = 2ul << 20;
constexpr std::size_t kBurst = 256ul << 10;  // between two looks at the time

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::sched_setaffinity(0, sizeof(set), &set);  // a CPU that has gone: measured where we are
}

/// Leaves the caller where it may run now.
class Affinity {
 public:
  Affinity() { ::sched_getaffinity(0, sizeof(before_), &before_); }
  ~Affinity() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

 private:
  cpu_set_t before_{};
};

std::uint64_t sum_of(const char* at, std::size_t bytes) {
  const auto* word = reinterpret_cast<const std::uint64_t*>(at);
  return std::accumulate(word, word + bytes / sizeof(*word), std::uint64_t{0});
}

/// `burst` does kBurst bytes at an offset and is called over and over, by a thread on each CPU.
template <class Burst>
double bandwidth(std::size_t bytes, const std::vector<int>& cpus, std::chrono::nanoseconds time,
                 Burst burst) {
  const std::size_t part = bytes / cpus.size() / kBurst * kBurst;
  std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<double> rates(cpus.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    threads.emplace_back([&, i] {
      run_on(cpus[i]);
      start.arrive_and_wait();
      const auto begin = Clock::now();
      std::size_t done = 0;
      do {
        burst(i * part + done % part);
        done += kBurst;
      } while (Clock::now() - begin < time);
      rates[i] = static_cast<double>(done) / ns_since(begin) * 1e9;
    });
  for (std::thread& thread : threads) thread.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Return: ns of the kernel's work and the pages that moved; nothing without the module.
std::optional<std::pair<double, std::size_t>> move_by_module(const NodeMemory& memory, int node) {
  const hmk::Fd device(::open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC));
  hmk_attach attach{};
  attach.size = sizeof(attach);
  attach.flags = HMK_ATTACH_PID;
  attach.pidfd = ::getpid();
  if (!device || ::ioctl(device.get(), HMK_IOC_ATTACH, &attach) != 0) return std::nullopt;
  hmk_range range{};
  range.start = reinterpret_cast<std::uintptr_t>(memory.data());
  range.length = memory.bytes();
  range.node = node;
  hmk_range_result result{};
  hmk_move move{};
  move.size = sizeof(move);
  move.flags = HMK_MOVE_BOUND;  // to the node it is measured on
  move.ranges = reinterpret_cast<std::uintptr_t>(&range);
  move.results = reinterpret_cast<std::uintptr_t>(&result);
  move.nr_ranges = 1;
  if (::ioctl(device.get(), HMK_IOC_MOVE, &move) != 0) return std::nullopt;
  return std::pair{static_cast<double>(result.prepare_ns + result.copy_ns + result.commit_ns),
                   result.pages_clean + result.pages_recopied + result.pages_sync};
}

std::pair<double, std::size_t> move_by_kernel(const NodeMemory& memory, int node) {
  const std::size_t count = memory.bytes() / HMK_PAGE_SIZE;
  std::vector<void*> pages(count);
  for (std::size_t i = 0; i < count; ++i) pages[i] = memory.data() + i * HMK_PAGE_SIZE;
  const std::vector<int> nodes(count, node);
  std::vector<int> status(count, -1);
  const auto begin = Clock::now();
  ::syscall(SYS_move_pages, 0, count, pages.data(), nodes.data(), status.data(), MPOL_MF_MOVE);
  const double ns = ns_since(begin);
  return {ns, static_cast<std::size_t>(std::ranges::count(status, node))};
}

}  // namespace

Result<NodeMemory> NodeMemory::on(int node, std::size_t bytes, Pages pages) {
  bytes = (bytes + kHuge - 1) / kHuge * kHuge;
  void* const area =
      ::mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return Error{std::string("no memory: ") + std::strerror(errno)};
  // Huge pages begin at multiples of their size; what lies around is never touched.
  const auto at = reinterpret_cast<std::uintptr_t>(area), begin = (at + kHuge - 1) / kHuge * kHuge;
  if (begin > at) ::munmap(area, begin - at);
  char* const start = reinterpret_cast<char*>(begin);
  if (at + kHuge > begin) ::munmap(start + bytes, at + kHuge - begin);
  NodeMemory memory(start, bytes);
  const unsigned long mask = 1ul << node;
  if (::syscall(SYS_mbind, start, bytes, MPOL_BIND, &mask, 64ul, 0u) != 0)
    return Error{"memory of node " + std::to_string(node) +
                     " is not for this process: " + std::strerror(errno),
                 "see its cpuset"};
  ::madvise(start, bytes, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(start, 1, bytes);
  return memory;
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}

NodeMemory::~NodeMemory() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

Chain::Chain(const NodeMemory& memory) : at_(reinterpret_cast<char* volatile*>(memory.data())) {
  const std::size_t lines = memory.bytes() / kLine;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(1);  // any order will do
  std::ranges::shuffle(order, random);
  for (std::size_t i = 0; i < lines; ++i) {
    char* const next = memory.data() + order[(i + 1) % lines] * kLine;
    std::memcpy(memory.data() + order[i] * kLine, static_cast<const void*>(&next), sizeof(next));
  }
}

double Chain::step_ns(int cpu, std::size_t steps, Way way) {
  const Affinity affinity;
  run_on(cpu);
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < steps; ++i) {
    char* const next = *at_;
    if (way == Way::write) at_[1] = next;
    at_ = reinterpret_cast<char* volatile*>(next);
  }
  return ns_since(begin) / static_cast<double>(steps);
}

double read_bandwidth(const NodeMemory& memory, const std::vector<int>& cpus,
                      std::chrono::nanoseconds time) {
  std::atomic<std::uint64_t> sum = 0;  // so that reading is not optimised away
  return bandwidth(memory.bytes(), cpus, time, [&](std::size_t at) {
    sum.fetch_add(sum_of(memory.data() + at, kBurst), std::memory_order_relaxed);
  });
}

double copy_bandwidth(const NodeMemory& from, const NodeMemory& to, const std::vector<int>& cpus,
                      std::chrono::nanoseconds time) {
  return bandwidth(std::min(from.bytes(), to.bytes()), cpus, time,
                   [&](std::size_t at) { std::memcpy(to.data() + at, from.data() + at, kBurst); });
}

std::optional<MoveCost> move_cost(const NodeMemory& memory, int node) {
  const auto by_module = move_by_module(memory, node);
  const auto [ns, pages] = by_module ? *by_module : move_by_kernel(memory, node);
  if (pages < memory.bytes() / HMK_PAGE_SIZE / 2) return std::nullopt;
  return MoveCost{ns / static_cast<double>(pages), by_module.has_value()};
}

}  // namespace hmkctl
