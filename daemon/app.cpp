// SPDX-License-Identifier: MIT
#include "app.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "config/keys.hpp"
#include "decide.hpp"
#include "params.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"
#include "util/units.hpp"
#include "verbs.hpp"

namespace hmk {

/// A target and the wait on its descriptor, which the device owns.
struct App::Managed {
  Managed(boost::asio::io_context& loop, std::unique_ptr<Target> t, AttachRule by)
      : target(std::move(t)), descriptor(loop, target->device().poll_fd()), rule(std::move(by)) {}
  ~Managed() { descriptor.release(); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  std::unique_ptr<Target> target;
  boost::asio::posix::stream_descriptor descriptor;
  AttachRule rule;  ///< why it is managed; of its PID when by hand
};

App::App(boost::asio::io_context& loop, Config config, Options options)
    : loop_(loop),
      config_(std::move(config)),
      origins_(options.origins),
      options_(std::move(options)),
      service_(loop),
      signals_(loop, SIGINT, SIGTERM, SIGHUP),
      server_(loop, [this](const Request& request) { return run_verb(*this, request); }),
      finder_(loop, config_.attach_poll, [this] { find_processes(); }),
      told_(loop),
      settled_(loop),
      pacer_(loop) {
  pace_.limit(config_.bandwidth);
  if (options_.newcomers == nullptr) return;
  finder_.stop();
  told_.assign(options_.newcomers->poll_fd());
}

App::~App() {
  if (told_.is_open()) told_.release();
}

Result<void> App::start() {
  if (Result<void> known = check_tiers(read_machine(options_.root), config_.tiers); !known)
    return known;
  for (const AttachRule& rule : config_.attach) {
    const std::int32_t pid = pid_of(rule);
    if (pid == 0) continue;
    Result<void> done = attach_by(rule, pid);
    if (done) continue;
    if (options_.ends_with_last_target) return done;
    spdlog::warn("not attached pid={} reason=\"{}\"", pid, done.error().line());
  }
  find_processes();
  wait_for_newcomers();
  if (Result<void> open = server_.listen(
          config_.socket, {.readers = config_.socket_group, .admins = config_.admin_group});
      !open)
    return open;
  server_.on_leave([this](std::uint64_t client) { release(client); });
  server_.serve_pages([this](const std::string& path) { return run_page(*this, path); });
  if (!config_.metrics.empty())
    if (Result<void> open = server_.listen_loopback(config_.metrics); !open) return open;
  wait_for_signal();
  spdlog::info("ready mode={} interval={} socket={} targets={}", to_string(config_.mode),
               format_duration(config_.interval), config_.socket, managed_.size());
  service_.ready();
  report_status();
  return {};
}

void App::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
    if (ec) return;
    if (signal == SIGHUP) {
      wait_for_signal();
      if (const auto changes = reload(); !changes) {
        std::istringstream lines(changes.error().line());
        for (std::string line; std::getline(lines, line);)
          spdlog::error("not reloaded reason=\"{}\"", line);
      }
      return;
    }
    spdlog::info("stopping signal={}", signal);
    stop();
  });
}

void App::stop() {
  service_.stopping();
  managed_.clear();  // closes every session: profiling ends, memory stays where it is
  loop_.stop();
}

Surroundings App::around() {
  return {config_, machine_, options_.root, pace_};
}

Result<void> App::attach(std::int32_t pid) {
  return attach_by(rule_of_pid(pid), pid);
}

Result<void> App::attach_by(const AttachRule& rule, std::int32_t pid) {
  if (managed_.contains(pid))
    return Error{"PID " + std::to_string(pid) + " is managed already", "see 'hmkctl status'"};
  Result<ProcessInfo> process = read_process(options_.root, pid);
  if (!process) return process.error();
  Result<Session> session = options_.attach(pid, to_params(config_));
  if (!session) return session.error();

  auto target = std::make_unique<Target>(pid, *std::move(process), *std::move(session));
  if (is_paused_)
    if (const Result<void> stopped = target->device().run(false); !stopped) return stopped.error();
  machine_ = read_machine(options_.root);
  target->look_around(around());
  if (const auto held = holds_.find(pid); held != holds_.end())
    target->hold(held->second.mode, config_);  // over an exec, too
  spdlog::info("attached pid={} comm={} rule={} mode={} features=\"{}\"", pid,
               printable_word(target->process().comm), to_string(rule),
               to_string(target->mode(config_)), feature_names(target->session()));
  if (config_.mode == Mode::manage && !can_move(target->session()))
    spdlog::warn("cannot move pid={} missing=\"{}\" hint=\"only tracked on this kernel\"", pid,
                 static_cast<const char*>(target->session().info.missing));
  Managed& managed =
      *managed_.emplace(pid, std::make_unique<Managed>(loop_, std::move(target), rule))
           .first->second;
  watch(managed);
  if (options_.waits != nullptr)
    if (const Result<void> counted = options_.waits->watch(pid); !counted)
      spdlog::warn("waits not counted pid={} reason=\"{}\"", pid, counted.error().line());
  report_status();
  return {};
}

