// SPDX-License-Identifier: MIT
#include "device/plain_device.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "device/tracker.hpp"
#include "support/sizes.hpp"
#include "tree.hpp"
#include "util/clock.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

using hmk::test::kMiB;

class DamonTracker : public ::testing::Test {
 protected:
  /// A kdamond's files as 6.12 has them.
  void put(int number, const std::string& state, int pid) {
    const std::string folder = kAll + std::to_string(number) + "/";
    tree_.put(folder + "state", state + "\n");
    tree_.put(folder + "pid", "77\n");
    for (const char* const file :
         {"contexts/nr_contexts", "contexts/0/operations",
          "contexts/0/monitoring_attrs/intervals/sample_us",
          "contexts/0/monitoring_attrs/nr_regions/min", "contexts/0/targets/nr_targets",
          "contexts/0/schemes/nr_schemes", "contexts/0/schemes/0/action",
          "contexts/0/schemes/0/access_pattern/sz/max",
          "contexts/0/schemes/0/access_pattern/nr_accesses/max",
          "contexts/0/schemes/0/access_pattern/age/max"})
      tree_.put(folder + file, "0\n");
    tree_.put(folder + "contexts/0/targets/0/pid_target", std::to_string(pid) + "\n");
  }
  void put_region(const std::string& name, std::uint64_t start, std::uint64_t end, int accesses) {
    const std::string folder = kAll + "1/contexts/0/schemes/0/tried_regions/" + name + "/";
    tree_.put(folder + "start", std::to_string(start) + "\n");
    tree_.put(folder + "end", std::to_string(end) + "\n");
    tree_.put(folder + "nr_accesses", std::to_string(accesses) + "\n");
  }
  std::string text(const std::string& file) {
    return read_text(tree_.root() / (kAll + file)).value_or("");
  }

  const std::string kAll = "sys/kernel/mm/damon/admin/kdamonds/";
  test::Tree tree_;
};

TEST_F(DamonTracker, TakesAKdamondThatIsFreeAndReadsItsRegions) {
  tree_.put(kAll + "nr_kdamonds", "2\n");
  tree_.put("proc/77/schedstat", "123456 7 8\n");
  put(0, "on", 1234);  // somebody else's
  put(1, "off", 0);
  put_region("10", 8 * kMiB, 16 * kMiB, 20);
  put_region("9", 0, 8 * kMiB, 5);
  {
    const auto tracker = track_by_damon(tree_.root(), 4711);
    ASSERT_TRUE(tracker) << tracker.error().line();
    EXPECT_EQ(text("1/contexts/0/targets/0/pid_target"), "4711");
    EXPECT_EQ(text("1/contexts/0/schemes/0/access_pattern/sz/max"), "18446744073709551615");
    EXPECT_EQ(text("1/state"), "on");
    const auto sight = tracker->look();
    ASSERT_TRUE(sight) << sight.error().line();
    ASSERT_EQ(sight->ranges.size(), 2u);
    EXPECT_EQ(sight->ranges[0].start, 0u);
    EXPECT_EQ(sight->ranges[0].accessed, 0.25);
    EXPECT_EQ(sight->ranges[1].length, 8 * kMiB);
    EXPECT_EQ(sight->ranges[1].accessed, 1.0);
    EXPECT_EQ(sight->kernel_ns, 123456u);
  }
  EXPECT_EQ(text("1/state"), "off") << "at the end";
  EXPECT_EQ(text("0/state"), "on\n") << "left alone";
}

TEST_F(DamonTracker, TakesOverWhatAKilledHmkdHasLeft) {
  tree_.put(kAll + "nr_kdamonds", "2\n");
  put(0, "on", 1234);
  put(1, "on", 4711);
  const auto tracker = track_by_damon(tree_.root(), 4711);
  ASSERT_TRUE(tracker) << tracker.error().line();
  EXPECT_EQ(text("1/state"), "on");
}

TEST_F(DamonTracker, WithoutAFreeKdamondOrDamonThereIsNone) {
  EXPECT_FALSE(track_by_damon(tree_.root(), 4711));
  tree_.put(kAll + "nr_kdamonds", "1\n");
  put(0, "on", 1234);
  EXPECT_FALSE(track_by_damon(tree_.root(), 4711));
}

