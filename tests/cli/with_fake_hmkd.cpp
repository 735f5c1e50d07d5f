// SPDX-License-Identifier: MIT
//
// Serve a control socket as hmkd does, above a FakeDevice and a recorded
// machine, while a command runs:
//
//   with_fake_hmkd hmkctl status --socket @SOCKET@
//
// Two intervals have passed, a promotion and a demotion among them. Ends with the command's
// exit code. In front of the command one of
//   --no-interval   none has passed
//   --slow          a third has: what is hot lies in the slowest tier again
//   --many          a third has, of 40 regions: the higher the address, the hotter and the larger,
//                   in turns in each tier
//   --says          the program has said something of its memory
//   --ends          the process ends as soon as it is held
//   --lives E N S   it goes on, in track-only: intervals of 20 ms, hot memory at first in the
//                   slowest tier. @ROOT@/figure is how fast it is: 1000, by E more while that
//                   memory is in tier 1, with a noise of N (standard deviation, half of it over
//                   some 150 ms), drawn by S
#include <linux/perf_event.h>
#include <spawn.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>

#include "app.hpp"
#include "fake_device.hpp"
#include "tree.hpp"
#include "util/log.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr int kPid = 4711, kVirtualMachine = 12;

hmk_record region(std::uint64_t start, std::uint64_t length, int node, double whi) {
  hmk_record record{};
  record.start = 0x7f0000000000 + start;
  record.length = length;
  record.hi_q16 = record.whi_q16 = static_cast<__u32>(whi * 65536);
  record.rate_q8 = static_cast<__s16>(whi * 1024);  // a step is a factor of 16
  record.rate_dev_q8 = 64;
  record.resident_pages = static_cast<__u32>(length / HMK_PAGE_SIZE);
  record.away_node = -1;
  record.node = node;
  record.generation = 1;
  record.samples = 4;
  record.writes = whi > 2 ? 1 : 0;
  record.leaf_shift = 21;
  return record;
}

hmk::Snapshot interval(std::uint64_t seq, std::vector<hmk_record> records) {
  hmk::Snapshot snapshot = hmk::test::interval(seq, std::move(records));
  snapshot.interval.profile_ns = 38'000'000;
  snapshot.interval.nr_samples *= 4;
  return snapshot;
}

/// What there is to see: a hot region promoted, a cold one demoted for it, one
/// that is pinned where it is.
void play(boost::asio::io_context& loop, hmk::test::FakeKernel& kernel) {
  const auto run = [&] {
    while (loop.poll() > 0) continue;
  };
  const auto judge = [](const hmk_range& range) {
    return range.start == 0x7f0000000000 + 64 * kMiB ? hmk::test::all_pinned(range)
                                                     : hmk::test::all_clean(range);
  };
  kernel.publish(interval(1, {region(0, 8 * kMiB, 3, 3.0), region(32 * kMiB, 8 * kMiB, 0, 0.0),
                              region(64 * kMiB, 2 * kMiB, 2, 2.5)}));
  run();
  while (!kernel.tickets.empty()) {
    kernel.finish(judge);
    run();
  }
  kernel.publish(interval(2, {region(0, 8 * kMiB, 0, 3.0), region(32 * kMiB, 8 * kMiB, 1, 0.0),
                              region(64 * kMiB, 2 * kMiB, 2, 2.5)}));
  run();
}

/// Most is in tier 1, what is hot is not.
void play_slow(hmk::test::FakeKernel& kernel) {
  hmk_record small = region(0, 8 * kMiB, 3, 3.0), large = region(32 * kMiB, 96 * kMiB, 0, 2.0);
  small.leaf_shift = large.leaf_shift = 12;
  large.rate_q8 = 2 * 256;
  kernel.publish(interval(3, {small, large}));
}

/// More than a screen holds, and no two neighbours.
void play_many(hmk::test::FakeKernel& kernel) {
  std::vector<hmk_record> records;
  for (std::uint64_t i = 0; i < 40; ++i) {
    records.push_back(region(i * 4 * kMiB, 4096 * (i + 1), static_cast<int>(i % 4), 1.0));
    records.back().rate_q8 = static_cast<__s16>(64 * i);
    records.back().leaf_shift = 12;
  }
  kernel.publish(interval(3, std::move(records)));
}

/// Of the hot memory and of the cold one.
void say(hmk::Target& target) {
  const auto hint = [](std::uint32_t slot, std::uint64_t start, std::uint64_t length,
                       hmk_says says, const char* label) {
    return hmk::Hint{.slot = slot,
                     .start = 0x7f0000000000 + start,
                     .end = 0x7f0000000000 + start + length,
                     .says = says,
                     .passes = 1,
                     .number = 1,
                     .label = label};
  };
  target.hear({hint(0, 0, 4 * kMiB, HMK_SAYS_READ, "index"),
               hint(1, 4 * kMiB, 4 * kMiB, HMK_SAYS_ARCHIVE, "index"),
               hint(2, 32 * kMiB, 8 * kMiB, HMK_SAYS_NOTHING, "log\x1b[2J")});
}

