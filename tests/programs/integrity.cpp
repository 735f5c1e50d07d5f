// SPDX-License-Identifier: MIT
// hmk-integrity: do moved pages keep every write? (kmod/migrate.c, the promise of the pre-copy)
//
// Every page holds a version in several words. A reader looks at half of the pages, a hot writer
// keeps rewriting a quarter, a slow writer the last quarter; each visit compares all versions of
// the page with a private copy. Meanwhile the range is moved from node to node, as hmkd does and
// otherwise (tests/support/ship.h). A lost write shows as an old version, a torn copy as different
// versions, a stale mapping as either.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "../support/ship.h"
#include "common.hpp"
#include "options.hpp"

namespace {

using namespace hmk::test;
using Clock = std::chrono::steady_clock;

// Longer, until each mode has moved pages and with --split a huge page was examined.
constexpr std::chrono::seconds kLonger{60};

constexpr const char* kUsage =
    "usage: hmk-integrity [--size 64MiB] [--for 60s] [--pages 4KiB|thp|shmem] [--chunk N]\n"
    "                     [--force-vma] [--sync] [--clear-refs] [--mover-first] [--no-flush] "
    "[--write-bit] [--no-move]\n"
    "                     [--mode all|synchronous|ticket|paired|stopped] [--shared] [--split]\n"
    "Moves the range over all nodes with memory, round robin, through /dev/hmk while a reader and "
    "two\n"
    "writers check every page they visit. --mode: how requests are made; of all modes each must "
    "have\n"
    "moved pages. --shared: another process maps the memory, too. --split: profiled meanwhile, so "
    "that\n"
    "huge pages are split. --chunk pages are committed at a time. --clear-refs "
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
    "One JSON line; exit code 0, 1 (corruption found), 2 (usage), 3 (could not be tested, or a "
    "mode "
    "moved\n"
    "nothing).";

struct Plan {
  std::uint64_t size, for_ms;
  Pages pages;
  std::uint32_t flags, chunk_pages;
  int mode;  // SHIP_MODES: all in turn
  bool is_moving, is_clearing, is_mover_first, is_split, has_other;
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
      std::fprintf(stderr, "LOST: corrupt page: thread=%s page=%zu expected=%#lx found=%#lx\n", name_, i,
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
  ship moved{};
  std::uint64_t rounds = 0, off_target = 0, huge = 0;

  std::uint64_t pages() const { return ship_pages(&moved.sum); }
  /// The first mode that was to move pages and moved none; SHIP_MODES if there is none.
  int lacking(const Plan& plan) const {
    for (int mode = 0; plan.is_moving && mode < SHIP_MODES; ++mode)
      if ((plan.mode == SHIP_MODES || plan.mode == mode) && moved.count[mode].pages == 0)
        return mode;
    return SHIP_MODES;
  }
};

/// Which huge pages there are, by /proc: the module counts base pages.
class Frames {
 public:
  /// Frame of each huge page of the memory, or 0 where there is none.
  std::vector<std::uint64_t> huge(const char* data, std::uint64_t bytes) const {
    std::vector<std::uint64_t> frames;
    for (std::uint64_t at = 0; at < bytes; at += kHuge) {
      const std::uint64_t frame =
          word(map_.get(), reinterpret_cast<std::uintptr_t>(data + at) / kPage) &
          ((1ull << 55) - 1);
      frames.push_back((word(flags_.get(), frame) >> kThp & 1) != 0 ? frame : 0);
    }
    return frames;
  }

 private:
  static constexpr unsigned kThp = 22;  // KPF_THP
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  static File opened(const char* path) {
    File file(std::fopen(path, "rb"));
    if (!file) fail(path);
    return file;
  }
  static std::uint64_t word(std::FILE* file, std::uint64_t index) {
    std::uint64_t value = 0;
    const auto at = static_cast<off_t>(index * sizeof(value));
    if (pread(fileno(file), &value, sizeof(value), at) != sizeof(value)) return 0;
    return value;
  }

