// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

Run make_stats(CLI::App& verb) {
  return [args = pid_option(verb)](const Context& context) {
    static const Table kRefused{"refused_bytes",
                                {{"pinned", "refused: pinned", Unit::bytes},
                                 {"shared", "refused: shared", Unit::bytes},
                                 {"busy", "refused: busy", Unit::bytes},
                                 {"no_room", "refused: no room", Unit::bytes},
                                 {"kind", "refused: kind", Unit::bytes},
                                 {"gone", "refused: gone", Unit::bytes},
                                 {"policy", "refused: policy", Unit::bytes},
                                 {"poisoned", "refused: poisoned", Unit::bytes},
                                 {"failed", "refused: whole range", Unit::bytes}},
                                Layout::fields};
    static const Table kPairs{"pairs",
                              {{"from_tier", "FROM"},
                               {"to_tier", "TO"},
                               {"moved_bytes", "MOVED", Unit::bytes},
                               {"ranges", "RANGES"},
                               {"moved_bytes_by_reason", ""},
                               {"refused_bytes", ""}},
                              Layout::rows,
                              {},
                              "nothing moved"};
    static const Table kBuckets{"buckets",
                                {{"below_us", "WAITS BELOW, us"}, {"count", "COUNT"}},
                                Layout::rows,
                                {},
                                "nobody waited"};
    static const Table kWaits{"waits",
                              {{"count", "waits for moving pages"},
                               {"total_ns", "waited", Unit::ns},
                               {"longest_ns", "longest wait", Unit::ns},
                               {"write_faults", "write faults"}},
                              Layout::fields,
                              {kBuckets},
                              "not counted; the log of hmkd says why"};
    static const Table kStayed{"stayed",
                               {{"tier", "STAYED IN"},
                                {"no_gain_bytes", "NO GAIN", Unit::bytes},
                                {"no_room_bytes", "NO ROOM", Unit::bytes},
                                {"thrash_bytes", "THRASH", Unit::bytes},
                                {"backed_off_bytes", "BACKED OFF", Unit::bytes}},
                               Layout::rows,
                               {},
                               "nothing hot stayed"};
    static const std::vector<Table> kTables{
        {"targets",
         {{"pid", "pid"},
          {"comm", "comm"},
          {"mode", "mode"},
          {"intervals", "intervals"},
          {"wall_ns", "wall time", Unit::ns},
          {"profile_ns", "profiling time", Unit::ns},
          {"profiling_percent", "profiling", Unit::percent},
          {"budget_percent", "budget", Unit::percent},
          {"late_intervals", "late intervals"},
          {"degraded_intervals", "degraded intervals"},
          {"flushes", "TLB flushes"},
          {"flush_ns", "time of flushes", Unit::ns},
          {"groups", "groups of samples"},
          {"late_groups", "late groups"},
          {"state_bytes", "module memory", Unit::bytes},
          {"huge_examined", "huge pages examined"},
          {"huge_split", "huge pages split"},
          {"huge_left", "huge pages left"},
          {"planned_promote_bytes", "planned up", Unit::bytes},
          {"planned_demote_bytes", "planned down", Unit::bytes},
          {"promoted_bytes", "promoted", Unit::bytes},
          {"demoted_bytes", "demoted", Unit::bytes},
          {"returned_bytes", "moved back soon", Unit::bytes},
          {"plans_replaced", "plans replaced"},
          {"backed_off_ranges", "ranges backed off"},
          {"pages_clean", "pages pre-copied, clean"},
          {"pages_recopied", "pages copied again"},
          {"pages_sync", "pages copied while unmapped"},
          {"chunks", "chunks"},
          {"chunks_switched", "chunks switched to sync"},
          {"copy_ns", "copy time", Unit::ns},
          {"commit_ns", "commit time", Unit::ns},
          {"commit_max_ns", "longest commit", Unit::ns},
          {"numa_balancing/moved_bytes", "moved by NUMA balancing", Unit::bytes},
          {"numa_balancing/scans", "marked by it, times"},
          {"numa_balancing/on", ""}},
         Layout::fields,
         {kRefused, kPairs, kStayed, kWaits}}};
    return show(context, "stats", args(), kTables);
  };
}

}  // namespace hmkctl
