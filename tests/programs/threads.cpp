// SPDX-License-Identifier: MIT
// hmk-threads: one thread on each of some CPUs, each with memory of its own that nobody else uses,
// on a node to begin with. Each updates words of it at random, most of them in its last part.
//
//   hmk-threads MIB HOT_MIB CPU:NODE...
//
// Prints "area CPU START LENGTH HOT_START" for each once it is filled, then "ready", and ends by a
// signal. The memory is bound to nothing: NODE is where it is when it is touched first.
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr unsigned kHotOf10 = 9;

struct Place {
  int cpu, node;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void pin(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  if (::sched_setaffinity(0, sizeof(cpus), &cpus) != 0) fail("sched_setaffinity");
}

/// Memory of this thread from here on; -1: wherever the kernel likes.
void prefer(int node) {
  const unsigned long mask = node < 0 ? 0 : 1ul << node;
  if (::syscall(SYS_set_mempolicy, node < 0 ? MPOL_DEFAULT : MPOL_BIND, node < 0 ? nullptr : &mask,
                64) != 0)
    fail("set_mempolicy");
}

std::uint64_t next(std::uint64_t& state) {  // xorshift64
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

void work(const Place& place, std::size_t length, std::size_t hot, std::latch& filled) {
  pin(place.cpu);
  prefer(place.node);
  void* const mapped =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  auto* const words = static_cast<volatile std::uint64_t*>(mapped);
  constexpr std::size_t kWord = sizeof(std::uint64_t), kPageWords = 4096 / kWord;
  std::size_t at = 0;
  do words[at] = at;  // main() has refused an area of nothing
  while ((at += kPageWords) < length / kWord);
  prefer(-1);
  std::printf("area %d %lu %zu %zu\n", place.cpu, reinterpret_cast<unsigned long>(mapped), length,
              reinterpret_cast<std::size_t>(mapped) + length - hot);
  std::fflush(stdout);
  filled.arrive_and_wait();
  const std::size_t all_words = length / kWord, hot_words = hot / kWord;
  for (std::uint64_t state = static_cast<std::uint64_t>(place.cpu) + 1;;) {
    const std::uint64_t drawn = next(state);
    const std::size_t word =
        drawn % 10 < kHotOf10 ? all_words - 1 - (drawn >> 8) % hot_words : (drawn >> 8) % all_words;
    words[word] = words[word] + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Place> places;
  for (int arg = 3; arg < argc; ++arg) {
    const std::string text = argv[arg];
    places.push_back({std::stoi(text), std::stoi(text.substr(text.find(':') + 1))});
  }
  if (places.empty()) {
    std::fputs("usage: hmk-threads MIB HOT_MIB CPU:NODE...\n", stderr);
    return 2;
  }
  const std::size_t length = std::stoul(argv[1]) * kMiB, hot = std::stoul(argv[2]) * kMiB;
  if (hot == 0 || hot > length) {
    std::fputs("hmk-threads: HOT_MIB is 1 to MIB\n", stderr);
    return 2;
  }
  std::latch filled(static_cast<std::ptrdiff_t>(places.size()) + 1);
  std::vector<std::jthread> threads;
  threads.reserve(places.size());
  for (const Place& place : places)
    threads.emplace_back([&, place] { work(place, length, hot, filled); });
  filled.arrive_and_wait();
  std::puts("ready");
  std::fflush(stdout);
}
