// SPDX-License-Identifier: MIT
#include "device/kernel_device.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "device/features.hpp"
#include "device/table.hpp"
#include "util/fd.hpp"

namespace hmk {
namespace {

/// 0 or the errno.
template <class T>
int call(int fd, unsigned long command, T* argument) {
  while (::ioctl(fd, command, argument) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

constexpr const char* kUnsupported = "set split_huge to no, or see split-huge in 'hmkctl doctor'";

Error failed(const char* verb, int err, std::string remedy = kUnexpected) {
  return {std::string("hmk refused ") + verb + ": " + std::strerror(err), std::move(remedy), err};
}

Result<Fd> open_device(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (fd) return fd;
  const int err = errno;
  if (err == ENOENT || err == ENXIO || err == ENODEV)
    return Error{path + " does not exist: the module is not loaded", "run 'modprobe hmk' as root",
                 ENODEV};
  if (err == EACCES || err == EPERM)
    return Error{path + " may not be opened by this user", "run hmkd as root or in the group hmk",
                 err};
  return Error{path + " cannot be opened: " + std::strerror(err), kUnexpected, err};
}

Error explain_start(int err, std::int32_t pid) {
  if (err != EOPNOTSUPP) return failed("START", err);
  return {"PID " + std::to_string(pid) +
              " cannot be profiled: a virtual machine or a device uses its memory behind its page "
              "table",
          "leave it as it is; inside the virtual machine hmkd can manage its programs", err};
}

Result<hmk_info> read_info(const Fd& fd) {
  hmk_info info{};
  info.size = sizeof(info);
  if (const int err = call(fd.get(), HMK_IOC_GET_INFO, &info))
    return failed("GET_INFO", err, "is it the hmk of this version? reload the module");
  if (info.abi_version != HMK_ABI_VERSION)
    return Error{"hmk.ko speaks ABI version " + std::to_string(info.abi_version) +
                     ", hmkd version " + std::to_string(HMK_ABI_VERSION),
                 "install module and daemon of the same release and reload the module"};
  if ((info.features >> HMK_FEAT_SCAN & 1) == 0) {
    info.missing[sizeof(info.missing) - 1] = '\0';
    return Error{"this kernel cannot be profiled, hmk.ko lacks: " + std::string(info.missing),
                 "run a supported kernel, or rebuild the module for this one"};
  }
  return info;
}

/// The session is bound to the process, never to a number: a PID that is reused
/// meanwhile cannot be attached by mistake.
int bind(const Fd& device, const hmk_info& info, std::int32_t pid, const Fd& process,
         hmk_attach& attach) {
  const bool by_number = (info.features >> HMK_FEAT_PIDFD & 1) == 0;
  attach.pidfd = by_number ? pid : process.get();
  attach.flags = by_number ? HMK_ATTACH_PID : 0;
  return call(device.get(), HMK_IOC_ATTACH, &attach);
}

class KernelDevice : public Device {
 public:
  KernelDevice(Fd fd, Table table, const hmk_info& info)
      : fd_(std::move(fd)), table_(std::move(table)), info_(info) {}

  int poll_fd() const override { return fd_.get(); }
  Result<std::vector<hmk_event>> read_events() override;
  Result<void> snapshot(Snapshot& into) override;
  Result<hmk_stats> stats() override;
  Result<std::vector<std::int32_t>> places(std::uint64_t start, std::uint64_t length) override;
  Result<void> set(const hmk_params& params) override;
  Result<void> run(bool runs) override;
  Result<void> move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                    const MoveHow& how) override;
  Result<void> cancel(std::uint64_t cookie) override;
  Result<std::vector<hmk_range_result>> result(std::uint64_t cookie,
                                               std::size_t nr_ranges) override;

 private:
  Fd fd_;
  Table table_;
  hmk_info info_;
};

Result<std::vector<hmk_event>> KernelDevice::read_events() {
  std::vector<hmk_event> events;
  std::array<hmk_event, 16> some{};
  for (;;) {
    const ssize_t bytes = ::read(fd_.get(), some.data(), sizeof(some));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno != EAGAIN) return failed("reading events", errno);
    if (bytes <= 0) return events;
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(hmk_event);
    events.insert(events.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    // GONE is the last event: what comes after it is only the end of the file.
    if (count == 0 || events.back().kind == HMK_EVENT_GONE) return events;
  }
}

Result<void> KernelDevice::snapshot(Snapshot& into) {
  if (table_.has_moved()) {
    const Result<hmk_stats> now = stats();
    if (!now) return now.error();
    Result<Table> larger = Table::map(fd_.get(), now->table_bytes);
    if (!larger) return larger.error();
    table_ = *std::move(larger);
  }
  return table_.read(into);
}

Result<hmk_stats> KernelDevice::stats() {
  hmk_stats stats{};
  stats.size = sizeof(stats);
  if (const int err = call(fd_.get(), HMK_IOC_STATS, &stats)) return failed("STATS", err);
  return stats;
}

Result<std::vector<std::int32_t>> KernelDevice::places(std::uint64_t start, std::uint64_t length) {
  std::vector<std::int32_t> places(length / HMK_PAGE_SIZE);
  hmk_range range{.start = start,
                  .length = length,
                  .node = -1,
                  .flags = 0,
                  .status = reinterpret_cast<std::uintptr_t>(places.data())};
  hmk_move request{};
  request.size = sizeof(request);
  request.ranges = reinterpret_cast<std::uintptr_t>(&range);
  request.nr_ranges = 1;
  if (const int err = call(fd_.get(), HMK_IOC_MOVE, &request)) return failed("MOVE", err);
  return places;
}

Result<void> KernelDevice::set(const hmk_params& params) {
  hmk_set request{};
  request.size = sizeof(request);
  request.params = params_for(info_, params);
  if (const int err = call(fd_.get(), HMK_IOC_SET, &request))
    return err == EOPNOTSUPP ? failed("SET", err, kUnsupported) : failed("SET", err);
  return {};
}

Result<void> KernelDevice::run(bool runs) {
  if (::ioctl(fd_.get(), runs ? HMK_IOC_START : HMK_IOC_STOP, 0) != 0)
    return failed(runs ? "START" : "STOP", errno);
  return {};
}

Result<void> KernelDevice::move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                                const MoveHow& how) {
  hmk_move request{};
  request.size = sizeof(request);
  request.flags = HMK_MOVE_TICKET | how.flags;
  if (has_feature(info_, HMK_FEAT_COPY_THREADS)) request.copy_threads = how.copy_threads;
  request.cookie = cookie;
  request.ranges = reinterpret_cast<std::uintptr_t>(ranges.data());
  request.nr_ranges = static_cast<__u32>(ranges.size());
  if (const int err = call(fd_.get(), HMK_IOC_MOVE, &request))
    return failed("MOVE", err, err == EPERM ? "moving memory of others needs CAP_SYS_NICE" : "");
  return {};
}

Result<void> KernelDevice::cancel(std::uint64_t cookie) {
  hmk_result request{};
  request.size = sizeof(request);
  request.flags = HMK_RESULT_CANCEL;
  request.cookie = cookie;
  if (const int err = call(fd_.get(), HMK_IOC_RESULT, &request)) return failed("RESULT", err);
  return {};
}

Result<std::vector<hmk_range_result>> KernelDevice::result(std::uint64_t cookie,
                                                           std::size_t nr_ranges) {
  std::vector<hmk_range_result> results(nr_ranges);
  hmk_result request{};
  request.size = sizeof(request);
  request.cookie = cookie;
  request.results = reinterpret_cast<std::uintptr_t>(results.data());
  request.nr_ranges = static_cast<__u32>(nr_ranges);
  if (const int err = call(fd_.get(), HMK_IOC_RESULT, &request)) return failed("RESULT", err);
  return results;
}

}  // namespace

hmk_params params_for(const hmk_info& info, hmk_params params) {
  if (!has_feature(info, HMK_FEAT_DENSE)) params.switches &= ~HMK_SWITCH_DENSE;
  return params;
}

bool is_missing(const Error& error) {
  return error.err == ENODEV;
}

Error explain_attach(int err, std::int32_t pid) {
  const std::string who = "PID " + std::to_string(pid);
  switch (err) {
    case ESRCH:
      return {who + " does not exist", "give the PID of a running process (see ps)", err};
    case EPERM:
    case EACCES:
      return {who + " belongs to someone else and may not be traced by this user",
              "run hmkd as root, or give it CAP_SYS_PTRACE and CAP_SYS_NICE", err};
    case EINVAL:
      return {who + " is a kernel thread, a thread of a process or has ended",
              "give the PID of a running application (see ps)", err};
    case ENOMEM:
      return {who + " cannot be attached: the kernel has no memory for a session",
              "free some memory and try again", err};
    case EOPNOTSUPP:
      return {who + " cannot be profiled as configured: this kernel lacks something", kUnsupported,
              EINVAL};  // EOPNOTSUPP is of what no configuration changes: explain_start()
    default:
      return {who + " cannot be attached: " + std::strerror(err), kUnexpected, err};
  }
}

Result<hmk_info> probe_kernel(const std::string& path) {
  const Result<Fd> fd = open_device(path);
  if (!fd) return fd.error();
  return read_info(*fd);
}

Result<Session> attach_kernel(const std::string& path, std::int32_t pid, const hmk_params& params) {
  Result<Fd> fd = open_device(path);
  if (!fd) return fd.error();
  const Result<hmk_info> info = read_info(*fd);
  if (!info) return info.error();

  hmk_attach attach{};
  attach.size = sizeof(attach);
  attach.params = params_for(*info, params);
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return explain_attach(errno, pid);
  if (const int err = bind(*fd, *info, pid, process, attach)) return explain_attach(err, pid);
  Result<Table> table = Table::map(fd->get(), attach.table_bytes);
  if (!table) return table.error();
  if (::ioctl(fd->get(), HMK_IOC_START, 0) != 0) return explain_start(errno, pid);
  return Session{std::make_unique<KernelDevice>(*std::move(fd), *std::move(table), *info), *info,
                 "", advice_of(std::move(process))};
}

}  // namespace hmk
