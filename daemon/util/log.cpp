// SPDX-License-Identifier: MIT
#include "util/log.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "util/printable.hpp"

namespace hmk {
namespace {

/// "%*" in the pattern: "<3>" for an error and so on, as sd-daemon(3) defines them.
class Priority : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    static constexpr std::array<std::string_view, 7> kPrefix{"<7>", "<7>", "<6>", "<4>",
                                                             "<3>", "<2>", "<6>"};
    const std::string_view prefix = kPrefix[static_cast<std::size_t>(message.level)];
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

/// "%V" in the pattern: the text as one line, whatever the names of processes in it.
class Line : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string line = printable({message.payload.data(), message.payload.size()});
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Line>(); }
};

class Ear : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Ear(std::function<void(std::string_view)> heard) : heard_(std::move(heard)) {
    set_level(spdlog::level::warn);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    heard_({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  std::function<void(std::string_view)> heard_;
};

/// JOURNAL_STREAM is "device:inode" of the journal's socket; it is inherited, so
/// only when stderr is that very socket does the journal read our lines.
bool stderr_is_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat st {};
  if (stream == nullptr || fstat(STDERR_FILENO, &st) != 0) return false;
  return std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino) == stream;
}

}  // namespace

void open_log(std::string_view level) {
  auto log =
      std::make_shared<spdlog::logger>("hmkd", std::make_shared<spdlog::sinks::stderr_sink_st>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Priority>('*');
  formatter->add_flag<Line>('V');
  formatter->set_pattern(stderr_is_journal() ? "%*%V" : "%H:%M:%S.%e %-5l %V");
  log->set_formatter(std::move(formatter));
  log->set_level(spdlog::level::from_str(std::string(level)));
  spdlog::set_default_logger(std::move(log));
}

std::shared_ptr<void> hear_warnings(std::function<void(std::string_view)> heard) {
  const std::shared_ptr<spdlog::logger> log = spdlog::default_logger();
  const auto ear = std::make_shared<Ear>(std::move(heard));
  log->sinks().push_back(ear);
  return {nullptr, [log, ear](void*) { std::erase(log->sinks(), ear); }};
}

bool is_log_level(std::string_view level) {
  return level == "error" || level == "warn" || level == "info" || level == "debug";
}

}  // namespace hmk