Result<void> App::detach(std::int32_t pid) {
  if (!managed_.contains(pid))
    return Error{"PID " + std::to_string(pid) + " is not managed", "see 'hmkctl status'"};
  spdlog::info("detached pid={}", pid);
  left_alone_[pid] = find(pid)->process().start_time;
  forget(pid);
  return {};
}

Result<void> App::hold(std::uint64_t client, std::int32_t pid, Mode mode, bool put_back) {
  if (client == 0) return Error{"a mode is held over a connection only", "use 'hmkctl try PID'"};
  if (is_paused_) return Error{"hmkd is paused", "go on with 'hmkctl resume' and try again"};
  const auto held = holds_.find(pid);
  if (held != holds_.end() && held->second.client != client)
    return Error{"PID " + std::to_string(pid) + " is being tried by another hmkctl",
                 "wait until that one has ended"};
  Target* const target = find(pid);
  if (held == holds_.end()) holds_.emplace(pid, Hold{client, mode, target == nullptr});
  holds_.at(pid).mode = mode;
  if (target != nullptr) {
    target->hold(mode, config_);
  } else if (Result<void> done = attach(pid); !done) {
    holds_.erase(pid);
    return done;
  }
  server_.keep(client);
  if (put_back) find(pid)->put_back(around());
  keep_pace();
  spdlog::info("held pid={} mode={} put_back={}", pid, to_string(mode), put_back);
  return {};
}

void App::release(std::uint64_t client) {
  for (auto held = holds_.begin(); held != holds_.end();) {
    const auto [pid, hold] = *held++;
    if (hold.client != client) continue;
    holds_.erase(pid);
    spdlog::info("released pid={}", pid);
    if (hold.attached)
      forget(pid);
    else if (Target* const target = find(pid))
      target->hold(std::nullopt, config_);
  }
  find_processes();  // a rule may have named meanwhile what was attached for a hold
}

void App::forget(std::int32_t pid) {
  holds_.erase(pid);
  managed_.erase(pid);
  if (options_.waits != nullptr) options_.waits->forget(pid);
  report_status();
  if (managed_.empty() && options_.ends_with_last_target) stop();
}

void App::watch(Managed& managed) {
  managed.descriptor.async_wait(
      boost::asio::posix::descriptor_base::wait_read,
      [this, pid = managed.target->pid()](const boost::system::error_code& ec) {
        // After a detach the wait is cancelled; the PID may be managed anew by then.
        if (!ec) on_readable(pid);
      });
}

void App::on_readable(std::int32_t pid) {
  const auto found = managed_.find(pid);
  if (found == managed_.end()) return;
  switch (found->second->target->handle_events(around())) {
    case Target::State::alive:
      watch(*found->second);
      if (is_due(targets())) {
        machine_ = read_machine(options_.root);
        decide(targets(), around());
      }
      keep_pace();
      report_status();
      break;
    case Target::State::gone:
      on_gone(pid);
      break;
    case Target::State::stopped:
      left_alone_[pid] = find(pid)->process().start_time;
      forget(pid);
      break;
    case Target::State::broken:
      forget(pid);
      break;
  }
}

/// One timer for who may send on first; what an event brings sets it anew.
void App::keep_pace() {
  std::optional<Pace::Clock::time_point> next;
  for (const Target* const target : targets())
    if (const auto at = target->held_until(); at && (!next || *at < *next)) next = at;
  if (!next) return;
  pacer_.expires_at(*next);
  pacer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    for (Target* const target : targets()) target->retry_moves();
    keep_pace();
  });
}

/// The address space has ended: with the process, or by an exec that gave it a
/// new one. The start time tells a reused PID from the same process.
void App::on_gone(std::int32_t pid) {
  const ProcessInfo before = managed_.at(pid)->target->process();
  const AttachRule rule = managed_.at(pid)->rule;
  managed_.erase(pid);
  const Result<ProcessInfo> now = read_process(options_.root, pid);
  if (now && now->start_time == before.start_time && is_named_still(rule, pid)) {
    const Result<void> again = attach_by(rule, pid);
    if (again) return;
    spdlog::warn("not attached again pid={} reason=\"{}\"", pid, again.error().line());
  }
  spdlog::info("target ended pid={} comm={}", pid, printable_word(before.comm));
  forget(pid);
}

bool App::is_named_still(const AttachRule& rule, std::int32_t pid) const {
  if (rule.kind == AttachRule::Kind::pid || rule.children) return true;
  const auto process = read_candidate(options_.root, pid, true);
  return process && !find_wanted({*process}, config_.attach, {}).empty();
}

RuleByPid App::managed_rules() const {
  RuleByPid rules;
  for (const auto& [pid, managed] : managed_) rules.emplace(pid, managed->rule);
  return rules;
}

bool App::has_looking_rule() const {
  return std::ranges::any_of(config_.attach, [](const AttachRule& rule) {
    return rule.kind != AttachRule::Kind::pid || rule.children;
  });
}

