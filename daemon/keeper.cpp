// SPDX-License-Identifier: MIT
//
// Which processes are managed: how App attaches, follows and leaves them, by rules and by hand.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "managed.hpp"
#include "params.hpp"
#include "report.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"
#include "util/suggest.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

/// It may go better in a moment: memory or descriptors were short.
bool is_passing(int err) {
  return err == ENOMEM || err == EMFILE || err == ENFILE || err == EAGAIN || err == EINTR;
}

bool holds(const std::vector<AttachRule>& rules, const AttachRule& rule) {
  return std::ranges::find(rules, rule) != rules.end();
}

}  // namespace

Result<void> App::attach(std::int32_t pid) {
  Result<void> done = attach_by(rule_of_pid(pid), pid);
  if (!done) return done;
  left_alone_.erase(pid);
  save_state();
  return {};
}

Result<void> App::attach_by(const AttachRule& rule, std::int32_t pid) {
  if (managed_.contains(pid))
    return Error{"PID " + std::to_string(pid) + " is managed already", "see 'hmkctl status'"};
  Result<ProcessInfo> process = read_process(options_.root, pid);
  if (!process) return process.error();
  const std::shared_ptr<const Config> config = config_for(pid, config_);
  Result<Session> session = options_.attach(pid, to_params(*config));
  if (!session) return session.error();

  auto target = std::make_unique<Target>(pid, *std::move(process), *std::move(session), config);
  if (is_paused_)
    if (const Result<void> stopped = target->device().run(false); !stopped) return stopped.error();
  look_at_machine();
  target->look_around(around());
  if (const auto held = holds_.find(pid); held != holds_.end())
    target->hold(held->second.mode);  // over an exec, too
  spdlog::info("attached pid={} comm={} rule={} mode={} features=\"{}\"", pid,
               printable_word(target->process().comm), to_string(rule), to_string(target->mode()),
               feature_names(target->session()));
  if (config->mode == Mode::manage && !can_move(target->session()))
    spdlog::warn("cannot move pid={} missing=\"{}\" hint=\"only tracked on this kernel\"", pid,
                 static_cast<const char*>(target->session().info.missing));
  Managed& managed =
      *managed_.emplace(pid, std::make_unique<Managed>(loop_, std::move(target), rule))
           .first->second;
  waiting_.erase(pid);
  announce("attached", {{"pid", pid},
                        {"comm", managed.target->process().comm},
                        {"rule", to_string(rule)},
                        {"mode", to_string(managed.target->mode())}});
  watch(managed);
  resume_plan(*managed.target);
  if (options_.waits != nullptr)
    if (const Result<void> counted = options_.waits->watch(pid); !counted)
      spdlog::warn("waits not counted pid={} reason=\"{}\"", pid, counted.error().line());
  report_status();
  return {};
}

/// After a failure: again later where it may go better, else not before its rule changes.
void App::put_off(std::int32_t pid, const Waiting& as, const Error& error) {
  if (error.err == ESRCH) return;  // it has just ended
  if (!is_passing(error.err)) {
    waiting_.erase(pid);
    left_alone_.emplace(pid, LeftAlone{as.start_time, false});
    spdlog::warn("not attached pid={} rule={} reason=\"{}\"", pid, to_string(as.rule),
                 error.line());
  } else if (!waiting_.contains(pid) || !waiting_.at(pid).has_failed) {
    waiting_.insert_or_assign(pid, Waiting{as.rule, as.start_time, true});
    spdlog::warn("not attached yet pid={} rule={} reason=\"{}\" hint=\"tried again every {}\"", pid,
                 to_string(as.rule), error.line(), format_duration(config_->attach_poll));
  }
}

Result<void> App::detach(std::int32_t pid) {
  const auto waiting = waiting_.find(pid);
  if (waiting == waiting_.end() && !managed_.contains(pid))
    return Error{"PID " + std::to_string(pid) + " is not managed", "see 'hmkctl status'"};
  spdlog::info("detached pid={}", pid);
  announce("detached", {{"pid", pid}, {"reason", "by hand"}});
  left_alone_[pid] = {
      waiting == waiting_.end() ? find(pid)->process().start_time : waiting->second.start_time,
      true};
  waiting_.erase(pid);
  forget(pid);
  save_state();
  return {};
}

