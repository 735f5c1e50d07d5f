// SPDX-License-Identifier: MIT
#include "load_sampler.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace hmkctl {
namespace {

constexpr std::size_t kHead = 4096, kData = 16 * kHead;  // 1,300 samples

int open_event(const perf_event_attr& what, int cpu, int group) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &what, -1, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr attributes(const LoadEvent& event) {
  perf_event_attr what{};
  what.size = sizeof(what);
  what.type = event.type;
  what.exclude_kernel = what.exclude_hv = what.exclude_guest = event.can_exclude;
  return what;
}

hmk::Error problem(const LoadEvent& event, int cpu) {
  const int err = errno;
  const std::string what =
      event.name + " cannot be sampled on CPU " + std::to_string(cpu) + ": " + std::strerror(err);
  if (err == EACCES || err == EPERM) return {what, "run it as root, or with CAP_PERFMON", err};
  if (err == EBUSY) return {what, "another profiler holds the counter; end it and try again", err};
  if (err == EMFILE) return {what, "it takes two files a CPU at most; raise 'ulimit -n'", err};
  return {what, "the kernel log (dmesg) may say why; 'hmkctl status' estimates shares without it",
          err};
}

}  // namespace

hmk::Result<SampleRing> SampleRing::of(int fd) {
  void* const at = ::mmap(nullptr, kHead + kData, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED)
    return hmk::Error{std::string("no room for samples: ") + std::strerror(errno),
                      "raise /proc/sys/kernel/perf_event_mlock_kb, or run it as root", errno};
  return SampleRing(at);
}

SampleRing::SampleRing(SampleRing&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}

SampleRing::~SampleRing() {
  if (at_ != nullptr) ::munmap(at_, kHead + kData);
}

void SampleRing::drain(LoadTally& tally) {
  auto& page = *reinterpret_cast<perf_event_mmap_page*>(at_);
  const std::byte* const data = at_ + kHead;
  const std::uint64_t head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
  const std::uint64_t tail = page.data_tail;  // ours alone
  std::vector<std::byte> records(head - tail);
  const std::size_t at = tail % kData, first = std::min<std::size_t>(records.size(), kData - at);
  std::memcpy(records.data(), data + at, first);
  std::memcpy(records.data() + first, data, records.size() - first);
  __atomic_store_n(&page.data_tail, head, __ATOMIC_RELEASE);
  tally.take(records);
}

hmk::Result<LoadSampler::Cpu> LoadSampler::open_on(int cpu, const LoadEvent& event,
                                                   std::uint64_t period) {
  hmk::Fd leader;
  if (event.leader) {
    perf_event_attr what = attributes(event);
    what.config = *event.leader;
    leader = hmk::Fd(open_event(what, cpu, -1));
    if (!leader) return problem(event, cpu);
  }
  perf_event_attr what = attributes(event);
  what.config = event.config;
  what.config1 = event.config1;
  what.precise_ip = event.precise & 3u;
  what.sample_period = period;
  what.sample_type = kSampleFields;
  what.watermark = 1;  // nobody waits for them
  what.wakeup_watermark = kData;
  hmk::Fd samples(open_event(what, cpu, leader ? leader.get() : -1));
  if (!samples) return problem(event, cpu);
  auto ring = SampleRing::of(samples.get());
  if (!ring) return ring.error();
  return Cpu{std::move(leader), std::move(samples), *std::move(ring)};
}

hmk::Result<LoadSampler> LoadSampler::open(const LoadEvent& event, std::uint64_t period) {
  LoadSampler sampler;
  for (const int cpu : event.cpus) {
    auto opened = open_on(cpu, event, period);
    if (!opened) return opened.error();
    sampler.cpus_.push_back(*std::move(opened));
  }
  return sampler;
}

void LoadSampler::drain(LoadTally& tally) {
  for (Cpu& cpu : cpus_) cpu.ring.drain(tally);
}

void LoadSampler::set_period(std::uint64_t period) {
  for (const Cpu& cpu : cpus_) ::ioctl(cpu.samples.get(), PERF_EVENT_IOC_PERIOD, &period);
}

}  // namespace hmkctl
