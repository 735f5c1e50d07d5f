// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "plan.hpp"
#include "recorded_heat.hpp"
#include "size_picture.hpp"
#include "sizing.hpp"
#include "status_line.hpp"
#include "util/printable.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

/// Of a GiB, in any currency.
struct GibPrices {
  double fast = 0, slow = 0;
};

struct SizeOptions {
  std::string file, svg;
  std::vector<std::uint64_t> sizes = {};
  Prices prices = {};  ///< 0: as recorded
  std::uint32_t loss_bp = 500;
  std::optional<GibPrices> gib = {};

  double loss() const { return loss_bp / 1e4; }
};

/// Latencies that are not given are those of the recording's first two tiers.
hmk::Result<Prices> prices_of(const SizeOptions& options, const hmk::RecordedContext& context) {
  Prices prices = options.prices;
  const auto recorded = [&](std::size_t tier) {
    const auto& tiers = context.machine.tiers;
    return tier < tiers.size() ? tiers[tier].latency_ns : 0;
  };
  if (prices.fast_ns == 0) prices.fast_ns = recorded(0);
  if (prices.slow_ns == 0) prices.slow_ns = recorded(1);
  if (prices.page_ns == 0) prices.page_ns = recorded_page_ns(context.machine);
  if (prices.fast_ns == 0 || prices.slow_ns == 0)
    return hmk::Error{options.file + ": holds no latencies of two tiers",
                      "give both, for example --fast 90ns --slow 230ns"};
  if (prices.fast_ns < prices.slow_ns) return prices;
  return hmk::Error{"slow memory of " + to_text(prices.slow_ns, Unit::ns) +
                        " is not slower than fast memory of " + to_text(prices.fast_ns, Unit::ns),
                    "give --fast and --slow"};
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

std::vector<Sized> sized(const Sizing& sizing, const std::vector<std::uint64_t>& sizes) {
  std::vector<Sized> all;
  StatusLine line;
  for (const std::uint64_t size : sizes) {
    line.show("working out size %zu of %zu", all.size() + 1, sizes.size());
    all.push_back(sizing.at(size));
  }
  return all;
}

/// Of a machine with so much fast memory and the rest of `all` in slow; null without prices.
json price_of(const SizeOptions& options, std::uint64_t fast, std::uint64_t all) {
  if (!options.gib) return nullptr;
  const double fast_gib = static_cast<double>(fast) / kGiB;
  const double slow_gib = static_cast<double>(all - std::min(fast, all)) / kGiB;
  return fast_gib * options.gib->fast + slow_gib * options.gib->slow;
}

/// By how many percent of the fast latency another GiB makes an access shorter.
double worth_of_a_gib(const Sizing& sizing, std::uint64_t bytes) {
  return 100 * (sizing.loss(bytes) - sizing.loss(bytes + (1ull << 30)));
}

json row_of(const SizeOptions& options, const Sizing& sizing, const Sized& sized) {
  const std::uint64_t all = sizing.bytes();
  return {{"bytes", sized.bytes},
          {"of_all_percent", 100.0 * static_cast<double>(sized.bytes) / static_cast<double>(all)},
          {"price", price_of(options, sized.bytes, all)},
          {"next_gib_percent", worth_of_a_gib(sizing, sized.bytes)},
          {"stays", {{"served_percent", 100 * sized.stays_share}, {"latency_ns", sized.stays_ns}}},
          {"moves",
           {{"served_percent", 100 * sized.moves_share},
            {"latency_ns", sized.moves_ns},
            {"moved_bytes", std::llround(sized.moved_bytes)},
            {"bound_ns", sized.bound_ns}}}};
}

json answer_of(const SizeOptions& options, const Sizing& sizing, const std::vector<Sized>& sizes) {
  const std::uint64_t all = sizing.bytes(), enough = sizing.enough(options.loss());
  json rows = json::array();
  for (const Sized& sized : sizes) rows.push_back(row_of(options, sizing, sized));
  return {{"bytes", all},
          {"loss_percent", 100 * options.loss()},
          {"enough",
           {{"bytes", enough},
            {"price", price_of(options, enough, all)},
            {"next_gib_percent", worth_of_a_gib(sizing, enough)}}},
          {"all_fast_price", price_of(options, all, all)},
          {"sizes", rows}};
}

std::vector<Table> size_tables(bool has_prices) {
  Table table{"sizes",
              {{"bytes", "FAST MEMORY", Unit::bytes},
               {"of_all_percent", "OF ALL", Unit::percent},
               {"stays/served_percent", "STAYS: SERVED", Unit::percent},
               {"stays/latency_ns", "LATENCY", Unit::ns},
               {"next_gib_percent", "NEXT GIB SAVES", Unit::percent},
               {"moves/served_percent", "MOVES: SERVED", Unit::percent},
               {"moves/latency_ns", "LATENCY", Unit::ns},
               {"moves/moved_bytes", "MOVED", Unit::bytes},
               {"moves/bound_ns", "AT LEAST", Unit::ns}}};
  if (has_prices) table.columns.push_back({"price", "PRICE", Unit::decimal});
  return {table};
}

void print_text(const json& answer, const SizeOptions& options) {
  const auto text = [&](const char* where, Unit unit) {
    return to_text(answer.at(json::json_pointer(where)), unit);
  };
  std::printf(
      "%s (PID %d): %s, %s; an access takes %s in fast memory, %s in slow\n\n%s\n"
      "%s of fast memory are enough for accesses that take %s longer than with fast memory alone, "
      "without a move; the next GiB saves %s.\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      text("/bytes", Unit::bytes).c_str(), text("/time_ns", Unit::ns).c_str(),
      text("/fast_ns", Unit::ns).c_str(), text("/slow_ns", Unit::ns).c_str(),
      to_text(answer, size_tables(options.gib.has_value())).c_str(),
      text("/enough/bytes", Unit::bytes).c_str(), text("/loss_percent", Unit::percent).c_str(),
      text("/enough/next_gib_percent", Unit::percent).c_str());
  if (options.gib)
    std::printf("With the rest in slow memory that costs %.2f; all of it in fast memory %.2f.\n",
                answer["enough"]["price"].get<double>(), answer["all_fast_price"].get<double>());
}

int run_size(const Context& context, const SizeOptions& options) {
  const auto frames = frames_of(options.file);
  if (!frames) return fail(context, frames.error());
  const auto heat = recorded_heat(options.file, *frames);
  if (!heat) return fail(context, heat.error());
  const auto prices = prices_of(options, *frames->context);
  if (!prices) return fail(context, prices.error());
  const Sizing sizing(*heat, *prices);
  const std::vector<Sized> sizes = sized(sizing, sizes_of(options, sizing.bytes()));
  if (!options.svg.empty())
    return write_picture(
        context, options.svg,
        size_picture(frames->target.comm + " (PID " + std::to_string(frames->target.pid) +
                         "): what an access takes, by size of the fast memory",
                     sizes, *prices, sizing.enough(options.loss())));
  json answer = answer_of(options, sizing, sizes);
  answer.update(about(*frames, *heat));
  answer.update(
      {{"fast_ns", prices->fast_ns}, {"slow_ns", prices->slow_ns}, {"move_ns", prices->page_ns}});
  return tell(context, answer, [&](const json& told) { print_text(told, options); });
}

hmk::Result<GibPrices> parse_prices(std::string_view text) {
  const auto refused = [&] {
    return hmk::Error{"'" + std::string(text) + "' is no two prices above 0",
                      "write fast,slow for a GiB of each, for example 16.61,7.85"};
  };
  const char* const end = text.data() + text.size();
  GibPrices prices;
  const auto fast = std::from_chars(text.data(), end, prices.fast);
  if (fast.ec != std::errc() || fast.ptr == end || *fast.ptr != ',') return refused();
  const auto slow = std::from_chars(fast.ptr + 1, end, prices.slow);
  const auto is_price = [](double price) { return price > 0 && std::isfinite(price); };
  if (slow.ec != std::errc() || slow.ptr != end || !is_price(prices.fast) || !is_price(prices.slow))
    return refused();
  return prices;
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
  add_parsed(verb, "--move-cost",
             "a move of 4 KiB takes this from the program (default: as recorded, else 2us)",
             hmk::parse_duration, ns_to(&Prices::page_ns));
  add_parsed(verb, "--loss",
             "enough is where an access takes so much longer than in fast memory (default: 5%)",
             hmk::parse_percent_bp, [options](std::uint32_t bp) { options->loss_bp = bp; });
  add_parsed(verb, "--price", "of a GiB of fast and of slow memory, for example 16.61,7.85",
             parse_prices, [options](GibPrices prices) { options->gib = prices; });
  verb.add_option("--svg", options->svg, "write a picture to this file instead");
  return [options](const Context& context) { return run_size(context, *options); };
}

}  // namespace hmkctl
