// SPDX-License-Identifier: MIT
//
// The configuration in force: how App changes it, saves it and reads it anew.
#include <algorithm>
#include <cerrno>

#include "app.hpp"
#include "config/classes.hpp"
#include "config/saved.hpp"
#include "params.hpp"
#include "util/log.hpp"
#include "util/suggest.hpp"

namespace hmk {
namespace {

Result<const Key*> find_live_key(const std::string& name) {
  const Key* const key = find_key(name);
  if (key != nullptr && key->is_live) return key;
  if (key == nullptr)
    return Error{"unknown key '" + name + "'", did_you_mean(name, live_key_names())};
  return Error{"key '" + name + "' is read at start only",
               "change it in hmkd.yaml and restart hmkd"};
}

Result<void> tell(Target& target, const Config& before, const Config& now) {
  const hmk_params params = changed_params(now, before);
  return params.mask == 0 ? Result<void>{} : target.device().set(params);
}

/// A line each.
std::string all_of(const std::vector<std::string>& problems) {
  std::string lines;
  for (const std::string& problem : problems) lines += problem + "\n";
  return lines;
}

}  // namespace

/// Its class may be another than when it was attached: what it is in is asked now.
std::shared_ptr<const Config> App::config_for(std::int32_t pid,
                                              const std::shared_ptr<const Config>& all) const {
  if (all->classes.empty()) return all;
  const auto process = read_candidate(options_.root, pid, needs_of(all->classes));
  const ProcessClass* const own = process ? class_of(*all, *process) : nullptr;
  return own == nullptr ? all : std::make_shared<const Config>(config_of(*all, *own));
}

Result<void> App::tell_module(const OwnConfigs& now) {
  for (auto next = now.begin(); next != now.end(); ++next) {
    const auto& [target, config] = *next;
    Result<void> done = tell(*target, target->config(), *config);
    if (done || done.error().err == ESRCH) continue;  // it has ended; the event is on its way
    for (auto told = now.begin(); told != next; ++told)
      if (const Result<void> undone = tell(*told->first, *told->second, told->first->config());
          !undone && undone.error().err != ESRCH)
        spdlog::error("not set back pid={} reason=\"{}\"", told->first->pid(),
                      undone.error().line());
    return Error{"PID " + std::to_string(target->pid()) + " (" + target->process().comm +
                     "): " + done.error().what,
                 done.error().remedy, done.error().err};
  }
  return {};
}

Result<App::Change> App::set(const std::string& name, const std::string& value, bool save) {
  const Result<const Key*> key = find_live_key(name);
  if (!key) return key.error();
  Config now = *config_;
  if (const Result<void> done = (*key)->set(now, value); !done)
    return Error{name + ": " + done.error().what, done.error().remedy};
  Change change{name, (*key)->get(*config_), (*key)->get(now)};
  using File = Result<std::optional<PendingFile>>;
  File file = save ? write_saved(saved_with(options_.saved, **key, value)) : File(std::nullopt);
  if (!file) return file.error();
  if (Result<void> taken = take_over_and_keep(std::move(now), *std::move(file)); !taken)
    return taken.error();
  if (save) change.saved = options_.saved;
  origins_[name] = {save ? Origin::Kind::saved : Origin::Kind::set, change.saved};
  spdlog::info("set key={} value={} was={}{}{}", name, change.new_value, change.old_value,
               save ? " saved=" : "", change.saved);
  announce_change(change);
  return change;
}

Result<App::Change> App::unsave(const std::string& name) {
  const Result<const Key*> key = find_live_key(name);
  if (!key) return key.error();
  auto text = saved_with(options_.saved, **key, std::nullopt);
  if (!text) return text.error();
  const ConfigOrProblems rest = read_all(*text);
  if (!rest.problems.empty()) return Error{all_of(rest.problems), "correct the file and try again"};
  Config now = *config_;
  Change change{name, (*key)->get(*config_), (*key)->get(rest.config), false, options_.saved};
  if (const Result<void> done = (*key)->set(now, change.new_value); !done) return done.error();
  auto file = write_saved(text);
  if (!file) return file.error();
  if (Result<void> taken = take_over_and_keep(std::move(now), *std::move(file)); !taken)
    return taken.error();
  const auto origin = rest.origins.find(name);
  origins_[name] = origin == rest.origins.end() ? Origin{} : origin->second;
  spdlog::info("unsaved key={} value={} was={}", name, change.new_value, change.old_value);
  announce_change(change);
  return change;
}

void App::announce_change(const Change& change) {
  announce("set", {{"key", change.key}, {"value", change.new_value}, {"was", change.old_value}});
}

ConfigOrProblems App::read_all(const std::optional<std::string>& saved_text) const {
  ConfigOrProblems read = options_.read_config();
  read = saved_text ? read_saved_text(options_.saved, *saved_text, std::move(read))
                    : read_saved(options_.saved, std::move(read));
  if (options_.apply_flags) options_.apply_flags(read);
  return read;
}

Result<std::optional<PendingFile>> App::write_saved(const Result<std::string>& text) const {
  if (options_.saved.empty())
    return Error{"this hmkd has no folder to keep it in",
                 "set it in hmkd.yaml, or start hmkd with --state DIR", ENOENT};
  if (!text) return text.error();
  auto file = PendingFile::write(options_.saved, *text, 0640);
  if (!file) return file.error();
  return std::optional<PendingFile>(*std::move(file));
}

/// The file takes its name last: what the module refuses is not kept, and what cannot be kept is
/// taken back.
Result<void> App::take_over_and_keep(Config now, std::optional<PendingFile> file) {
  const Config old = *config_;
  if (Result<void> taken = take_over(std::move(now)); !taken || !file) return taken;
  Result<void> kept = file->commit();
  if (kept) return {};
  if (const Result<void> undone = take_over(old); !undone)
    spdlog::error("not set back reason=\"{}\"", undone.error().line());
  return kept;
}

/// The module first: what it refuses is not kept.
Result<void> App::take_over(Config now) {
  if (now.tiers != config_->tiers)
    if (Result<void> known = check_tiers(read_machine(options_.root), now.tiers); !known)
      return known;
  if (now.pins != config_->pins || now.tiers != config_->tiers)
    if (Result<void> known = check_pins(see_machine(), now); !known) return known;
  auto calibration = calibration_for(now);
  if (!calibration && now.calibration != config_->calibration) return calibration.error();
  const auto next = std::make_shared<const Config>(std::move(now));
  OwnConfigs own;
  for (Target* const target : targets()) own.emplace_back(target, config_for(target->pid(), next));
  if (Result<void> told = tell_module(own); !told) return told;
  if (!calibration)
    spdlog::warn("calibration is not used reason=\"{}\"", calibration.error().line());
  calibration_ = calibration ? *std::move(calibration) : std::nullopt;
  machine_ = see_machine();
  const auto old = std::exchange(config_, next);
  for (const auto& [target, config] : own) {
    target->configure(config);
    if (config_->pins != old->pins && target->has_seen()) target->prepare(around());
  }
  if (config_->attach_poll != old->attach_poll) finder_.set_period(config_->attach_poll);
  if (config_->attach != old->attach) rules_changed(old->attach);
  spdlog::set_level(spdlog::level::from_str(config_->log_level));
  pace_.limit(config_->bandwidth);
  report_status();
  return {};
}

Result<std::vector<App::Change>> App::reload() {
  ConfigOrProblems read = read_all(std::nullopt);
  if (!read.problems.empty())
    return Error{all_of(read.problems) + "nothing has changed",
                 "correct the file and reload again"};
  std::vector<Change> changes;
  for (const Key& key : keys()) {
    Change change{std::string(key.name), key.get(*config_), key.get(read.config), !key.is_live};
    if (change.old_value == change.new_value) continue;
    // What is read at start only stays as it is; its text has been taken before.
    if (change.at_restart) {
      (void)key.set(read.config, change.old_value);
      read.origins[change.key] = origins_[change.key];
    }
    changes.push_back(std::move(change));
  }
  if (Result<void> taken = take_over(std::move(read.config)); !taken) return taken.error();
  origins_ = std::move(read.origins);
  for (const Change& change : changes) {
    spdlog::info("reloaded key={} value={} was={} takes_effect={}", change.key, change.new_value,
                 change.old_value, change.at_restart ? "at-restart" : "now");
    if (!change.at_restart) announce_change(change);
  }
  return changes;
}

}  // namespace hmk