void put_balanced(hmk::test::Tree& tree, unsigned scans, unsigned pages) {
  tree.put("proc/4711/task/4711/sched", hmk::test::sched_text(scans, pages));
}

/// What `doctor` looks at: a supported kernel with two rivals at work, Secure Boot, no module.
void put_kernel(hmk::test::Tree& tree) {
  tree.put("proc/sys/kernel/osrelease", "6.12.1-amd64\n");
  tree.put("boot/config-6.12.1-amd64",
           "CONFIG_MODULES=y\nCONFIG_NUMA=y\nCONFIG_MIGRATION=y\nCONFIG_KALLSYMS=y\n"
           "# CONFIG_KPROBES is not set\n");
  tree.put("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
           std::string("\x06\0\0\0\x01", 5));
  tree.put("var/lib/dkms/mok.pub", "certificate");
  tree.put("var/lib/dkms/hmk/0.1.0/source", "");
  tree.put("lib/modules/6.12.1-amd64/build/Makefile", "");
  tree.put("proc/sys/kernel/numa_balancing", "2\n");
  tree.put("proc/sys/vm/zone_reclaim_mode", "0\n");
  tree.put("proc/self/status", "Name:\thmkctl\nCapEff:\t000001ffffffffff\n");
  tree.put("sys/kernel/btf/vmlinux", "");
  tree.put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  tree.put("sys/kernel/mm/numa/demotion_enabled", "true\n");
  tree.put("sys/kernel/mm/ksm/run", "0\n");
  tree.put("sys/module/zswap/parameters/enabled", "N\n");
  tree.put("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n");
}

/// The program of --lives.
class Life {
 public:
  Life(double effect, double noise, std::uint64_t seed)
      : effect_(effect), noise_(noise / std::sqrt(2.0)), random_(seed) {
    slow_ = normal_(random_);
  }

  /// Some of its time has passed.
  void go_on(hmk::test::FakeKernel& kernel, hmk::test::Tree& tree) {
    const auto now = std::chrono::steady_clock::now();
    while (!kernel.tickets.empty()) {
      for (const hmk_range& range : kernel.tickets.front().ranges) node_ = range.node;
      kernel.finish(hmk::test::all_clean);
    }
    if (now < next_) return;
    next_ = now + kInterval;
    kernel.publish(interval(++seq_, {region(0, 4 * kMiB, node_, 3.0)}));
    slow_ = kKept * slow_ + std::sqrt(1 - kKept * kKept) * normal_(random_);
    write(tree,
          1000 * (node_ == 0 ? 1 + effect_ : 1) * std::exp(noise_ * (slow_ + normal_(random_))));
  }

  static constexpr std::chrono::milliseconds kInterval = 20ms;

 private:
  static constexpr double kKept = 0.87;  // of the slow half, an interval later

  /// As a whole: somebody reads it at any time.
  static void write(hmk::test::Tree& tree, double figure) {
    tree.put("figure.new", std::to_string(figure) + "\n");
    std::filesystem::rename(tree.root() / "figure.new", tree.root() / "figure");
  }

  double effect_, noise_, slow_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uint64_t seq_ = 0;
  int node_ = 3;
  std::chrono::steady_clock::time_point next_{};
};

void replace(std::string& word, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += by.size())
    word.replace(at, what.size(), by);
}

pid_t spawn(int argc, char** argv, const std::string& socket, const std::string& root) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words) {
    replace(word, "@SOCKET@", socket);
    replace(word, "@ROOT@", root);
  }
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  return ::posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environ) == 0
             ? child
             : -1;
}

/// Samples of loads as the kernel writes them, of the process and of another, and where nodes
/// begin.
void put_loads(hmk::test::Tree& tree) {
  std::string spans, records;
  for (int node = 0; node < 4; ++node)
    spans += "Node " + std::to_string(node) + ", zone   Normal\n        spanned  65536\n" +
             "  start_pfn:           " + std::to_string(65536 * (node + 1)) + "\n";
  const auto add = [&](std::uint64_t pid, std::uint64_t node, std::uint64_t cycles) {
    perf_mem_data_src memory{.val = 0};
    memory.mem_op = PERF_MEM_OP_LOAD;
    memory.mem_lvl_num = PERF_MEM_LVLNUM_RAM;
    const std::uint64_t values[] = {pid, 20011, cycles, memory.val, (node + 1) << 28 | 64};
    const perf_event_header header{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
                                   sizeof(header) + sizeof(values)};
    records.append(reinterpret_cast<const char*>(&header), sizeof(header));
    records.append(reinterpret_cast<const char*>(values), sizeof(values));
  };
  for (std::uint64_t i = 0; i < 400; ++i)
    add(kPid, i % 4 == 0 ? 3 : 0, i % 4 == 0 ? 1020 : 270 + i % 5);
  for (int i = 0; i < 100; ++i) add(kVirtualMachine, 2, 800);
  tree.put("proc/zoneinfo", spans);
  tree.put("loads.perf", records);
  tree.put("cut.perf", records.substr(0, 100));
}

