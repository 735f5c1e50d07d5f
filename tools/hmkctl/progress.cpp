// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include "table.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

double number(const json& row, const char* member) {
  const json value = row.value(member, json());
  return value.is_number() ? value.get<double>() : 0;
}

std::string size(double bytes) {
  return to_text(bytes, Unit::bytes);
}

struct Hot {
  double all = 0, slow = 0, room = 0;  ///< bytes; room: of tier 1 for this process
};

Hot hot_of(const json& target) {
  Hot hot;
  bool is_first = true;
  for (const json& tier : target.value("tiers", json::array())) {
    const double here = number(tier, "hot_bytes");
    hot.all += here;
    if (!is_first) hot.slow += here;
    if (is_first)
      for (const char* const room : {"resident_bytes", "free_bytes", "cache_bytes"})
        hot.room += number(tier, room);
    is_first = false;
  }
  return hot;
}

}  // namespace

Progress progress_of(const json& target, std::chrono::nanoseconds interval) {
  const json last = target.value("last_interval", json());
  if (!last.is_object()) return {"not known before the first interval", std::nullopt};
  const Hot hot = hot_of(target);
  const std::string left = size(hot.slow) + " hot in slow tiers";
  if (const auto mode = target.value("mode", std::string()); mode != "manage")
    return {"none in mode " + mode + "; " + left, std::nullopt};

  const double planned =
      number(last, "planned_promote_bytes") + number(last, "planned_demote_bytes");
  const double pace = number(last, "promoted_bytes");
  const bool is_moving = last.value("moving", false);
  if (!is_moving && planned == 0)
    return {"at rest: nothing is planned; " + left, std::chrono::nanoseconds(0)};

  Progress progress{(is_moving ? "in flight: " : "done: ") +
                        size(number(last, "moved_since_bytes")) + " of " + size(planned) +
                        " planned moved; " + left,
                    std::nullopt};
  if (hot.slow == 0) return progress;
  if (hot.all > hot.room)
    progress.text += "; tier 1 has room for " + size(hot.room) + " of " + size(hot.all) + " hot";
  else if (pace == 0)
    progress.text += "; time to rest not known, for nothing was promoted in the last interval";
  else {
    progress.rest = std::chrono::nanoseconds(
        static_cast<std::int64_t>(hot.slow / pace * static_cast<double>(interval.count())));
    progress.text +=
        "; about " + to_text(progress.rest->count(), Unit::ns) + " to rest at this pace";
  }
  return progress;
}

}  // namespace hmkctl
