// SPDX-License-Identifier: MIT
#include "pin_choice.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "config/pins.hpp"
#include "pinned.hpp"
#include "planned.hpp"
#include "policy/wanted.hpp"

namespace hmkctl {
namespace {

using hmk::Pin;
using hmk::PlannedMapping;
using hmk::PlannedPiece;
using hmk::RecordedMapping;
using Piece = HeatPieces::Piece;

// A mapping is named as a whole, and parts are joined over what lies between them, where no more
// than such a share belongs elsewhere.
constexpr double kElsewhere = 0.1;
// A pin that saves less than such a part of all is not worth its line.
constexpr double kWorth = 0.005;

struct Load {
  double bytes = 0, accesses = 0;

  Load& operator+=(const Load& other) {
    bytes += other.bytes;
    accesses += other.accesses;
    return *this;
  }
};

double accesses_of(const Piece& piece) {
  return std::accumulate(piece.accesses.begin(), piece.accesses.end(), 0.0);
}

/// What [start, end) holds: of each piece its share.
Load load_in(const std::vector<Piece>& pieces, std::uint64_t start, std::uint64_t end) {
  Load load;
  auto at = std::ranges::upper_bound(pieces, start, {},
                                     [](const Piece& one) { return one.start + one.length; });
  for (; at != pieces.end() && at->start < end; ++at) {
    const std::uint64_t from = std::max(start, at->start),
                        to = std::min(end, at->start + at->length);
    const double share = static_cast<double>(to - from) / static_cast<double>(at->length);
    load += {at->bytes * share, accesses_of(*at) * share};
  }
  return load;
}

/// Words of `pins`: what they cannot hold matches any character there.
std::string in_words(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c <= 0x20 || c >= 0x7f || c == ','; }, '?');
  return name;
}

std::string process_word(const std::string& comm) {
  std::string word = in_words(comm);
  std::ranges::replace(word, '/', '?');
  if (word.find_first_not_of("0123456789") == word.npos) word[0] = '?';  // no PID
  return word;
}

std::string mapping_word(const std::string& name) {
  std::string word = name == "anonymous" ? "[anon]" : in_words(name);
  if (word.starts_with("0x")) word[0] = '?';  // no address
  return word;
}

/// All that the best placement has of the mappings of one name.
struct Named {
  struct Part {
    std::uint64_t start, end;
    int tier;
    Load load;
  };
  std::vector<Part> parts;  ///< in address order
  Load load;
  std::map<int, double> bytes;  ///< by tier
};

std::map<std::string, Named> by_name(const PinSource& source) {
  std::map<std::string, Named> all;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> starts;
  std::map<std::string, std::uint64_t> seen;
  for (const RecordedMapping& mapping : source.mappings) {
    starts[{mapping.name, seen[mapping.name]++}] = mapping.start;
    all[mapping.name].load += load_in(source.pieces, mapping.start, mapping.end);
  }
  for (const PlannedMapping& mapping : planned(source.pieces, source.best, source.mappings))
    for (const PlannedPiece& piece : mapping.pieces) {
      const std::uint64_t start = starts.at({mapping.name, mapping.before}) + piece.offset;
      const Load load = load_in(source.pieces, start, start + piece.length);
      Named& named = all[mapping.name];
      named.parts.push_back({start, start + piece.length, piece.tier.front(), load});
      named.bytes[piece.tier.front()] += load.bytes;
    }
  return all;
}

class Chooser {
 public:
  Chooser(const PinSource& source, std::vector<double> capacity,
          const std::vector<double>& latency_ns)
      : source_(source), left_(std::move(capacity)), latency_ns_(latency_ns) {}

  std::vector<ChosenPin> run(std::size_t most) {
    std::vector<Candidate> candidates;
    const auto all = by_name(source_);
    for (const auto& [name, named] : all) add(candidates, name, named);
    // By what a byte saves, so that what fits is what is worth most.
    std::ranges::stable_sort(candidates, std::greater{}, &Candidate::per_byte);
    for (const Candidate& one : candidates) take(one);
    std::ranges::stable_sort(pins_, std::greater{}, &ChosenPin::saves_ns);
    double saves_ns = 0;
    for (const ChosenPin& one : pins_) saves_ns += one.saves_ns;
    std::erase_if(pins_, [=](const ChosenPin& one) { return one.saves_ns < kWorth * saves_ns; });
    if (pins_.size() > most) pins_.resize(most);
    return std::move(pins_);
  }

 private:
  struct Candidate {
    ChosenPin pin;
    double per_byte;
    const Named* whole = nullptr;  ///< a mapping, of which the parts may fit where it does not
  };

  Candidate candidate(Pin pin, const Load& load, const Named* whole = nullptr) const {
    const double less = latency_ns_.back() - latency_ns_[static_cast<std::size_t>(pin.tier)];
    const double saves = load.accesses * less;
    return {{std::move(pin), load.bytes, load.accesses, saves},
            saves / std::max(load.bytes, 1.0),
            whole};
  }

  int slowest() const { return static_cast<int>(latency_ns_.size()) - 1; }

  void add(std::vector<Candidate>& candidates, const std::string& name, const Named& named) const {
    for (const auto& [tier, bytes] : named.bytes)
      if (tier != slowest() && bytes >= named.load.bytes * (1 - kElsewhere)) {
        Pin pin{.process = process_word(source_.target.comm),
                .mapping = mapping_word(name),
                .tier = tier};
        candidates.push_back(candidate(std::move(pin), named.load, &named));
        return;
      }
    add_parts(candidates, named);
  }