int run(int argc, char** argv) {
  hmk::open_log("error");
  hmk::test::Tree tree;
  hmk::test::put_four_tiers(tree);
  hmk::test::put_process(tree, kPid, "redis-server");
  hmk::test::put_process(tree, kVirtualMachine, "qemu");
  put_kernel(tree);
  put_balanced(tree, 7, 100);
  put_loads(tree);
  tree.put("proc/4711/numa_maps",
           "7f0 default N0=2048 N1=2048 N2=512 N3=131072 kernelpagesize_kB=4\n");

  const std::string_view scene = argv[1];
  const std::uint64_t free_kb = scene == "--lives" ? 131072 : 4096;
  hmk::test::put_node(tree, {0, "0-1", "10 20 30 40", 262144, free_kb, 90, 95000});
  std::optional<Life> life;
  if (scene == "--lives" && argc > 5)
    life.emplace(std::stod(argv[2]), std::stod(argv[3]), std::stoull(argv[4]));

  hmk::Config config;
  config.mode = life ? hmk::Mode::track_only : hmk::Mode::manage;
  if (life) config.interval = Life::kInterval;
  config.log_level = "error";
  config.reserve = (256ull << 20) / 20;  // node 0 has less free: something has to make room
  config.socket = (tree.root() / "control.sock").string();
  config.attach = {hmk::rule_of_pid(kPid)};
  hmk::test::FakeKernel kernel;
  boost::asio::io_context loop;
  hmk::App app(loop, config,
               {.attach = [&](std::int32_t pid, const hmk_params&) -> hmk::Result<hmk::Session> {
                  if (pid == kVirtualMachine)
                    return hmk::Error{"PID 12 is a virtual machine", "", EOPNOTSUPP};
                  return hmk::Session{std::make_unique<hmk::test::FakeDevice>(kernel),
                                      hmk::test::full_info()};
                },
                .root = tree.root(),
                .module_info = hmk::test::full_info(),
                .origins = {{"mode", {hmk::Origin::Kind::file, "hmkd.yaml:2"}},
                            {"socket", {hmk::Origin::Kind::flag, "--socket"}},
                            {"attach", {hmk::Origin::Kind::file, "hmkd.yaml:3"}}},
                .read_config =
                    [&] {
                      return hmk::read_config_text(
                          "interval: 1s\nmode: manage\nbuckets: 010\nx: 1\n", "hmkd.yaml");
                    },
                .saved = tree.root() / "saved.yaml",
                .look_parts = 0});
  if (const auto started = app.start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().line().c_str());
    return 1;
  }
  put_balanced(tree, 9, 356);
  if (scene != "--no-interval" && !life) play(loop, kernel);
  if (scene == "--slow") {
    tree.put("proc/4711/numa_maps", "7f0 default N0=26624 N3=2048 kernelpagesize_kB=4\n");
    play_slow(kernel);
  }
  if (scene == "--many") play_many(kernel);
  if (scene == "--says") say(*app.find(kPid));
  tree.put("proc/4711/maps",
           "7f0000000000-7f0002000000 rw-p 00000000 00:00 0                   [heap]\n"
           "7f0002000000-7f0008000000 rw-s 00000000 00:01 7     /dev/shm/a <b>\n");
  if (scene.starts_with("--")) --argc, ++argv;
  if (life) argc -= 3, argv += 3;
  bool is_to_end = scene == "--ends";

  if (life) life->go_on(kernel, tree);
  const pid_t child = spawn(argc, argv, config.socket, tree.root());
  if (child < 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    loop.restart();
    loop.run_one_for(life ? 2ms : 10ms);
    if (life) life->go_on(kernel, tree);
    if (!is_to_end || app.find(kPid)->mode() != hmk::Mode::track_only) continue;
    tree.remove("proc/4711");
    kernel.tell(HMK_EVENT_GONE, 0);
    is_to_end = false;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "with_fake_hmkd: %s\n", problem.what());
    return 1;
  }
}
