// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "frames.hpp"
#include "plan.hpp"
#include "sizing.hpp"
#include "util/printable.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

constexpr std::size_t kWindows = 32;
constexpr double kEnough = 1.05;  // of the latency of the fast memory

struct SizeOptions {
  std::string file;
  std::vector<std::uint64_t> sizes = {};
  Prices prices{.page_ns = 2000};  ///< latencies of 0: as recorded
};

/// Latencies that are not given are those of the recording's first two tiers.
hmk::Result<Prices> prices_of(const SizeOptions& options, const hmk::RecordedContext& context) {
  Prices prices = options.prices;
  const auto recorded = [&](std::size_t tier) {
    return tier < context.tiers.size() ? context.tiers[tier].latency_ns : 0;
  };
  if (prices.fast_ns == 0) prices.fast_ns = recorded(0);
  if (prices.slow_ns == 0) prices.slow_ns = recorded(1);
  if (prices.fast_ns == 0 || prices.slow_ns == 0)
    return hmk::Error{options.file + ": does not tell the latencies of two tiers",
                      "give both, for example --fast 90ns --slow 230ns"};
  if (prices.fast_ns < prices.slow_ns) return prices;
  return hmk::Error{"slow memory of " + to_text(prices.slow_ns, Unit::ns) +
                        " is not slower than fast memory of " + to_text(prices.fast_ns, Unit::ns),
                    "give --fast and --slow"};
}

hmk::Result<HeatPieces> heat_of(const std::string& file, const Frames& frames) {
  Borders borders;
  std::size_t number = 0;
  const auto divided = frames.each([&](const hmk::RecordedFrame& frame) {
    borders.add(frame);
    ++number;
  });
  if (!divided) return divided.error();
  HeatPieces heat(borders, kWindows, std::max(number, std::size_t{1}));
  if (const auto added = frames.each([&](const auto& frame) { heat.add(frame); }); !added)
    return added.error();
  if (!heat.has_rates())
    return hmk::Error{file + ": tells hotness and no rates, as format 1 does", "record again"};
  return heat;
}

/// From a sixteenth to all of it, unless others are asked for.
std::vector<std::uint64_t> sizes_of(const SizeOptions& options, std::uint64_t all) {
  constexpr std::uint64_t kMiB = 1 << 20;
  std::vector<std::uint64_t> sizes = options.sizes;
  if (sizes.empty())
    for (const std::uint64_t sixteenths : {1, 2, 4, 6, 8, 12, 16})
      sizes.push_back((all * sixteenths / 16 + kMiB - 1) / kMiB * kMiB);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

json row_of(const Sized& sized, std::uint64_t all) {
  return {{"bytes", sized.bytes},
          {"of_all_percent", 100.0 * static_cast<double>(sized.bytes) / static_cast<double>(all)},
          {"stays", {{"served_percent", 100 * sized.stays_share}, {"latency_ns", sized.stays_ns}}},
          {"moves",
           {{"served_percent", 100 * sized.moves_share},
            {"latency_ns", sized.moves_ns},
            {"moved_bytes", std::llround(sized.moved_bytes)},
            {"bound_ns", sized.bound_ns}}}};
}

json sized(const Sizing& sizing, const std::vector<std::uint64_t>& sizes) {
  json rows = json::array();
  for (const std::uint64_t size : sizes) {
    if (isatty(STDERR_FILENO) != 0)
      std::fprintf(stderr, "\rworking out size %zu of %zu ", rows.size() + 1, sizes.size());
    rows.push_back(row_of(sizing.at(size), sizing.bytes()));
  }
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
  return rows;
}

const std::vector<Table>& size_tables() {
  static const std::vector<Table> kTables{
      {"sizes",
       {{"bytes", "FAST MEMORY", Unit::bytes},
        {"of_all_percent", "OF ALL", Unit::percent},
        {"stays/served_percent", "STAYS: SERVED", Unit::percent},
        {"stays/latency_ns", "LATENCY", Unit::ns},
        {"moves/served_percent", "MOVES: SERVED", Unit::percent},
        {"moves/latency_ns", "LATENCY", Unit::ns},
        {"moves/moved_bytes", "MOVED", Unit::bytes},
        {"moves/bound_ns", "AT LEAST", Unit::ns}}}};
  return kTables;
}

void print_text(const json& answer, const Prices& prices) {
  const auto bytes = [&](const char* key) { return to_text(answer[key], Unit::bytes); };
  std::printf(
      "%s (PID %d): %s, %s; an access takes %s in fast memory, %s in slow\n\n"
      "%s\n%s of fast memory are enough for accesses that take %g %% longer than with fast memory "
      "alone, without a move.\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      bytes("bytes").c_str(), to_text(answer["time_ns"], Unit::ns).c_str(),
      to_text(json(prices.fast_ns), Unit::ns).c_str(),
      to_text(json(prices.slow_ns), Unit::ns).c_str(), to_text(answer, size_tables()).c_str(),
      bytes("enough_bytes").c_str(), 100 * (kEnough - 1));
}

int run_size(const Context& context, const SizeOptions& options) {
  const auto frames = frames_of(options.file);
  if (!frames) return fail(context, frames.error());
  const auto heat = heat_of(options.file, *frames);
  if (!heat) return fail(context, heat.error());
  const auto prices = prices_of(options, *frames->context);
  if (!prices) return fail(context, prices.error());
  const Sizing sizing(*heat, *prices);
  if (sizing.is_idle())
    return fail(context, hmk::Error{options.file + ": nothing was accessed in it",
                                    "record the program while it works"});
  json answer{{"pid", frames->target.pid},
              {"comm", frames->target.comm},
              {"intervals", heat->frames()},
              {"time_ns", heat->time_ns()},
              {"bytes", sizing.bytes()},
              {"fast_ns", prices->fast_ns},
              {"slow_ns", prices->slow_ns},
              {"move_ns", prices->page_ns},
              {"enough_bytes", sizing.enough(kEnough)},
              {"sizes", sized(sizing, sizes_of(options, sizing.bytes()))}};
  if (context.as_json)
    std::fputs(json_text(answer, 2).c_str(), stdout);
  else
    print_text(answer, *prices);
  return kOk;
}

}  // namespace

Run make_plan_size(CLI::App& verb) {
  auto options = std::make_shared<SizeOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  verb.add_option_function<std::vector<std::string>>(
          "--sizes",
          [options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto size = hmk::parse_size(text);
              if (!size) throw CLI::ValidationError("--sizes", size.error().line());
              options->sizes.push_back(*size);
            }
          },
          "of the fast memory, for example 1GiB,2GiB (default: sixteenths of all memory)")
      ->delimiter(',');
  const auto ns_to = [options](double Prices::*price) {
    return
        [=](hmk::Nanoseconds time) { options->prices.*price = static_cast<double>(time.count()); };
  };
  add_parsed(verb, "--fast",
             "an access to fast memory takes this (default: as recorded, the fastest tier)",
             parse_time, ns_to(&Prices::fast_ns));
  add_parsed(verb, "--slow",
             "an access to slow memory takes this (default: as recorded, the second tier)",
             parse_time, ns_to(&Prices::slow_ns));
  add_parsed(verb, "--move-cost", "a move of 4 KiB takes this from the program (default: 2us)",
             hmk::parse_duration, ns_to(&Prices::page_ns));
  return [options](const Context& context) { return run_size(context, *options); };
}

}  // namespace hmkctl