void App::wait_for_newcomers() {
  if (options_.newcomers == nullptr || is_waiting_ || !has_looking_rule()) return;
  is_waiting_ = true;
  told_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                   [this](const boost::system::error_code& ec) {
                     if (ec) return;
                     settled_.expires_after(options_.settle);
                     settled_.async_wait([this](const boost::system::error_code& cancelled) {
                       if (cancelled) return;
                       is_waiting_ = false;
                       find_processes(options_.newcomers->take());
                       wait_for_newcomers();
                     });
                   });
}

void App::find_processes(const Told& told) {
  if (!has_looking_rule()) return;
  const bool with_cgroup = std::ranges::any_of(config_.attach, [](const AttachRule& rule) {
    return rule.kind == AttachRule::Kind::cgroup || rule.kind == AttachRule::Kind::unit;
  });
  const std::vector<Candidate> processes = told ? read_candidates(options_.root, *told, with_cgroup)
                                                : list_processes(options_.root, with_cgroup);
  std::map<std::int32_t, std::uint64_t> start_times;
  for (const Candidate& process : processes) start_times.emplace(process.pid, process.start_time);
  std::erase_if(left_alone_, [&](const auto& left) {
    const auto now = start_times.find(left.first);
    if (now != start_times.end()) return now->second != left.second;
    return !told || told->contains(left.first);
  });
  for (const auto& [pid, rule] : find_wanted(processes, config_.attach, managed_rules())) {
    if (managed_.contains(pid) || left_alone_.contains(pid) || pid == ::getpid()) continue;
    const Result<void> done = attach_by(rule, pid);
    if (done || done.error().err == ESRCH) continue;  // it has just ended
    left_alone_.emplace(pid, start_times.at(pid));
    spdlog::warn("not attached pid={} rule={} reason=\"{}\"", pid, to_string(rule),
                 done.error().line());
  }
}

/// Who was managed by a rule that is gone, and is named by no other, is left; who was
/// attached by hand stays.
void App::rules_changed(const std::vector<AttachRule>& old) {
  const auto is_in = [](const std::vector<AttachRule>& rules, const AttachRule& rule) {
    return std::ranges::find(rules, rule) != rules.end();
  };
  RuleByPid managed = managed_rules();
  std::erase_if(managed, [&](const auto& entry) {
    return is_in(old, entry.second) && !is_in(config_.attach, entry.second);
  });
  const RuleByPid wanted =
      find_wanted(list_processes(options_.root, true), config_.attach, managed);
  for (const auto& [pid, rule] : managed_rules()) {
    if (managed.contains(pid)) continue;
    if (const auto by = wanted.find(pid); by != wanted.end()) {
      managed_.at(pid)->rule = by->second;
      continue;
    }
    spdlog::info("detached pid={} reason=\"rule {} is gone\"", pid, to_string(rule));
    forget(pid);
  }
  left_alone_.clear();
  for (const AttachRule& rule : config_.attach) {
    const std::int32_t pid = pid_of(rule);
    if (pid == 0 || is_in(old, rule) || managed_.contains(pid)) continue;
    if (const Result<void> done = attach_by(rule, pid); !done)
      spdlog::warn("not attached pid={} reason=\"{}\"", pid, done.error().line());
  }
  find_processes();
  wait_for_newcomers();
}

Result<void> App::pause(bool is_paused) {
  if (is_paused == is_paused_) return {};
  for (Target* const target : targets()) {
    // A process that ends at this moment takes its clock with it.
    if (const Result<void> done = target->device().run(!is_paused); !done)
      spdlog::warn("clock not {} pid={} reason=\"{}\"", is_paused ? "stopped" : "started",
                   target->pid(), done.error().line());
    if (is_paused) target->stop_moves();
  }
  is_paused_ = is_paused;
  spdlog::info(is_paused ? "paused" : "resumed");
  report_status();
  return {};
}

Target* App::find(std::int32_t pid) {
  const auto found = managed_.find(pid);
  return found == managed_.end() ? nullptr : found->second->target.get();
}

std::string App::rule_of(std::int32_t pid) const {
  return to_string(managed_.at(pid)->rule);
}

std::vector<Target*> App::targets() {
  std::vector<Target*> all;
  for (const auto& [pid, managed] : managed_) all.push_back(managed->target.get());
  return all;
}

void App::report_status() {
  std::string text = (is_paused_ ? "paused" : to_string(config_.mode)) + ", " +
                     std::to_string(managed_.size()) +
                     (managed_.size() == 1 ? " process" : " processes");
  for (const auto& [pid, managed] : managed_) {
    if (!managed->target->session().instead.empty())
      text += ", pid " + std::to_string(pid) + " without the module";
    if (!managed->target->last()) continue;
    const hmk_interval& interval = managed->target->last()->interval;
    const auto wall = interval.end_ns - interval.start_ns;
    if (wall == 0) continue;
    const auto used_bp = static_cast<std::uint32_t>(interval.profile_ns * 10'000 / wall);
    text += ", pid " + std::to_string(pid) + " profiling " + format_percent_bp(used_bp) + " of " +
            format_percent_bp(config_.overhead_bp);
  }
  service_.status(text);
}

}  // namespace hmk
