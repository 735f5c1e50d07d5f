// SPDX-License-Identifier: MIT
#include "label_report.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "misplaced.hpp"
#include "policy/pieces.hpp"
#include "util/printable.hpp"

namespace hmk {
namespace {

using nlohmann::json;

std::string_view word_of(hmk_says says) {
  static constexpr std::array<std::string_view, HMK_SAYS_RETIRED + 1> kWords{
      "nothing", "will read", "will write", "will use", "archived", "retired"};
  return kWords[says];
}

struct Label {
  std::uint32_t index;
  std::uint64_t objects = 0, bytes = 0;
  std::string says = {};
};

/// By label: where its memory is, tier 1 or another.
std::vector<Presence> places_of(const Target& target, std::vector<policy::Wanted> wanted,
                                std::size_t labels) {
  policy::set_in_order(wanted);
  TierNodes tiers;
  for (const Tier& tier : target.tiers()) tiers.push_back(tier.nodes);
  return presence_of(target.snapshot().records, wanted, tiers, labels);
}

json rows_of(const Target& target) {
  std::map<std::string, Label> labels;
  std::vector<policy::Wanted> wanted;
  for (const Hint& hint : target.foretold().objects()) {
    const auto [at, is_new] =
        labels.emplace(hint.label, Label{static_cast<std::uint32_t>(labels.size())});
    Label& label = at->second;
    ++label.objects;
    label.bytes += hint.end - hint.start;
    const std::string_view word = word_of(hint.says);
    label.says = is_new || label.says == word ? word : "several things";
    wanted.push_back({hint.start, hint.end, 0, label.index});
  }
  const std::vector<Presence> there = places_of(target, std::move(wanted), labels.size());
  json rows = json::array();
  for (const auto& [name, label] : labels) {
    const Presence& here = there[label.index];
    rows.push_back({{"label", printable(name)},
                    {"objects", label.objects},
                    {"bytes", label.bytes},
                    {"resident_bytes", here.bytes},
                    {"tier1_bytes", here.bytes - here.elsewhere_bytes},
                    {"says", label.says}});
  }
  return rows;
}

}  // namespace

json report_labels(const std::vector<Target*>& targets) {
  json rows = json::array();
  for (const Target* const target : targets) {
    const Foretold& foretold = target->foretold();
    const std::uint64_t seq = target->snapshot().interval.seq;
    if (foretold.objects().empty()) continue;
    rows.push_back(
        {{"pid", target->pid()},
         {"comm", target->process().comm},
         {"came_true", foretold.nr_kept()},
         {"did_not", foretold.nr_broken()},
         {"ignored_intervals", foretold.is_ignored(seq) ? foretold.ignored_until() - seq : 0},
         {"labels", rows_of(*target)}});
  }
  return {{"targets", rows}};
}

}  // namespace hmk
