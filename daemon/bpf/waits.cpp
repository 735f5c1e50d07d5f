// SPDX-License-Identifier: MIT
#include "bpf/waits.hpp"

#include <cstring>

#include "bpf/load.hpp"
#include "waits.skel.h"

namespace hmk {
namespace {

class KernelWaits final : public Waits {
 public:
  explicit KernelWaits(Program<waits> program) : program_(std::move(program)) {}

  Result<void> watch(std::int32_t pid) override {
    const hmk_waits none{};
    const int rc = bpf_map__update_elem(program_->maps.processes, &pid, sizeof(pid), &none,
                                        sizeof(none), BPF_ANY);
    if (rc == 0) return {};
    return Error{std::string("waits cannot be counted: ") + std::strerror(-rc), "", -rc};
  }

  void forget(std::int32_t pid) override {
    bpf_map__delete_elem(program_->maps.processes, &pid, sizeof(pid), 0);
  }

  std::optional<hmk_waits> read(std::int32_t pid) const override {
    hmk_waits counted{};
    if (bpf_map__lookup_elem(program_->maps.processes, &pid, sizeof(pid), &counted, sizeof(counted),
                             0) != 0)
      return std::nullopt;
    return counted;
  }

 private:
  Program<waits> program_;
};

}  // namespace

Result<std::unique_ptr<Waits>> Waits::open() {
  Result<Program<waits>> program = load<waits>("waits for pages are not counted");
  if (!program) return program.error();
  return std::unique_ptr<Waits>(std::make_unique<KernelWaits>(*std::move(program)));
}

}  // namespace hmk