/// What it has counted stays in the metrics. Its plan is not for who takes over.
void App::let_go(std::int32_t pid) {
  shared_.forget(pid);
  hints_.forget(pid);
  if (Target* const target = find(pid))
    ended_.add(hmk::report_stats(*this, {target}).at("targets").at(0));
  const auto managed = managed_.extract(pid);
  if (managed && managed.mapped()->target->follower()) save_state();
}

void App::forget(std::int32_t pid) {
  end_records(pid);
  holds_.erase(pid);
  let_go(pid);
  if (options_.waits != nullptr) options_.waits->forget(pid);
  report_status();
  if (managed_.empty() && options_.ends_with_last_target) stop();
}

/// The address space has ended: with the process, or by an exec that gave it a
/// new one. The start time tells a reused PID from the same process.
void App::on_gone(std::int32_t pid) {
  end_records(pid);  // what it may exec into is another program
  const ProcessInfo before = managed_.at(pid)->target->process();
  const AttachRule rule = managed_.at(pid)->rule;
  let_go(pid);
  const auto now = read_candidate(options_.root, pid, needs_of(config_->attach));
  if (now && now->start_time == before.start_time) {
    const std::optional<AttachRule> by = rule_after_exec(rule, *now);
    const Result<void> again = by ? attach_by(*by, pid) : Error{"", "", ESRCH};
    if (again) return;
    if (by) put_off(pid, {*by, before.start_time, false}, again.error());
  }
  spdlog::info("target ended pid={} comm={}", pid, printable_word(before.comm));
  announce("ended", {{"pid", pid}, {"comm", before.comm}});
  forget(pid);
}

/// What it is managed by from now on; nothing where no rule names it, or not yet.
std::optional<AttachRule> App::rule_after_exec(const AttachRule& rule, const Candidate& process) {
  if (rule.kind == AttachRule::Kind::pid) return rule;
  std::optional<AttachRule> by;
  if (rule.children && !is_excluded(config_->attach, process)) by = rule;
  if (const RuleByPid named = find_wanted({process}, config_->attach, {}); !by && !named.empty())
    by = named.begin()->second;
  if (by && process.resident_bytes < by->min_size) {
    waiting_.insert_or_assign(process.pid, Waiting{*by, process.start_time, false});
    return std::nullopt;
  }
  return by;
}

RuleByPid App::managed_rules() const {
  RuleByPid rules;
  for (const auto& [pid, managed] : managed_) rules.emplace(pid, managed->rule);
  return rules;
}

bool App::has_looking_rule() const {
  return std::ranges::any_of(config_->attach, [](const AttachRule& rule) {
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
                       guard("newcomers", [this] { find_processes(options_.newcomers->take()); });
                       wait_for_newcomers();
                     });
                   });
}

/// Who is told of by the kernel need not be looked for; nobody tells that a process has grown.
void App::look_again() {
  if (options_.newcomers == nullptr) return find_processes();
  if (waiting_.empty()) return;
  std::set<std::int32_t> pids;
  for (const auto& [pid, waiting] : waiting_) pids.insert(pid);
  find_processes(pids);
}

/// Forget those of other times under the same PID, as far as they were looked at.
template <class ByPid>
void App::forget_the_gone(ByPid& known, const std::vector<Candidate>& processes, const Told& told) {
  std::map<std::int32_t, std::uint64_t> start_times;
  for (const Candidate& process : processes) start_times.emplace(process.pid, process.start_time);
  std::erase_if(known, [&](const auto& entry) {
    const auto now = start_times.find(entry.first);
    if (now != start_times.end()) return now->second != entry.second.start_time;
    return !told || told->contains(entry.first);
  });
}

