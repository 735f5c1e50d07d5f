// SPDX-License-Identifier: MIT
//
// Samples of loads on all CPUs, by perf_event_open(2), drained and paced by whoever asks.
//
//   auto sampler = LoadSampler::open(event, first_period);
//   while (time is left) { sampler->drain(tally); sampler->set_period(pace.next(...)); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "load_event.hpp"
#include "load_tally.hpp"
#include "util/fd.hpp"
#include "util/result.hpp"

namespace hmkctl {

/// The ring of one CPU's samples, as perf_event_open(2) shares it.
class SampleRing {
 public:
  static hmk::Result<SampleRing> of(int fd);
  SampleRing(SampleRing&& other) noexcept;
  SampleRing& operator=(SampleRing&&) = delete;
  SampleRing(const SampleRing&) = delete;
  SampleRing& operator=(const SampleRing&) = delete;
  ~SampleRing();

  /// What has come since, to the tally; the kernel may write over it afterwards.
  void drain(LoadTally& tally);

 private:
  explicit SampleRing(void* at) : at_(static_cast<std::byte*>(at)) {}

  std::byte* at_;
};

class LoadSampler {
 public:
  /// It samples from now on. An Error names what the caller lacks.
  static hmk::Result<LoadSampler> open(const LoadEvent& event, std::uint64_t period);

  void drain(LoadTally& tally);
  void set_period(std::uint64_t period);

 private:
  struct Cpu {
    hmk::Fd leader, samples;  // the leader of a group, where the event wants one
    SampleRing ring;
  };
  static hmk::Result<Cpu> open_on(int cpu, const LoadEvent& event, std::uint64_t period);

  std::vector<Cpu> cpus_;
};

}  // namespace hmkctl
