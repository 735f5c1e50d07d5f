// SPDX-License-Identifier: MIT
//
// hmkd wired together: targets, control socket, signals, service. The only place
// that knows all stages; everything runs on the one loop.
//
//   App app(loop, config, {.attach = attach});
//   if (Result<void> ok = app.start(); !ok) return fail(ok.error());
//   loop.run();
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attach/find.hpp"
#include "bpf/newcomers.hpp"
#include "bpf/waits.hpp"
#include "config/config.hpp"
#include "config/keys.hpp"
#include "config/read.hpp"
#include "control/server.hpp"
#include "device/device.hpp"
#include "hints/hint_server.hpp"
#include "metrics/groups.hpp"
#include "mover/memory_pressure.hpp"
#include "recorder.hpp"
#include "service.hpp"
#include "state.hpp"
#include "target.hpp"
#include "topology/calibration.hpp"
#include "util/cost_limit.hpp"
#include "util/private_file.hpp"
#include "util/ticker.hpp"

namespace hmk {

class App {
 public:
  struct Options {
    Attach attach;                                            ///< how a process is attached
    std::filesystem::path root = "/";                         ///< of /proc and /sys
    hmk_info module_info = {};                                ///< for `version`
    bool ends_with_last_target = false;                       ///< --pid: one process, then done
    Origins origins = {};                                     ///< of the config's values
    std::function<ConfigOrProblems()> read_config = {};       ///< the file anew, for a reload
    std::function<void(ConfigOrProblems&)> apply_flags = {};  ///< over all that was read
    std::filesystem::path saved = {};  ///< what `set --save` keeps; empty: nothing is kept
    std::filesystem::path state = {};  ///< what was done by hand; empty: ends with hmkd
    Waits* waits = nullptr;            ///< null: not counted
    Newcomers* newcomers = nullptr;    ///< null: looked for every attach_poll
    /// After who was told of, before who is looked at: most forks exec at once, and
    /// many may begin together.
    std::chrono::milliseconds settle{100};
    /// One in so many parts of the time is the most that reading takes which finds nothing new
    /// nearly always: 0.1 % of a CPU for the machine, and for each process. 0: all is read each
    /// time.
    unsigned look_parts = 1000;
  };

  App(boost::asio::io_context& loop, Config config, Options options);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Serve the control socket, attach what the config names. A PID of the config
  /// that cannot be attached is logged; with ends_with_last_target it is an error.
  Result<void> start();
  void stop();

  /// Attach who has appeared since the last time and is named by a rule of the
  /// config, or descends from who is. `told`: look at these only.
  void find_processes(const Told& told = std::nullopt);

  // What the control verbs do. Each leaves everything as it was when it fails.
  /// By hand: kept over a restart of hmkd.
  Result<void> attach(std::int32_t pid);
  Result<void> detach(std::int32_t pid);
  struct RuleChange {
    std::string rule;
    std::size_t named = 0;    ///< processes that it names now; of one that goes: that were let go
    std::size_t managed = 0;  ///< of them, by this rule
    std::size_t waiting = 0;  ///< for their size, or because they could not be attached yet
    std::string saved = {};   ///< the file that keeps it
  };
  /// One rule more or less in `attach`, and what follows from it.
  Result<RuleChange> attach_rule(const std::string& word, bool save);
  Result<RuleChange> detach_rule(const std::string& word, bool save);
  /// Until `client` leaves: the process is in this mode, whatever the config's, and managed.
  /// Afterwards all is as it was. By the same client again: another mode. With `put_back` what
  /// was moved goes back to where it lay first.
  Result<void> hold(std::uint64_t client, std::int32_t pid, Mode mode, bool put_back = false);
  struct Change {
    std::string key, old_value, new_value;
    bool at_restart = false;  ///< read at start only: not taken over
    std::string saved = {};   ///< the file that keeps it over a restart, or did so
  };
  /// With `save` for good, else until hmkd ends. What cannot be saved is not set.
  Result<Change> set(const std::string& key, const std::string& value, bool save = false);
  /// Take a saved value back: what the file or the command line says counts again.
  Result<Change> unsave(const std::string& key);
  /// Read the config file anew and take it over as a whole. With an error in it, or
  /// refused by the module, nothing changes; `what` has a line per problem.
  Result<std::vector<Change>> reload();
  /// `client` gets a line for each event from now on; the first is the state now.
  Result<nlohmann::json> subscribe(std::uint64_t client);
  /// `client` gets a recording of the process from now on, in bytes behind the answer: its last
  /// interval, and each that ends until the client leaves or the process does.
  Result<void> record(const Request& request, const Target& target);
  /// Keeps a part of a plan's file until `client` leaves or loads it.
  Result<void> add_plan_part(std::uint64_t client, std::string_view bytes);
  /// From the next interval on the process's memory follows the plan whose parts `client` has sent;
  /// until its program ends, or it is dropped.
  Result<void> load_plan(std::uint64_t client, std::int32_t pid);
  Result<void> drop_plan(std::int32_t pid);
  /// Stop profiling and moving until resumed; what was learnt is kept.
  Result<void> pause(bool is_paused);

