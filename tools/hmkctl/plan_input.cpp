// SPDX-License-Identifier: MIT
#include "plan_input.hpp"

#include <algorithm>
#include <string_view>

#include "parsed.hpp"

namespace hmkctl {
namespace {

hmk::Result<std::vector<PlanTier>> tiers_of(const std::string& file, const TierOptions& options,
                                            const Frames& frames, const AsRecorded& lay) {
  const auto& recorded = frames.context->machine.tiers;
  for (const std::size_t tier : {options.bytes.empty() ? 0 : options.bytes.rbegin()->first,
                                 options.latency.empty() ? 0 : options.latency.rbegin()->first})
    if (tier > recorded.size())
      return hmk::Error{"there is no tier " + std::to_string(tier),
                        "the recording has " + std::to_string(recorded.size())};
  std::vector<PlanTier> tiers;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto latency = options.latency.find(i + 1);
    const auto bytes = options.bytes.find(i + 1);
    PlanTier tier{static_cast<double>(recorded[i].latency_ns), kNoLimit};
    if (i + 1 < recorded.size()) tier.bytes = lay.peak()[i];
    if (latency != options.latency.end())
      tier.latency_ns = static_cast<double>(latency->second.count());
    if (bytes != options.bytes.end()) tier.bytes = static_cast<double>(bytes->second);
    if (tier.latency_ns == 0)
      return hmk::Error{file + ": holds no latency of tier " + std::to_string(i + 1),
                        "give it, for example --latency " + std::to_string(i + 1) + "=230ns"};
    tiers.push_back(tier);
  }
  if (tiers.size() >= 2) return tiers;
  return hmk::Error{file + ": has fewer than two tiers", "record on a machine that has them"};
}

/// "1=32GiB,2=64GiB": by the number of a tier what `parse` makes of the rest.
template <class Value, class Parse>
void add_by_tier(CLI::App& verb, const char* name, const char* help, Parse parse,
                 std::map<std::size_t, Value>& values) {
  verb.add_option_function<std::vector<std::string>>(
          name,
          [=, &values](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const std::size_t equals = std::min(text.find('='), text.size());
              const auto tier = hmk::parse_count(std::string_view(text).substr(0, equals));
              if (!tier || *tier == 0 || equals == text.size())
                throw CLI::ValidationError(name, "'" + text + "' is not NUMBER=VALUE");
              const auto value = parse(std::string_view(text).substr(equals + 1));
              if (!value) throw CLI::ValidationError(name, value.error().line());
              values[*tier] = *value;
            }
          },
          help)
      ->delimiter(',');
}

}  // namespace

void add_tier_options(CLI::App& verb, TierOptions& options) {
  add_by_tier(
      verb, "--tier",
      "bytes of tiers, for example 1=32GiB,2=64GiB (default: the most that the process had there; "
      "the last: as much as needed)",
      hmk::parse_size, options.bytes);
  add_by_tier(verb, "--latency", "of an access, for example 1=90ns,2=230ns (default: as recorded)",
              parse_time, options.latency);
}

void add_move_cost(CLI::App& verb, TierOptions& options) {
  add_parsed(verb, "--move-cost",
             "a move of 4 KiB takes this from the program (default: as recorded, else 2us)",
             hmk::parse_duration, [&options](hmk::Nanoseconds time) {
               options.page_ns = static_cast<double>(time.count());
             });
}

std::vector<double> PlanInput::latency() const {
  std::vector<double> latency;
  for (const PlanTier& tier : tiers) latency.push_back(tier.latency_ns);
  return latency;
}

std::vector<double> PlanInput::capacity() const {
  std::vector<double> capacity;
  for (const PlanTier& tier : tiers) capacity.push_back(tier.bytes);
  return capacity;
}

hmk::Result<PlanInput> plan_input(const std::string& file, const TierOptions& options) {
  auto frames = frames_of(file);
  if (!frames) return frames.error();
  auto heat = recorded_heat(file, *frames);
  if (!heat) return heat.error();
  AsRecorded lay(frames->context->machine.tiers);
  if (const auto read = frames->each([&](const auto& frame) { lay.add(frame); }); !read)
    return read.error();
  auto tiers = tiers_of(file, options, *frames, lay);
  if (!tiers) return tiers.error();
  const double page_ns =
      options.page_ns != 0 ? options.page_ns : recorded_page_ns(frames->context->machine);
  return PlanInput{*std::move(frames), *std::move(heat), std::move(lay), *std::move(tiers),
                   page_ns};
}

}  // namespace hmkctl
