// SPDX-License-Identifier: MIT
#include "machine/report.hpp"

#include <cmath>
#include <cstdio>

#include "util/units.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

ordered_json rounded(const std::vector<double>& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

ordered_json to_json(const std::vector<Moment>& moments) {
  ordered_json list = ordered_json::array();
  for (const Moment& at : moments)
    list.push_back({{"seconds", rounded(at.seconds)},
                    {"ns_per_operation", rounded(at.ns_per_operation)},
                    {"tier1_share", rounded(at.tier1_share)},
                    {"promoted_bytes", at.risen},
                    {"demoted_bytes", at.fallen},
                    {"horizon", rounded(at.horizon)},
                    {"governor_divisor", at.divisor},
                    {"budget_percent", rounded(at.budget_percent)}});
  return list;
}

ordered_json to_json(const Question& question, const Compared& found, const Answer& answer) {
  const double profiling = 100 * answer.profile_ns / answer.ns;
  return {{"scenario", question.workload.name},
          {"system", to_string(answer.system)},
          {"machine", question.machine.name},
          {"seed", question.seed},
          {"interval_seconds", std::chrono::duration<double>(question.config.interval).count()},
          {"seconds", rounded(answer.ns / 1e9)},
          {"operations", rounded(answer.operations)},
          {"ns_per_operation", rounded(answer.ns_per_operation)},
          {"settled_ns_per_operation", rounded(answer.settled_ns_per_operation)},
          {"tier_share", rounded(answer.share)},
          {"settled_tier_share", rounded(answer.settled_share)},
          {"resident_bytes", answer.resident},
          {"promoted_bytes", answer.risen},
          {"demoted_bytes", answer.fallen},
          {"exposed_ns", rounded(answer.exposed_ns)},
          {"move_ns", rounded(answer.move_ns)},
          {"profiling_percent", rounded(profiling)},
          {"ledger",
           {{"promised_ns", rounded(answer.ledger.promised)},
            {"realized_ns", rounded(answer.ledger.saved)},
            {"spent_ns", rounded(answer.ledger.spent)}}},
          {"saved_ns", rounded(found.first_touch.ns - answer.ns)},
          {"vs_first_touch", rounded(answer.ns / found.first_touch.ns)},
          {"settled_vs_first_touch",
           rounded(answer.settled_ns_per_operation / found.first_touch.settled_ns_per_operation)},
          {"vs_static", rounded(answer.ns / found.best_static.ns)},
          {"settled_vs_static",
           rounded(answer.settled_ns_per_operation / found.best_static.settled_ns_per_operation)},
          {"possible_ns", rounded(found.best.bound_ns)},
          {"found_ns", rounded(found.best.schedule_ns)},
          {"of_possible", rounded(found.best.bound_ns / answer.ns)},
          {"intervals", to_json(answer.moments)}};
}

std::string shares_text(const ordered_json& shares) {
  std::string text;
  for (const auto& share : shares) {
    char one[16];
    std::snprintf(one, sizeof(one), "%s%.1f", text.empty() ? "" : " ", 100 * share.get<double>());
    text += one;
  }
  return text;
}

double mib(const ordered_json& bytes) {
  return bytes.get<double>() / (1 << 20);
}

double seconds(const ordered_json& ns) {
  return ns.get<double>() / 1e9;
}

}  // namespace

ordered_json to_json(const Question& question, const Compared& found) {
  ordered_json list = ordered_json::array();
  for (const Answer& answer : found.answers) list.push_back(to_json(question, found, answer));
  return list;
}

void print_table(const ordered_json& list) {
  std::printf("%-12s %-12s %-22s %8s %8s %9s %9s %9s %9s %9s %9s   %s\n", "scenario", "system",
              "% by tier, settled", "ns/op", "settled", "of first", "settled", "of static",
              "best/time", "up MiB", "down MiB", "ledger: promised, realized, spent; saved, s");
  for (const auto& row : list) {
    const auto& ledger = row["ledger"];
    std::printf(
        "%-12s %-12s %-22s %8.1f %8.1f %9.3f %9.3f %9.3f %9.3f %9.0f %9.0f",
        row["scenario"].get<std::string>().c_str(), row["system"].get<std::string>().c_str(),
        shares_text(row["settled_tier_share"]).c_str(), row["ns_per_operation"].get<double>(),
        row["settled_ns_per_operation"].get<double>(), row["vs_first_touch"].get<double>(),
        row["settled_vs_first_touch"].get<double>(), row["vs_static"].get<double>(),
        row["of_possible"].get<double>(), mib(row["promoted_bytes"]), mib(row["demoted_bytes"]));
    if (row["system"] == "reactive")
      std::printf("   %.2f %.2f %.2f; %.2f", seconds(ledger["promised_ns"]),
                  seconds(ledger["realized_ns"]), seconds(ledger["spent_ns"]),
                  seconds(row["saved_ns"]));
    std::printf("\n");
  }
}

}  // namespace hmk::sim
