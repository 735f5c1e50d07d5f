// SPDX-License-Identifier: MIT
#include "managed.hpp"

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

using nlohmann::json;

namespace {

// Watermarks may be read so much more often than the whole machine.
constexpr unsigned kWatermarksOftener = 10;

}  // namespace

App::App(boost::asio::io_context& loop, Config config, Options options)
    : loop_(loop),
      config_(std::make_shared<const Config>(std::move(config))),
      origins_(options.origins),
      options_(std::move(options)),
      service_(loop),
      signals_(loop, SIGINT, SIGTERM, SIGHUP),
      server_(loop, [this](const Request& request) { return run_verb(*this, request); }),
      hints_(loop, {.is_welcome = [this](std::int32_t pid) { return is_welcome(pid); },
                    .on_news = [this](std::int32_t pid) {
                      guard("hints", [this, pid] { on_hints(pid); });
                    }}),
      finder_(loop, config_->attach_poll,
              [this] { guard("attach_poll", [this] { look_again(); }); }),
      told_(loop),
      settled_(loop),
      pacer_(loop),
      status_timer_(loop) {
  pace_.limit(config_->bandwidth);
  warnings_ = hear_warnings([this](std::string_view text) {
    announce("warning", {{"text", printable(text)}});
  });
  if (options_.newcomers != nullptr) told_.assign(options_.newcomers->poll_fd());
}

App::~App() {
  if (told_.is_open()) told_.release();
}

Result<void> App::start() {
  if (Result<void> known = check_tiers(read_machine(options_.root), config_->tiers); !known)
    return known;
  if (Result<void> known = check_pins(see_machine(), *config_); !known) return known;
  if (auto calibration = calibration_for(*config_))
    calibration_ = *std::move(calibration);
  else
    spdlog::warn("calibration is not used reason=\"{}\"", calibration.error().line());
  const OperatorState::StartTimes by_hand = restore_state();
  for (const AttachRule& rule : config_->attach) {
    if (left_alone_.contains(pid_of(rule))) continue;
    if (!options_.ends_with_last_target)
      attach_pid_of(rule);
    else if (const std::int32_t pid = pid_of(rule); pid != 0)
      if (Result<void> done = attach_by(rule, pid); !done) return done;
  }
  find_processes();
  // What a rule names by now is the rule's.
  for (const auto& [pid, start] : by_hand) attach_pid_of(rule_of_pid(pid));
  wait_for_newcomers();
  if (Result<void> open = server_.listen(
          config_->socket, {.readers = config_->socket_group, .admins = config_->admin_group});
      !open)
    return open;
  listen_to_hints();
  server_.on_leave([this](std::uint64_t client) { guard("release", [&] { release(client); }); });
  server_.serve_pages([this](const std::string& path) { return run_page(*this, path); });
  if (!config_->metrics.empty())
    if (Result<void> open = server_.listen_loopback(config_->metrics); !open) return open;
  wait_for_signal();
  spdlog::info("ready mode={} interval={} socket={} targets={}", to_string(config_->mode),
               format_duration(config_->interval), config_->socket, managed_.size());
  service_.ready();
  report_status();
  return {};
}

void App::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
    if (ec) return;
    if (signal == SIGHUP) {
      wait_for_signal();
      guard("reload", [this] {
        const auto changes = reload();
        std::istringstream lines(changes ? "" : changes.error().line());
        for (std::string line; std::getline(lines, line);)
          spdlog::error("not reloaded reason=\"{}\"", line);
      });
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

/// Nothing where there is none, and need not be.
Result<std::optional<Calibration>> App::calibration_for(const Config& config) const {
  if (config.calibration.empty()) return std::optional<Calibration>();
  Result<Calibration> read = read_calibration(config.calibration);
  if (!read && read.error().err == ENOENT && config.calibration == kCalibrationFile)
    return std::optional<Calibration>();
  if (!read) return read.error();
  const auto here = shape_of(read_machine(options_.root), cpu_model(options_.root));
  if (Result<void> same = check_same_machine(*read, here); !same)
    return Error{config.calibration + ": " + same.error().what, same.error().remedy, ESTALE};
  return std::optional<Calibration>(*std::move(read));
}

Machine App::see_machine() const {
  Machine machine = read_machine(options_.root);
  if (calibration_) apply(*calibration_, machine);
  return machine;
}

/// What is free of each node each time, all else when it has changed or when it is time. Moves that
/// found no room were planned by watermarks that have risen since.
void App::look_at_machine() {
  const std::uint64_t refused = no_room_bytes();
  if (looks_.is_due() || !renew_free(machine_, options_.root)) {
    looks_.run(options_.look_parts, [this] { machine_ = see_machine(); });
    refused_bytes_ = refused;
  } else if (refused != refused_bytes_ && watermark_looks_.is_due()) {
    watermark_looks_.run(options_.look_parts / kWatermarksOftener,
                         [this] { renew_watermarks(machine_, options_.root); });
    refused_bytes_ = refused;
  }
  cache_room_.saw(machine_, options_.root, config_->reclaim_cache);
  pressure_.saw(options_.root, config_->pressure_limit_bp);
}

/// What all moves were refused so far for lack of room. Less when a process has ended.
std::uint64_t App::no_room_bytes() {
  std::uint64_t bytes = 0;
  for (const Target* const target : targets())
    bytes += target->mover().counters().refused_bytes[HMK_REFUSED_NO_ROOM];
  return bytes;
}

Surroundings App::around() {
  return {machine_, options_.root, pace_, &cache_room_, options_.look_parts, pressure_.is_high(),
          &shared_};
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
    target->hold(mode);
  } else if (Result<void> done = attach_by(rule_of_pid(pid), pid); !done) {
    holds_.erase(pid);
    return done;
  }
  server_.keep(client);
  if (put_back) find(pid)->put_back(around());
  keep_pace();
  spdlog::info("held pid={} mode={} put_back={}", pid, to_string(mode), put_back);
  announce("mode", {{"pid", pid}, {"mode", to_string(find(pid)->mode())}});
  return {};
}

