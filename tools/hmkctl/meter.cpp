// SPDX-License-Identifier: MIT
#include "meter.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "util/clock.hpp"

namespace hmkctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostKept = 4096;  // of what a command prints; a number is shorter
constexpr const char* kTryIt =
    "it must end with code 0 and print one number, nothing else; run it by hand";

double seconds_now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

struct Pipe {
  hmk::Fd out, in;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{hmk::Fd(ends[0]), hmk::Fd(ends[1])};
}

/// A command of the shell in a process group of its own, so that all of it can be ended.
class Child {
 public:
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  explicit Child(const std::string& command) {
    auto out = make_pipe(), err = make_pipe();
    if (!out || !err) {
      error_ = errno;
      return;
    }
    error_ = start(command, out->in.get(), err->in.get());
    if (error_ != 0) return;
    out_ = std::move(out->out);
    err_ = std::move(err->out);
    ended_ = hmk::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended_) error_ = errno;
  }
  ~Child() {
    if (pid_ > 0) end();
  }

  int error() const { return error_; }
  const std::string& printed() const { return printed_; }
  const std::string& complained() const { return complained_; }

  /// Its status; nothing when the time was over or a signal came, which `errno_` tells apart.
  std::optional<int> wait(Clock::time_point until) {
    std::array<pollfd, 3> fds{
        {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}}};
    while ((fds[2].revents & POLLIN) == 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() <= 0 ||
          (::poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0 && errno == EINTR)) {
        is_interrupted_ = left.count() > 0;
        return std::nullopt;
      }
      for (pollfd& fd : fds)  // one that has been closed is ready for ever
        if (fd.fd != ended_.get() && (fd.revents & (POLLIN | POLLHUP)) != 0 && !take(fd.fd))
          fd.fd = -1;
    }
    take(out_.get());
    take(err_.get());
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  bool is_interrupted() const { return is_interrupted_; }

 private:
  int start(const std::string& command, int out, int err) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh", option = "-c", text = command;
    const std::array<char*, 4> words{shell.data(), option.data(), text.data(), nullptr};
    const int error = ::posix_spawn(&pid_, "/bin/sh", &files, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    return error;
  }
  void end() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// What there is to read; false at its end.
  bool take(int fd) {
    std::array<char, kMostKept> part{};
    ssize_t got = 0;
    while (fd >= 0 && (got = ::read(fd, part.data(), part.size())) > 0) {
      std::string& kept = fd == out_.get() ? printed_ : complained_;
      kept.append(part.data(), std::min(static_cast<std::size_t>(got), kMostKept - kept.size()));
    }
    return got != 0;
  }

  pid_t pid_ = -1;
  int error_ = 0;
  bool is_interrupted_ = false;
  hmk::Fd out_, err_, ended_;
  std::string printed_, complained_;
};

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string first_line(const std::string& text) {
  const std::string rest = trimmed(text);
  return rest.substr(0, std::min(rest.find('\n'), std::size_t{100}));
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string digits_of(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15g", value);
  return text;
}

std::string ending_of(int status) {
  return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                             : "ended with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

hmk::Error CommandMeter::problem(const std::string& what) const {
  return {"the metric command " + name() + " " + what, kTryIt};
}

hmk::Result<Reading> CommandMeter::read() {
  const double begin = seconds_now();
  Child child(command_);
  if (child.error() != 0)
    return problem(std::string("cannot be run: ") + std::strerror(child.error()));
  const auto status = child.wait(Clock::now() + options_.limit);
  if (child.is_interrupted()) return hmk::Error{"interrupted", "", EINTR};
  if (!status) {
    hmk::Error error =
        problem("did not end within " + std::to_string(options_.limit.count()) + " ms");
    error.remedy = "give it longer with --metric-limit, or a faster command";
    return error;
  }
  const std::string complaint = first_line(child.complained());
  if (*status != 0)
    return problem(ending_of(*status) + (complaint.empty() ? "" : " (" + complaint + ")"));
  const auto value = number_of(trimmed(child.printed()));
  if (!value) return problem("printed '" + first_line(child.printed()) + "'");
  // In the middle of its time: a slow command errs by half of that at most.
  return Reading{*value, (begin + seconds_now()) / 2};
}

hmk::Result<void> InstructionMeter::open() {
  perf_event_attr what{};
  what.size = sizeof(what);
  what.type = PERF_TYPE_HARDWARE;
  what.config = PERF_COUNT_HW_INSTRUCTIONS;
  what.exclude_kernel = what.exclude_hv = what.inherit = 1;
  what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  std::error_code none;
  const std::string threads = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, none)) {
    const int tid = std::atoi(thread.path().filename().c_str());
    hmk::Fd fd(
        static_cast<int>(::syscall(SYS_perf_event_open, &what, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!fd && errno == ESRCH) continue;  // that thread has just ended
    if (!fd)
      return hmk::Error{"this machine's CPUs count no instructions of PID " + std::to_string(pid_) +
                            " (" + std::strerror(errno) + ")",
                        "name a figure of the program's own with --metric CMD"};
    counters_.push_back(std::move(fd));
  }
  if (counters_.empty())
    return hmk::Error{"PID " + std::to_string(pid_) + " does not exist",
                      "give the PID of a running process (see ps)"};
  return {};
}

hmk::Result<Reading> InstructionMeter::read() {
  if (counters_.empty())
    if (const auto opened = open(); !opened) return opened.error();
  double instructions = 0;
  for (const hmk::Fd& fd : counters_) {
    struct {
      std::uint64_t count, enabled, running;
    } seen{};
    if (::read(fd.get(), &seen, sizeof(seen)) != sizeof(seen) || seen.running == 0) continue;
    // Where counters are fewer than what is counted they take turns.
    instructions += static_cast<double>(seen.count) * static_cast<double>(seen.enabled) /
                    static_cast<double>(seen.running);
  }
  const auto used = hmk::cpu_time_of(pid_);
  if (!used) return hmk::Error{"PID " + std::to_string(pid_) + " has ended", ""};
  return Reading{instructions, std::chrono::duration<double>(*used).count()};
}

hmk::Result<double> figure_between(const Meter& meter, const Reading& before,
                                   const Reading& after) {
  if (after.value < before.value)
    return hmk::Error{"the total " + meter.name() + " fell from " + digits_of(before.value) +
                          " to " + digits_of(after.value),
                      "a figure that rises and falls goes without --metric-kind total"};
  if (after.seconds <= before.seconds) return 0.0;  // it has not run
  return (after.value - before.value) / (after.seconds - before.seconds);
}

}  // namespace hmkctl
