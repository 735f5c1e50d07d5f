// SPDX-License-Identifier: MIT
#include "bpf/waits.hpp"

#include <cerrno>
#include <cstring>

#include "waits.skel.h"

namespace hmk {
namespace {

class KernelWaits final : public Waits {
 public:
  explicit KernelWaits(waits* program) : program_(program) {}
  ~KernelWaits() override { waits::destroy(program_); }
  KernelWaits(const KernelWaits&) = delete;
  KernelWaits& operator=(const KernelWaits&) = delete;

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
  waits* program_;
};

}  // namespace

Result<std::unique_ptr<Waits>> Waits::open() {
  libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });  // we say it
  waits* const program = waits::open_and_load();
  const int load_error = errno;
  if (program != nullptr && waits::attach(program) == 0)
    return std::unique_ptr<Waits>(std::make_unique<KernelWaits>(program));
  const int error = program == nullptr ? load_error : errno;
  waits::destroy(program);
  return Error{std::string("waits for pages are not counted: ") + std::strerror(error),
               error == EPERM || error == EACCES ? "that takes CAP_BPF and CAP_PERFMON" : "",
               error};
}

}  // namespace hmk