void App::release(std::uint64_t client) {
  plan_parts_.erase(client);
  if (const auto recorder = recorders_.find(client); recorder != recorders_.end()) {
    spdlog::info("recording ended pid={} intervals={}", recorder->second.pid(),
                 recorder->second.frames());
    recorders_.erase(recorder);
  }
  for (auto held = holds_.begin(); held != holds_.end();) {
    const auto [pid, hold] = *held++;
    if (hold.client != client) continue;
    holds_.erase(pid);
    spdlog::info("released pid={}", pid);
    Target* const target = find(pid);
    if (hold.attached) {
      announce("detached", {{"pid", pid}, {"reason", "its trial has ended"}});
      forget(pid);
    } else if (target != nullptr) {
      target->hold(std::nullopt);
      announce("mode", {{"pid", pid}, {"mode", to_string(target->mode())}});
    }
  }
  find_processes();  // a rule may have named meanwhile what was attached for a hold
}

void App::watch(Managed& managed) {
  managed.descriptor.async_wait(
      boost::asio::posix::descriptor_base::wait_read,
      [this, pid = managed.target->pid()](const boost::system::error_code& ec) {
        // After a detach the wait is cancelled; the PID may be managed anew by then.
        if (ec || guard("interval", [&] { on_readable(pid); })) return;
        if (const Target* const target = find(pid))
          left_alone_[pid] = {target->process().start_time, false};
        forget(pid);
      });
}

/// What fails in a step of the loop costs that step and not hmkd.
bool App::guard(const char* step, const std::function<void()>& run) {
  try {
    run();
    return true;
  } catch (const std::exception& e) {
    spdlog::error("step failed step={} reason=\"{}\" hint=\"report it as a bug\"", step, e.what());
    return false;
  }
}

void App::on_readable(std::int32_t pid) {
  const auto found = managed_.find(pid);
  if (found == managed_.end()) return;
  hear(*found->second->target);
  switch (found->second->target->handle_events(around())) {
    case Target::State::alive:
      watch(*found->second);
      if (is_due(targets())) {
        look_at_machine();
        decide(targets(), around());
      }
      announce_moves();
      keep_pace();
      report_status();
      send_records(pid);  // last: nothing above waits for it
      break;
    case Target::State::gone:
      on_gone(pid);
      break;
    case Target::State::stopped:
      left_alone_[pid] = {find(pid)->process().start_time, false};
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
    guard("moves", [this] {
      for (Target* const target : targets()) target->retry_moves();
      keep_pace();
    });
  });
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
  announce(is_paused ? "paused" : "resumed", json::object());
  save_state();
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

void App::announce(std::string_view event, json fields) {
  if (server_.nr_subscribers() == 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const json time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  fields["event"] = event;
  fields["time_ns"] = time_ns;
  server_.publish(fields, {{"event", "dropped"},
                           {"time_ns", time_ns},
                           {"text", "events came faster than they were read"}});
}

/// Of each interval that has moved something, once.
void App::announce_moves() {
  for (const auto& [pid, managed] : managed_) {
    const std::optional<LastInterval>& last = managed->target->last();
    if (!last || last->interval.seq == managed->announced_seq) continue;
    managed->announced_seq = last->interval.seq;
    if (last->promoted_bytes + last->demoted_bytes == 0) continue;
    announce("moved", {{"pid", pid},
                       {"comm", managed->target->process().comm},
                       {"interval", last->interval.seq},
                       {"promoted_bytes", last->promoted_bytes},
                       {"demoted_bytes", last->demoted_bytes}});
  }
}

Result<json> App::subscribe(std::uint64_t client) {
  if (!server_.subscribe(client))
    return Error{"events come over a connection only", "use 'hmkctl events'"};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return json{{"event", "following"},
              {"time_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()},
              {"mode", is_paused_ ? "paused" : to_string(config_->mode)},
              {"processes", managed_.size()}};
}

/// At most once a second, however many events there are, with the first few processes.
void App::report_status() {
  is_status_due_ = true;
  if (is_status_held_) return;
  is_status_due_ = false;
  is_status_held_ = true;
  service_.status(status_text());
  status_timer_.expires_after(std::chrono::seconds(1));
  status_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    is_status_held_ = false;
    if (is_status_due_) report_status();
  });
}

std::string App::status_text() const {
  constexpr std::size_t kShown = 8;
  std::string text = (is_paused_ ? "paused" : to_string(config_->mode)) + ", " +
                     std::to_string(managed_.size()) +
                     (managed_.size() == 1 ? " process" : " processes");
  std::size_t nr = 0;
  for (const auto& [pid, managed] : managed_) {
    if (++nr > kShown) return text + ", " + std::to_string(managed_.size() - kShown) + " more";
    if (!managed->target->session().instead.empty())
      text += ", pid " + std::to_string(pid) + " without the module";
    if (!managed->target->last()) continue;
    const hmk_interval& interval = managed->target->last()->interval;
    const auto wall = interval.end_ns - interval.start_ns;
    if (wall == 0) continue;
    const auto used_bp = static_cast<std::uint32_t>(interval.profile_ns * 10'000 / wall);
    text += ", pid " + std::to_string(pid) + " profiling " + format_percent_bp(used_bp) + " of " +
            format_percent_bp(managed->target->config().overhead_bp);
  }
  return text;
}

}  // namespace hmk
