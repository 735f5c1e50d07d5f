// SPDX-License-Identifier: MIT
//
// What hmkd can be told, with its defaults. The same words are the keys of
// hmkd.yaml, of `hmkctl set` and of the log; config/keys.cpp is their list.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/rules.hpp"
#include "topology/tier_spec.hpp"

namespace hmk {

/// track-only: profile and plan, move nothing. dry-run: the module also checks each
/// move, and makes none. manage: move as planned.
enum class Mode { track_only, dry_run, manage };

/// How the pages of a move are copied. automatic: ahead, while the program runs.
enum class Copy { automatic, sync };

/// Bytes a second by (from tier, to tier), the fastest is 0.
using TierRates = std::map<std::pair<int, int>, std::uint64_t>;

/// Bytes by "PROCESS/TIER": config/whom.hpp.
using SizeByProcess = std::map<std::string, std::uint64_t, std::less<>>;

/// Memory that belongs in a tier whatever its hotness: config/pins.hpp.
struct Pin {
  std::string process;               ///< PID, or command, with * and ?
  std::string mapping = {};          ///< as in /proc/PID/maps, with * and ?; empty: a range
  std::uint64_t start = 0, end = 0;  ///< addresses
  int tier = 0;                      ///< from 0, the fastest

  bool operator==(const Pin&) const = default;
};

/// Processes with settings of their own: config/classes.hpp.
struct ProcessClass {
  AttachRule match;                                           ///< whom
  std::vector<std::pair<std::string, std::string>> settings;  ///< key and value, as given

  bool operator==(const ProcessClass&) const = default;
};

/// Where `hmkctl calibrate` writes unless told otherwise. Only there it may be missing.
inline constexpr const char* kCalibrationFile = "/var/lib/hmk/machine.yaml";

struct Config {
  Mode mode = Mode::track_only;

  // What the module profiles by (HK-7 .. HK-33); _bp is 1/10000, _q16 has 16 fraction bits.
  std::chrono::nanoseconds interval = std::chrono::seconds(10);
  std::uint32_t overhead_bp = 500;
  std::uint32_t num_scans = 3;
  std::uint32_t alpha_q16 = 32768;
  std::uint32_t tau1_q16 = 0;  ///< 0: the module's default
  std::uint32_t tau2_q16 = 0;  ///< 0: the module's default
  std::uint32_t top_k = 5;
  std::uint32_t scouts_bp = 1000;
  std::uint32_t weight = 100;               ///< beside the sessions of other hmkds
  std::uint64_t max_region = 256ull << 20;  ///< bytes
  bool equal_windows = false;               ///< chapter 8's, else a ladder of them
  bool dense = true;        ///< pages are read one by one where the budget pays for it
  bool split_huge = false;  ///< huge pages whose parts differ

  // For experiments.
  bool flush = true;               ///< the TLB, once per round of scans
  std::uint32_t tau_step_q16 = 0;  ///< 0: tau1 / 4
  std::uint64_t seed = 0;          ///< of the choice of samples; 0: random
  std::uint32_t ablation = 0;      ///< HMK_SWITCH_*
  bool is_tier_by_tier = false;    ///< what is promoted climbs one tier at a time

  // What the policy decides by (HK-34 .. HK-43).
  std::uint64_t promote_limit = 200ull << 20;  ///< bytes per interval, over all targets
  bool is_promote_limit_auto = false;          ///< by move_time; then the above is for the reserve
  std::uint32_t move_time_bp = 500;            ///< of an interval
  std::optional<std::uint64_t> reserve;        ///< bytes per tier; none: see reserve_for()
  std::uint32_t gain_margin = 1;               ///< buckets
  std::uint32_t buckets = 64;
  std::optional<std::chrono::nanoseconds> move_cost;  ///< of 4 KiB; none: as measured
  std::uint32_t horizon = 60;                         ///< intervals at most; 0: see horizon_for()
  bool is_governed = true;                            ///< promote_limit, by what moves earn
  std::map<std::string, bool> governed;               ///< of some, by PID or command

  // How several processes share, by PID or command.
  std::map<std::string, std::uint32_t> weights;
  bool shares_by_weight = true;  ///< false: the hottest win
  std::uint32_t own_weight = 1;  ///< where none is given
  SizeByProcess caps, floors;    ///< in a tier; "/TIER": of all others
  std::vector<Pin> pins;

  // How it is moved.
  Copy copy = Copy::automatic;
  std::uint32_t copy_threads = 0;  ///< at a time, for a process; 0: as the module thinks
  bool move_shared = false;        ///< also pages that other processes map
  bool hints = true;               ///< what a program says of its own memory counts
  bool move_bound = false;         ///< also out of the nodes the program has bound them to
  bool join_huge = false;          ///< what is hot all over becomes one huge page again
  bool reclaim_cache = true;       ///< clean page cache makes room
  bool page_out = false;           ///< what is cold leaves for swap
  std::chrono::nanoseconds page_out_after = std::chrono::minutes(10);  ///< not accessed for so long
  std::uint32_t page_out_refaults = 6;  ///< a minute, that may come back
  std::uint32_t pressure_limit_bp = 0;  ///< of memory, from which nothing is promoted; 0: none
  TierRates bandwidth;                  ///< of moves; pairs without one are not limited

  std::string calibration = kCalibrationFile;  ///< what was measured; empty: not used
  std::vector<TierSpec> tiers;                 ///< fastest first; empty: asked of the machine
  std::vector<AttachRule> attach;              ///< whom
  std::vector<ProcessClass> classes;           ///< the first that names a process counts
  std::string own_class;                       ///< its rule or name, in the config of one process
  bool is_together = false;     ///< weight, caps and floors are of all of that class together
  bool metrics_by_pid = false;  ///< a series for each process, not for each class and rule
  std::chrono::nanoseconds attach_poll = std::chrono::seconds(2);  ///< for new ones

  std::string socket = "/run/hmk/control.sock";
  std::string socket_group = "hmk", admin_group = "hmk-admin";
  std::string metrics;  ///< loopback address for them; empty: the socket only
  std::string log_level = "info";
};

/// Free bytes to keep in a tier of `tier_bytes`: the promote limit, yet at most a 128th of
/// the tier. The mover makes room piece by piece, so more lies idle (tools/sim.d/README.md).
std::uint64_t reserve_for(const Config& config, std::uint64_t tier_bytes);

/// What moving 4 KiB takes, in ns; 0: as measured.
std::uint64_t page_ns(const Config& config);

/// Intervals within which a move has to pay, at most. auto: as long as the process is known, no
/// less than the default: what has lasted so long will last as long again.
double horizon_for(const Config& config, std::uint64_t intervals_known);

std::string to_string(Mode mode);

}  // namespace hmk