void App::find_processes(const Told& told) {
  if (!has_looking_rule() && waiting_.empty()) return;
  const Needs needs = needs_of(config_->attach);
  const std::vector<Candidate> processes =
      told ? read_candidates(options_.root, *told, needs) : list_processes(options_.root, needs);
  forget_the_gone(left_alone_, processes, told);
  forget_the_gone(waiting_, processes, told);
  RuleByPid known = managed_rules();
  for (const auto& [pid, waiting] : waiting_) known.emplace(pid, waiting.rule);
  RuleByPid wanted = find_wanted(processes, config_->attach, known);
  for (const Candidate& process : processes) {
    // A descendant stays one after its parent has ended, and a PID needs no rule.
    if (const auto waiting = waiting_.find(process.pid); waiting != waiting_.end())
      if (const AttachRule& rule = waiting->second.rule;
          rule.kind == AttachRule::Kind::pid ||
          (rule.children && !is_excluded(config_->attach, process)))
        wanted.emplace(process.pid, rule);
    if (const auto found = wanted.find(process.pid); found != wanted.end())
      take(process, found->second);
    else
      waiting_.erase(process.pid);
  }
}

/// A process that a rule names: now, or when it is large enough.
void App::take(const Candidate& process, const AttachRule& rule) {
  const std::int32_t pid = process.pid;
  if (managed_.contains(pid) || left_alone_.contains(pid) || pid == ::getpid()) return;
  if (process.resident_bytes < rule.min_size) {
    waiting_.insert_or_assign(pid, Waiting{rule, process.start_time, false});
    return;
  }
  if (const Result<void> done = attach_by(rule, pid); !done)
    put_off(pid, {rule, process.start_time, false}, done.error());
}

/// What was managed by a rule that is gone, or is excluded now, and is named by no other is let go;
/// what was attached by hand stays.
void App::rules_changed(const std::vector<AttachRule>& old) {
  const auto processes = list_processes(options_.root, needs_of(config_->attach));
  RuleByPid stay = managed_rules();
  std::erase_if(stay, [&](const auto& entry) {
    return holds(old, entry.second) && !holds(config_->attach, entry.second);
  });
  for (const Candidate& process : processes)
    if (const auto by = stay.find(process.pid); by != stay.end() &&
                                                by->second.kind != AttachRule::Kind::pid &&
                                                is_excluded(config_->attach, process))
      stay.erase(by);
  RuleByPid wanted = find_wanted(processes, config_->attach, stay);
  for (const Candidate& process : processes)
    if (const auto by = wanted.find(process.pid);
        by != wanted.end() && process.resident_bytes < by->second.min_size)
      wanted.erase(by);
  for (const auto& [pid, rule] : managed_rules()) {
    if (stay.contains(pid)) continue;
    if (const auto by = wanted.find(pid); by != wanted.end()) {
      managed_.at(pid)->rule = by->second;
      continue;
    }
    const std::string reason = "rule " + to_string(rule) +
                               (holds(config_->attach, rule) ? " names it no longer" : " is gone");
    spdlog::info("detached pid={} reason=\"{}\"", pid, reason);
    announce("detached", {{"pid", pid}, {"reason", reason}});
    forget(pid);
  }
  std::erase_if(left_alone_, [](const auto& left) { return !left.second.by_hand; });
  std::erase_if(waiting_, [&](const auto& w) { return !holds(config_->attach, w.second.rule); });
  for (const AttachRule& rule : config_->attach)
    if (!holds(old, rule)) attach_pid_of(rule);
  find_processes();
  wait_for_newcomers();
}

/// What a rule of a PID asks for, at the moment it is taken over.
void App::attach_pid_of(const AttachRule& rule) {
  const std::int32_t pid = pid_of(rule);
  if (pid == 0 || managed_.contains(pid)) return;
  const auto process = read_candidate(options_.root, pid, {});
  if (const Result<void> done = attach_by(rule, pid); !done && process)
    put_off(pid, {rule, process->start_time, false}, done.error());
  else if (!done)
    spdlog::warn("not attached pid={} reason=\"{}\"", pid, done.error().line());
}

Result<App::RuleChange> App::attach_rule(const std::string& word, bool save) {
  const Result<AttachRule> rule = parse_rule(word);
  if (!rule) return rule.error();
  const std::string text = to_string(*rule);
  if (holds(config_->attach, *rule))
    return Error{"the rule '" + text + "' is in force already", "see 'hmkctl get attach'", EEXIST};
  Config with = *config_;
  with.attach.push_back(*rule);
  const Result<Change> changed = set("attach", find_key("attach")->get(with), save);
  if (!changed) return changed.error();
  RuleChange change{text, 0, 0, 0, changed->saved};
  for (const Candidate& process : list_processes(options_.root, needs_of({*rule})))
    change.named += names(*rule, process);
  for (const auto& [pid, managed] : managed_) change.managed += managed->rule == *rule;
  for (const auto& [pid, waiting] : waiting_) change.waiting += waiting.rule == *rule;
  return change;
}

