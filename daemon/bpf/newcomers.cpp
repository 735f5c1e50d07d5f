// SPDX-License-Identifier: MIT
#include "bpf/newcomers.hpp"

#include <utility>

#include "bpf/load.hpp"
#include "newcomers.skel.h"

namespace hmk {
namespace {

struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

class KernelNewcomers final : public Newcomers {
 public:
  explicit KernelNewcomers(Program<newcomers> program)
      : program_(std::move(program)),
        ring_(ring_buffer__new(bpf_map__fd(program_->maps.pids), remember, this, nullptr)) {}

  bool has_ring() const { return ring_ != nullptr; }

  int poll_fd() const override { return ring_buffer__epoll_fd(ring_.get()); }

  Told take() override {
    ring_buffer__consume(ring_.get());
    std::set<std::int32_t> pids = std::exchange(pids_, {});
    const std::uint64_t lost = __atomic_load_n(&program_->bss->lost, __ATOMIC_RELAXED);
    if (lost != std::exchange(lost_, lost)) return std::nullopt;
    return pids;
  }

 private:
  static int remember(void* self, void* pid, std::size_t) {
    static_cast<KernelNewcomers*>(self)->pids_.insert(*static_cast<const std::int32_t*>(pid));
    return 0;
  }

  Program<newcomers> program_;
  std::unique_ptr<ring_buffer, FreeRing> ring_;
  std::set<std::int32_t> pids_;
  std::uint64_t lost_ = 0;
};

}  // namespace

Result<std::unique_ptr<Newcomers>> Newcomers::open() {
  const std::string otherwise = "the kernel does not report new processes";
  Result<Program<newcomers>> program = load<newcomers>(otherwise);
  if (!program) return program.error();
  auto opened = std::make_unique<KernelNewcomers>(*std::move(program));
  if (!opened->has_ring()) return Error{otherwise + ": " + std::strerror(errno), "", errno};
  return std::unique_ptr<Newcomers>(std::move(opened));
}

}  // namespace hmk