/// A process in files: its pagemap has no PAGEMAP_SCAN, as on kernels before 6.7.
TEST(SoftDirtyTracker, ReadsThePagemapWhereItCannotBeScannedAndLeavesReservationsOut) {
  constexpr std::uint64_t kPresent = 1ull << 63, kSoftDirty = 1ull << 55, kPages = 4 * kMiB / 4096;
  test::Tree tree;
  const std::uint64_t memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * 4096;
  std::ostringstream maps;
  maps << std::hex << 4 * kMiB << "-" << 8 * kMiB << " rw-p 0 0:0 0\n"
       << 8 * kMiB << "-" << 16 * kMiB + memory << " rw-p 0 0:0 0\n";
  tree.put("proc/77/maps", maps.str());
  tree.put("proc/77/clear_refs", "");
  std::vector<std::uint64_t> entries(2 * kPages + kPages, kPresent);  // up to 12 MiB
  std::fill_n(entries.begin(), kPages, 0);
  std::fill_n(entries.begin() + kPages, 128, kPresent | kSoftDirty);
  tree.put("proc/77/pagemap", std::string(reinterpret_cast<const char*>(entries.data()),
                                          entries.size() * sizeof(entries[0])));
  const auto tracker = track_by_soft_dirty(tree.root(), 77);
  ASSERT_TRUE(tracker) << tracker.error().line();
  const auto sight = tracker->look();
  ASSERT_TRUE(sight) << sight.error().line();
  ASSERT_EQ(sight->ranges.size(), 2u) << "the area larger than all memory is left out";
  EXPECT_EQ(sight->ranges[0].start, 4 * kMiB);
  EXPECT_EQ(sight->ranges[0].length, 2 * kMiB);
  EXPECT_EQ(sight->ranges[0].accessed, 0.25);
  EXPECT_EQ(sight->ranges[1].start, 6 * kMiB);
  EXPECT_EQ(sight->ranges[1].accessed, 0.0);
}