  // What they show.
  const Config& config() const { return *config_; }
  const Origins& origins() const { return origins_; }
  bool is_paused() const { return is_paused_; }
  const CacheRoom& cache_room() const { return cache_room_; }
  const MemoryPressure& pressure() const { return pressure_; }
  const SharedMemory& shared() const { return shared_; }
  const EndedProcesses& ended() const { return ended_; }
  Machine see_machine() const;  ///< as it is now, with what was calibrated
  const Options& options() const { return options_; }
  Target* find(std::int32_t pid);
  std::string rule_of(std::int32_t pid) const;  ///< why it is managed
  std::vector<Target*> targets();

 private:
  struct Managed;
  struct Hold {
    std::uint64_t client;
    Mode mode;
    bool attached;  ///< for it: to be let go with it
  };

  /// By no rule again, as long as the PID is this process's.
  struct LeftAlone {
    std::uint64_t start_time = 0;
    bool by_hand = false;  ///< else it could not be attached
  };
  /// Named by a rule, and to be attached when it is large enough or can be.
  struct Waiting {
    AttachRule rule;
    std::uint64_t start_time = 0;
    bool has_failed = false;
  };

  Surroundings around();
  void look_at_machine();
  std::uint64_t no_room_bytes();
  Result<std::optional<Calibration>> calibration_for(const Config& config) const;
  bool guard(const char* step, const std::function<void()>& run);
  void watch(Managed& managed);
  void on_readable(std::int32_t pid);
  void listen_to_hints();
  bool is_welcome(std::int32_t pid);
  void hear(Target& target);
  void on_hints(std::int32_t pid);
  void on_gone(std::int32_t pid);
  void let_go(std::int32_t pid);
  void forget(std::int32_t pid);
  void release(std::uint64_t client);
  void send_records(std::int32_t pid);
  void end_records(std::int32_t pid);
  Result<void> attach_by(const AttachRule& rule, std::int32_t pid);
  void put_off(std::int32_t pid, const Waiting& as, const Error& error);
  void attach_pid_of(const AttachRule& rule);
  void take(const Candidate& process, const AttachRule& rule);
  void look_again();
  template <class ByPid>
  static void forget_the_gone(ByPid& known, const std::vector<Candidate>& processes,
                              const Told& told);
  RuleByPid managed_rules() const;
  std::optional<AttachRule> rule_after_exec(const AttachRule& rule, const Candidate& process);
  OperatorState state() const;
  void save_state();
  Result<Follower> follower_of(const Target& target, TierPlan plan);
  std::filesystem::path plan_file(std::int32_t pid) const;
  void keep_plan(std::int32_t pid, const TierPlan& plan);
  void resume_plan(Target& target);
  void remove_old_plans(const OperatorState::Plans& followed) const;
  OperatorState::StartTimes restore_state();
  void rules_changed(const std::vector<AttachRule>& old);
  ConfigOrProblems read_all(const std::optional<std::string>& saved_text) const;
  Result<std::optional<PendingFile>> write_saved(const Result<std::string>& text) const;
  Result<void> take_over_and_keep(Config now, std::optional<PendingFile> file);
  using OwnConfigs = std::vector<std::pair<Target*, std::shared_ptr<const Config>>>;
  std::shared_ptr<const Config> config_for(std::int32_t pid,
                                           const std::shared_ptr<const Config>& all) const;
  Result<void> tell_module(const OwnConfigs& now);
  Result<void> take_over(Config now);
  bool has_looking_rule() const;
  void wait_for_newcomers();
  void wait_for_signal();
  void keep_pace();
  void announce(std::string_view event, nlohmann::json fields);
  void announce_moves();
  void announce_change(const Change& change);
  void report_status();
  std::string status_text() const;

  boost::asio::io_context& loop_;
  std::shared_ptr<const Config> config_;
  Origins origins_;
  Options options_;
  std::optional<Calibration> calibration_;
  Machine machine_;  ///< at the last decision, or when the last process was attached
  CostLimit looks_;  ///< at all of the machine
  CostLimit watermark_looks_;
  std::uint64_t refused_bytes_ = 0;  ///< no_room_bytes() at the last of these
  bool is_paused_ = false;
  Pace pace_;
  CacheRoom cache_room_{begin_in_a_thread};
  MemoryPressure pressure_;
  SharedMemory shared_;
  EndedProcesses ended_;
  Service service_;
  boost::asio::signal_set signals_;
  Server server_;
  HintServer hints_;
  std::shared_ptr<void> warnings_;  ///< published as they are logged
  std::map<std::int32_t, std::unique_ptr<Managed>> managed_;
  std::map<std::int32_t, Hold> holds_;               ///< by PID
  std::map<std::uint64_t, Recorder> recorders_;      ///< by client
  std::map<std::uint64_t, std::string> plan_parts_;  ///< by client
  std::map<std::int32_t, LeftAlone> left_alone_;     ///< by PID
  /// Of before hmkd started, by PID: of processes that are not managed yet.
  OperatorState::Plans plans_before_;
  std::map<std::int32_t, Waiting> waiting_;  ///< by PID
  Ticker finder_;
  boost::asio::posix::stream_descriptor told_;  ///< of the newcomers, who own it
  boost::asio::steady_timer settled_, pacer_, status_timer_;
  bool is_status_held_ = false, is_status_due_ = false;
  bool is_waiting_ = false;  ///< for newcomers
};

}  // namespace hmk