  void add_parts(std::vector<Candidate>& candidates, const Named& named) const {
    for (auto at = named.parts.begin(); at != named.parts.end();) {
      if (at->tier == slowest()) {
        ++at;
        continue;
      }
      const auto [last, load] = run_from(named, at);
      Pin pin{.process = std::to_string(source_.target.pid),
              .start = at->start,
              .end = last->end,
              .tier = at->tier};
      candidates.push_back(candidate(std::move(pin), load));
      at = std::next(last);
    }
  }

  /// As far as most of what follows belongs in the same tier: its last part, and what it holds.
  static std::pair<std::vector<Named::Part>::const_iterator, Load> run_from(
      const Named& named, std::vector<Named::Part>::const_iterator first) {
    auto last = first;
    Load taken = first->load, between;
    double elsewhere = 0;  // bytes of taken
    for (auto at = std::next(first); at != named.parts.end(); ++at) {
      if (at->tier != first->tier) {
        between += at->load;
        continue;
      }
      const double all = taken.bytes + between.bytes + at->load.bytes;
      if (elsewhere + between.bytes > kElsewhere * all) break;
      elsewhere += between.bytes;
      taken += between;
      taken += at->load;
      between = {};
      last = at;
    }
    return {last, taken};
  }

  void take(const Candidate& one) {
    double& left = left_[static_cast<std::size_t>(one.pin.pin.tier)];
    if (one.pin.saves_ns <= 0) return;
    if (one.pin.bytes <= left) {
      left -= one.pin.bytes;
      pins_.push_back(one.pin);
    } else if (one.whole != nullptr) {
      std::vector<Candidate> parts;
      add_parts(parts, *one.whole);
      std::ranges::stable_sort(parts, std::greater{}, &Candidate::per_byte);
      for (const Candidate& part : parts) take(part);
    }
  }

  const PinSource& source_;
  std::vector<double> left_;
  const std::vector<double>& latency_ns_;
  std::vector<ChosenPin> pins_;
};

/// As hmkd reads them.
std::vector<hmk::policy::Wanted> pinned_ranges(const PinSource& source,
                                               const std::vector<ChosenPin>& chosen) {
  std::vector<Pin> pins(chosen.size());
  std::ranges::transform(chosen, pins.begin(), &ChosenPin::pin);
  return hmk::pinned_in(pins, source.target.pid, source.target.comm, source.mappings);
}

Piece part_of(const Piece& piece, std::uint64_t start, std::uint64_t end) {
  const double share = static_cast<double>(end - start) / static_cast<double>(piece.length);
  Piece part{piece.bytes * share, piece.accesses, start, end - start, piece.first};
  for (double& accesses : part.accesses) accesses *= share;
  return part;
}

/// What of the pieces no pin names.
std::vector<Piece> unpinned(const std::vector<Piece>& pieces,
                            const std::vector<hmk::policy::Wanted>& pinned) {
  std::vector<Piece> rest;
  for (const Piece& piece : pieces) {
    const std::uint64_t end = piece.start + piece.length;
    std::uint64_t from = piece.start;
    for (const hmk::policy::Wanted& one : pinned) {
      if (one.end <= from || one.start >= end) continue;
      if (one.start > from) rest.push_back(part_of(piece, from, one.start));
      from = std::min(one.end, end);
    }
    if (from < end) rest.push_back(part_of(piece, from, end));
  }
  return rest;
}

}  // namespace

std::vector<ChosenPin> chosen_pins(const PinSource& source, const std::vector<double>& capacity,
                                   const std::vector<double>& latency_ns, std::size_t most) {
  return Chooser(source, capacity, latency_ns).run(most);
}

Outcome as_pinned(const PinSource& source, const std::vector<ChosenPin>& pins,
                  std::vector<double> capacity, const std::vector<double>& latency_ns) {
  const auto pinned = pinned_ranges(source, pins);
  Outcome outcome{.shares = std::vector<double>(latency_ns.size())};
  double all = 0, others = 0;
  for (const Piece& piece : source.pieces) all += accesses_of(piece);
  for (const hmk::policy::Wanted& one : pinned) {
    const Load load = load_in(source.pieces, one.start, one.end);
    const auto tier = static_cast<std::size_t>(one.tier);
    outcome.shares[tier] += load.accesses / all;
    capacity[tier] = std::max(capacity[tier] - load.bytes, 0.0);
  }
  const std::vector<Piece> rest = unpinned(source.pieces, pinned);
  for (const Piece& piece : rest) others += accesses_of(piece);
  if (others > 0) {
    const Outcome touched = first_touch(rest, capacity, latency_ns);
    for (std::size_t tier = 0; tier < latency_ns.size(); ++tier)
      outcome.shares[tier] += touched.shares[tier] * others / all;
  }
  for (std::size_t tier = 0; tier < latency_ns.size(); ++tier)
    outcome.latency_ns += outcome.shares[tier] * latency_ns[tier];
  return outcome;
}

std::string yaml_item(const hmk::Pin& pin) {
  std::string text = "'";
  for (const char c : to_string(pin)) text += c == '\'' ? std::string("''") : std::string(1, c);
  return "  - " + text + "'";
}

}  // namespace hmkctl