/// A child that writes the second of its two areas of 2 MiB until it is killed, and has reserved
/// far more than there is. The first is bound to node 0.
class PlainDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Real processes, and no DAMON that may belong to somebody on this machine.
    std::filesystem::create_directory_symlink("/proc", tree_.root() / "proc");
    auto* const area = static_cast<volatile char*>(
        ::mmap(nullptr, 6 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(area, MAP_FAILED);
    const auto at = reinterpret_cast<std::uintptr_t>(area);
    cold_ = (at + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    child_ = ::fork();
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::mmap(nullptr, 16ull << 40, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
      ::_exit(1);
    const std::uint64_t node_0 = 1;
    if (::syscall(SYS_mbind, cold_, 2 * kMiB, MPOL_BIND, &node_0, 64, 0) != 0) ::_exit(1);
    for (std::uint64_t i = 0; i < 4 * kMiB; i += 4096) area[cold_ - at + i] = 1;
    for (;;)
      for (std::uint64_t i = 2 * kMiB; i < 4 * kMiB; i += 4096)
        area[cold_ - at + i] = static_cast<char>(area[cold_ - at + i] + 1);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  /// The next event within five seconds; 0 when none comes.
  static unsigned next_event(Device& device) {
    for (;;) {
      pollfd fd{device.poll_fd(), POLLIN, 0};
      if (::poll(&fd, 1, 5000) <= 0) return 0;
      const auto events = device.read_events();
      if (!events) return 0;
      if (!events->empty()) return events->front().kind;
    }
  }
  static double hotness_at(const Snapshot& table, std::uint64_t address) {
    for (const hmk_record& record : table.records)
      if (record.start <= address && address - record.start < record.length)
        return record.whi_q16 / 65536.0;
    return -1;
  }

  test::Tree tree_;
  std::uint64_t cold_ = 0;
  pid_t child_ = -1;
};

TEST_F(PlainDeviceTest, AnIntervalIsAsLongAsItsBudgetNeeds) {
  hmk_params params{};
  params.interval_ns = 1'000'000;
  params.budget_bp = 100;  // of a look of 100 us an interval of 10 ms
  params.num_scans = 3;
  params.alpha_q16 = 32768;
  const auto session = attach_plain(tree_.root(), child_, params);
  ASSERT_TRUE(session) << session.error().line();
  Snapshot first, second;
  for (Snapshot* const table : {&first, &second}) {
    ASSERT_EQ(next_event(*session->device), static_cast<unsigned>(HMK_EVENT_INTERVAL));
    ASSERT_TRUE(session->device->snapshot(*table));
  }
  const std::uint64_t needed = first.interval.profile_ns * 10'000 / params.budget_bp;
  ASSERT_GT(needed, params.interval_ns) << "else this shows nothing";
  EXPECT_GE(second.interval.end_ns - second.interval.start_ns, needed);
}

TEST_F(PlainDeviceTest, SeesWhatIsWrittenAndWhenTheProcessEnds) {
  hmk_params params{};
  params.interval_ns = 50'000'000;
  params.budget_bp = 500;
  params.num_scans = 3;
  params.alpha_q16 = 32768;
  const auto session = attach_plain(tree_.root(), child_, params);
  ASSERT_TRUE(session) << session.error().line();
  Device& device = *session->device;
  EXPECT_EQ(session->instead, "soft-dirty move_pages");
  EXPECT_TRUE(can_move(*session));
  double hot = 0, cold = 3;
  // A second of the child's own: beside other work it runs in few of the intervals.
  while (cpu_time_of(child_).value() < std::chrono::seconds(1) && (hot < 1.0 || cold > 0.2)) {
    ASSERT_EQ(next_event(device), static_cast<unsigned>(HMK_EVENT_INTERVAL));
    Snapshot table;
    ASSERT_TRUE(device.snapshot(table));
    EXPECT_TRUE(table.interval.flags & HMK_INTERVAL_DEGRADED);
    hot = hotness_at(table, cold_ + 2 * kMiB);
    cold = hotness_at(table, cold_);
  }
  // A kernel without soft-dirty bits shows nobody writing; tests/e2e/43 has one with them.
  EXPECT_TRUE(hot == 0.0 || hot >= 1.0) << hot;
  EXPECT_LE(cold, 0.2);

  const hmk_range range{cold_, 2 * kMiB, 0, 0, 0};
  ASSERT_TRUE(device.move(7, std::span(&range, 1), {}));
  unsigned kind = 0;
  while ((kind = next_event(device)) == HMK_EVENT_INTERVAL) continue;
  EXPECT_EQ(kind, static_cast<unsigned>(HMK_EVENT_TICKET));
  const auto result = device.result(7, 1);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->at(0).pages_already + result->at(0).pages_sync, 512u) << "node 0 or not";
  EXPECT_FALSE(device.result(7, 1)) << "fetched and forgotten";

  const hmk_range away{cold_, 4 * kMiB, 1, 0, 0};  // no such node, but what is bound comes first
  ASSERT_TRUE(device.move(8, std::span(&away, 1), {}));
  const auto refused = device.result(8, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->at(0).refused[HMK_REFUSED_POLICY], 512u) << "bound to node 0";
  ASSERT_TRUE(device.move(9, std::span(&away, 1), {.flags = HMK_MOVE_BOUND}));
  const auto told_to = device.result(9, 1);
  ASSERT_TRUE(told_to);
  EXPECT_EQ(told_to->at(0).refused[HMK_REFUSED_POLICY], 0u);
  while ((kind = next_event(device)) == HMK_EVENT_INTERVAL) continue;
  EXPECT_EQ(kind, static_cast<unsigned>(HMK_EVENT_TICKET)) << "both at once";

  ASSERT_TRUE(device.run(false));
  pollfd fd{device.poll_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 200), 0) << "paused";
  ASSERT_TRUE(device.run(true));
  EXPECT_EQ(next_event(device), static_cast<unsigned>(HMK_EVENT_INTERVAL));
  ::kill(child_, SIGKILL);
  while ((kind = next_event(device)) == HMK_EVENT_INTERVAL) continue;
  EXPECT_EQ(kind, static_cast<unsigned>(HMK_EVENT_GONE));
}

}  // namespace
}  // namespace hmk