  File map_ = opened("/proc/self/pagemap"), flags_ = opened("/proc/kpageflags");
};

int read_mode(hmk::load::Options& options) {
  const std::string name = options.text("--mode", "all");
  for (int mode = 0; mode < SHIP_MODES; ++mode)
    if (name == ship_names[mode]) return mode;
  if (name != "all")
    options.fail("--mode " + name + ": want all, synchronous, ticket, paired or stopped");
  return SHIP_MODES;
}

Plan read_plan(int argc, char** argv) {
  hmk::load::Options options(argc, argv, kUsage);
  Plan plan{};
  plan.size = options.bytes("--size", 64ull << 20);
  plan.for_ms = options.milliseconds("--for", 60000);
  plan.chunk_pages = static_cast<std::uint32_t>(options.number("--chunk", 0));
  plan.flags |= options.flag("--force-vma") ? HMK_MOVE_FORCE_VMA : 0;
  plan.flags |= options.flag("--sync") ? HMK_MOVE_SYNC_COPY : 0;
  plan.flags |= options.flag("--no-flush") ? HMK_MOVE_TEST_NO_FLUSH : 0;
  plan.flags |= options.flag("--write-bit") ? HMK_MOVE_TEST_WRITE_BIT : 0;
  plan.mode = read_mode(options);
  plan.is_split = options.flag("--split");
  plan.has_other = options.flag("--shared");
  plan.flags |= plan.has_other ? HMK_MOVE_SHARED : 0;
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

/// Moves the memory, every second piece to another node, and checks where its pages are.
void move_once(const Plan& plan, const Frames& frames, const char* data, int node, int other,
               Sum& sum) {
  // Each mode once on a part before all have their turns: a busy host gets to few rounds.
  const bool is_first_lap = plan.mode == SHIP_MODES && sum.rounds < SHIP_MODES;
  const auto mode = plan.mode != SHIP_MODES ? static_cast<ship_mode>(plan.mode)
                    : is_first_lap          ? static_cast<ship_mode>(sum.rounds)
                                            : ship_mode_of(sum.rounds);
  const std::vector<std::uint64_t> before = frames.huge(data, plan.size);
  const std::uint64_t pages_before = sum.pages();
  errno = ship_move(&sum.moved, mode, plan.flags, plan.chunk_pages,
                    reinterpret_cast<std::uintptr_t>(data),
                    is_first_lap ? plan.size / 4 : plan.size, node, other);
  if (errno != 0) fail("moving to node " + std::to_string(node) + ", " + ship_names[mode]);
  ++sum.rounds;
  const std::vector<std::uint64_t> after = frames.huge(data, plan.size);
  std::uint64_t huge = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    huge += before[i] != 0 && after[i] != 0 && before[i] != after[i];
  sum.huge += std::min(huge, (sum.pages() - pages_before) / (kHuge / kPage));
}

/// Counts the pages of a range that are not where it was sent.
void check_range(void* sum, ship_mode, const hmk_range* range) {
  const std::vector<int> status =
      nodes_of(reinterpret_cast<const char*>(range->start), range->length / kPage);
  static_cast<Sum*>(sum)->off_target += static_cast<std::uint64_t>(
      std::ranges::count_if(status, [&](int where) { return where != range->node; }));
}

/// Another process that maps the memory and reads a word of each page now and then.
class Other {
 public:
  Other(const Memory& memory, std::uint64_t bytes) : pid_(fork()) {
    if (pid_ < 0) fail("fork");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;; usleep(100'000))
      for (std::uint64_t at = 0; at < bytes; at += kPage)
        static_cast<void>(*static_cast<volatile char*>(memory.data() + at));
  }
  ~Other() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

 private:
  pid_t pid_;
};

/// Not on every kernel; tests/e2e/34 requires it of those that have it.
bool can_split() {
  const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  hmk_info info{};
  info.size = sizeof(info);
  if (fd < 0 || ioctl(fd, HMK_IOC_GET_INFO, &info) < 0)
    fail(HMK_DEVICE_PATH " (is hmk.ko loaded?)");
  close(fd);
  return (info.features >> HMK_FEAT_SPLIT_HUGE & 1) != 0;
}

/// With --split intervals of 50 ms beside the moves, in which huge pages whose parts differ are
/// split.
std::unique_ptr<Session> begin_session(const Plan& plan) {
  hmk_params params{};
  if (plan.is_split && can_split()) {
    params.mask = HMK_PARAM_INTERVAL | HMK_PARAM_SWITCHES;
    params.interval_ns = 50'000'000;
    params.switches = HMK_SWITCH_SPLIT_HUGE;
  }
  auto session = std::make_unique<Session>(getpid(), params);
  if (params.switches != 0 && ioctl(session->fd(), HMK_IOC_START, 0) < 0) fail("HMK_IOC_START");
  return session;
}

hmk_stats stats_of(const Session* session) {
  hmk_stats stats{};
  stats.size = sizeof(stats);
  if (session != nullptr && ioctl(session->fd(), HMK_IOC_STATS, &stats) < 0) fail("HMK_IOC_STATS");
  return stats;
}

/// Clears the soft-dirty bits of this process: entries lose their write bit, not their dirty bit.
void clear_refs() {
  std::ofstream file("/proc/self/clear_refs");
  if (!(file << "4" << std::flush)) std::abort();
}

void print(const Plan& plan, const Sum& sum, const hmk_stats& stats, std::uint64_t corrupt,
           std::uint64_t visits) {
  static constexpr const char* kReasons[] = {"pinned", "shared", "busy",   "no_room",
                                             "kind",   "gone",   "policy", "poisoned"};
  const hmk_range_result& all = sum.moved.sum;
  std::printf(
      "{\"pages\": %lu, \"rounds\": %lu, \"base\": %lu, \"huge\": %lu, \"clean\": %llu, "
      "\"recopied\": %llu, \"sync\": %llu, \"off_target\": %lu, \"refused\": {",
      plan.size / kPage, sum.rounds, sum.pages() - sum.huge * (kHuge / kPage), sum.huge,
      all.pages_clean, all.pages_recopied, all.pages_sync, sum.off_target);
  for (std::size_t i = 0; i < std::size(kReasons); ++i)
    std::printf("%s\"%s\": %llu", i == 0 ? "" : ", ", kReasons[i], all.refused[i]);
  std::printf("}, \"modes\": {");
  for (int mode = 0; mode < SHIP_MODES; ++mode)
    std::printf("%s\"%s\": %lu", mode == 0 ? "" : ", ", ship_names[mode],
                sum.moved.count[mode].pages);
  std::printf(
      "}, \"cut_short\": %lu, \"can_split\": %d, \"huge_examined\": %llu, \"huge_split\": %llu, "
      "\"errors\": %d, "
      "\"paths\": %u, \"commit_max_ns\": %llu, \"visits\": %lu, \"corrupt\": %lu}\n",
      sum.moved.count[SHIP_STOPPED].cut_short, plan.is_split && can_split() ? 1 : 0,
      stats.huge_examined, stats.huge_split, all.error, all.paths, all.commit_max_ns, visits,
      corrupt);
}

int test(const Plan& plan) {
  const std::vector<int> nodes = nodes_with_memory();
  const Frames frames;
  const Memory memory(plan.size, plan.pages);

  const std::size_t quarter = plan.size / kPage / 4;
  Visitor reader("reader", memory.data(), 2 * quarter);
  Visitor hot("hot-writer", memory.data() + 2 * quarter * kPage, quarter);
  Visitor slow("slow-writer", memory.data() + 3 * quarter * kPage, quarter);

  // Before there are threads, and after all pages are there.
  const std::unique_ptr<Other> other =
      plan.has_other ? std::make_unique<Other>(memory, plan.size) : nullptr;
  const std::unique_ptr<Session> session = plan.is_moving ? begin_session(plan) : nullptr;

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
  if (session) ship_begin(&sum.moved, session->fd(), static_cast<std::uint64_t>(getpid()));
  sum.moved.ended = check_range;
  sum.moved.arg = &sum;
  std::exception_ptr error;
  const bool can_be_split = plan.is_split && can_split();
  const auto end = Clock::now() + std::chrono::milliseconds(plan.for_ms);
  const auto goes_on = [&] {
    const auto now = Clock::now();
    if (now < end || now >= end + kLonger) return now < end;
    return sum.lacking(plan) != SHIP_MODES ||
           (can_be_split && stats_of(session.get()).huge_examined == 0);
  };
  try {
    for (std::size_t i = 0; goes_on(); ++i) {
      if (plan.is_moving)
        move_once(plan, frames, memory.data(), nodes[i % nodes.size()],
                  nodes[(i + 1) % nodes.size()], sum);
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
  print(plan, sum, stats_of(session.get()), corrupt, visits);
  if (const int mode = sum.lacking(plan); corrupt == 0 && mode != SHIP_MODES) {
    std::fprintf(stderr, "hmk-integrity: no page was moved by mode %s\n", ship_names[mode]);
    return kExitCannot;
  }
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
