// SPDX-License-Identifier: MIT
//
// Loads a program of ours into the kernel and attaches it, by the skeleton that
// bpftool has made of it. It stays as long as what is returned.
//
//   Result<Program<waits>> program = load<waits>("waits are not counted");
#pragma once

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "util/result.hpp"

namespace hmk {

struct Unload {
  template <class Skeleton>
  void operator()(Skeleton* program) const {
    Skeleton::destroy(program);
  }
};
template <class Skeleton>
using Program = std::unique_ptr<Skeleton, Unload>;

/// The programs know processes by their PIDs out there.
inline bool has_pids_of_the_kernel() {
  std::error_code unknown;
  const auto ours = std::filesystem::read_symlink("/proc/self/ns/pid", unknown);
  return ours == "pid:[4026531836]";  // the first one's number never changes
}

/// `otherwise`: what is not to be had without it.
template <class Skeleton>
Result<Program<Skeleton>> load(const std::string& otherwise) {
  if (!has_pids_of_the_kernel())
    return Error{otherwise + ": hmkd runs in a PID namespace of its own"};
  libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });  // we say it
  Program<Skeleton> program(Skeleton::open_and_load());
  if (program != nullptr && Skeleton::attach(program.get()) == 0) return program;
  const int error = errno;
  return Error{otherwise + ": " + std::strerror(error),
               error == EPERM || error == EACCES ? "that takes CAP_BPF and CAP_PERFMON" : "",
               error};
}

}  // namespace hmk