Result<App::RuleChange> App::detach_rule(const std::string& word, bool save) {
  const Result<AttachRule> rule = parse_rule(word);
  if (!rule) return rule.error();
  const std::string text = to_string(*rule);
  Config without = *config_;
  if (std::erase(without.attach, *rule) == 0) {
    std::vector<std::string> words;
    for (const AttachRule& each : config_->attach) words.push_back(to_string(each));
    const std::vector<std::string_view> known(words.begin(), words.end());
    const std::string meant = did_you_mean(text, known);
    return Error{"no rule '" + text + "' is in force",
                 meant.empty() ? "see 'hmkctl get attach'" : meant, ENOENT};
  }
  const std::size_t before = managed_.size();
  const Result<Change> changed = set("attach", find_key("attach")->get(without), save);
  if (!changed) return changed.error();
  return RuleChange{text, before - std::min(before, managed_.size()), 0, 0, changed->saved};
}

OperatorState App::state() const {
  OperatorState state{is_paused_, {}, {}};
  const auto is_by_hand = [&](const AttachRule& rule, std::int32_t pid) {
    const auto held = holds_.find(pid);
    return rule.kind == AttachRule::Kind::pid && !holds(config_->attach, rule) &&
           (held == holds_.end() || !held->second.attached);
  };
  for (const auto& [pid, managed] : managed_)
    if (is_by_hand(managed->rule, pid)) state.attached[pid] = managed->target->process().start_time;
  for (const auto& [pid, waiting] : waiting_)
    if (is_by_hand(waiting.rule, pid)) state.attached[pid] = waiting.start_time;
  for (const auto& [pid, left] : left_alone_)
    if (left.by_hand) state.detached[pid] = left.start_time;
  state.plans = plans_before_;
  for (const auto& [pid, managed] : managed_)
    if (const auto& follower = managed->target->follower())
      state.plans[pid] = {managed->target->process().start_time, follower->begun_ns().value_or(0)};
  return state;
}

void App::save_state() {
  if (options_.state.empty()) return;
  const OperatorState now = state();
  auto file = PendingFile::write(options_.state, state_text(now, boot_id(options_.root)));
  const Result<void> done = file ? file->commit() : file.error();
  if (!done)
    spdlog::warn("state not saved reason=\"{}\" hint=\"a restart forgets it\"",
                 done.error().line());
  remove_old_plans(now.plans);
}

/// The processes that were attached by hand and are still there; all else is in force afterwards.
OperatorState::StartTimes App::restore_state() {
  if (options_.state.empty()) return {};
  Result<OperatorState> before = read_state(options_.state, boot_id(options_.root));
  if (!before) {
    const std::string aside = options_.state.string() + ".bad";
    const bool is_aside = ::rename(options_.state.c_str(), aside.c_str()) == 0;
    spdlog::warn("state not restored reason=\"{}\" set_aside={}", before.error().line(),
                 is_aside ? aside : std::strerror(errno));
    return {};
  }
  const auto is_gone = [&](std::int32_t pid, std::uint64_t start_time) {
    const auto process = read_candidate(options_.root, pid, {});
    return !process || process->start_time != start_time;
  };
  const auto is_old = [&](const auto& entry) { return is_gone(entry.first, entry.second); };
  std::erase_if(before->attached, is_old);
  std::erase_if(before->detached, is_old);
  std::erase_if(before->plans,
                [&](const auto& entry) { return is_gone(entry.first, entry.second.start_time); });
  plans_before_ = std::move(before->plans);
  remove_old_plans(plans_before_);
  is_paused_ = before->is_paused;
  if (is_paused_) spdlog::info("paused reason=\"as it was before hmkd started\"");
  for (const auto& [pid, start] : before->detached) left_alone_[pid] = {start, true};
  return before->attached;
}

}  // namespace hmk
