// SPDX-License-Identifier: MIT
#include "load_event.hpp"

#include <charconv>
#include <map>
#include <sstream>
#include <system_error>

#include "topology/machine.hpp"
#include "util/file.hpp"

namespace hmkctl {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kIntelPeriod = 20'011;  // loads of that latency; no round number
constexpr std::uint64_t kIbsPeriod = 400'000, kIbsGranule = 16;  // operations of any kind

std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One PMU's folder below /sys/bus/event_source/devices.
class Pmu {
 public:
  explicit Pmu(fs::path folder) : folder_(std::move(folder)) {}

  std::optional<std::uint64_t> type() const { return number_of(hmk::first_line(folder_ / "type")); }
  bool has_event(const char* name) const { return fs::exists(folder_ / "events" / name); }
  bool has_term(const char* name) const { return fs::exists(folder_ / "format" / name); }

  /// An event's terms, "event=0xcd,umask=0x1,ldlat=3"; one that stands alone is 1.
  std::map<std::string, std::uint64_t> terms_of(const char* event) const {
    std::map<std::string, std::uint64_t> terms;
    std::istringstream words(hmk::first_line(folder_ / "events" / event));
    for (std::string word; std::getline(words, word, ',');) {
      const std::size_t sign = word.find('=');
      terms[word.substr(0, sign)] =
          sign == word.npos ? 1 : number_of(std::string_view(word).substr(sign + 1)).value_or(0);
    }
    return terms;
  }

  /// Puts a value where format/TERM says, "config:0-7,32-35". False where it does not.
  bool put(LoadEvent& event, const std::string& term, std::uint64_t value) const {
    const std::string place = hmk::first_line(folder_ / "format" / term);
    const std::size_t colon = place.find(':');
    if (colon == place.npos || colon + 1 == place.size()) return false;
    const std::string field = place.substr(0, colon);
    if (field != "config" && field != "config1") return false;
    std::uint64_t& bits = field == "config" ? event.config : event.config1;
    std::istringstream ranges(place.substr(colon + 1));
    for (std::string range; std::getline(ranges, range, ',');) {
      const std::size_t dash = range.find('-');
      const auto first = number_of(std::string_view(range).substr(0, dash));
      const auto last =
          dash == range.npos ? first : number_of(std::string_view(range).substr(dash + 1));
      if (!first || !last || *last < *first || *last > 63) return false;
      for (std::uint64_t bit = *first; bit <= *last; ++bit, value >>= 1)
        bits = (bits & ~(1ull << bit)) | (value & 1) << bit;
    }
    return true;
  }

  std::set<int> cpus(const fs::path& root) const {
    const auto own = hmk::read_text(folder_ / "cpus");  // of one kind of cores among several
    return hmk::parse_id_list(
        own ? *own : hmk::read_text(root / "sys/devices/system/cpu/online").value_or(""));
  }

 private:
  fs::path folder_;
};

std::optional<LoadEvent> with_terms(const Pmu& pmu, const char* event_name) {
  LoadEvent event;
  for (const auto& [term, value] : pmu.terms_of(event_name))
    if (!pmu.put(event, term, value)) return std::nullopt;
  return event;
}

/// Some tell a load's latency only beside an event that says when one is looked at.
std::optional<LoadEvent> intel_event(const Pmu& pmu) {
  if (!pmu.has_event("mem-loads")) return std::nullopt;
  auto event = with_terms(pmu, "mem-loads");
  if (!event || !pmu.put(*event, "ldlat", kLeastLatency)) return std::nullopt;
  if (pmu.has_event("mem-loads-aux")) {
    const auto leader = with_terms(pmu, "mem-loads-aux");
    if (!leader) return std::nullopt;
    event->leader = leader->config;
  }
  event->precise = 2;
  event->can_exclude = true;
  event->first_period = kIntelPeriod;
  return event;
}

/// By operations, not by cycles; only what missed the L3 where the CPU can tell that by itself.
std::optional<LoadEvent> amd_event(const Pmu& pmu) {
  LoadEvent event;
  if (!pmu.put(event, "cnt_ctl", 1)) return std::nullopt;
  if (pmu.has_term("l3missonly") && !pmu.put(event, "l3missonly", 1)) return std::nullopt;
  event.first_period = kIbsPeriod;
  event.granule = kIbsGranule;
  return event;
}

}  // namespace

hmk::Result<LoadEvent> find_load_event(const fs::path& root) {
  const fs::path devices = root / "sys/bus/event_source/devices";
  for (const char* const name : {"cpu", "cpu_core", "ibs_op"}) {
    const Pmu pmu(devices / name);
    const auto type = pmu.type();
    if (!type) continue;
    const bool is_amd = std::string_view(name) == "ibs_op";
    auto event = is_amd ? amd_event(pmu) : intel_event(pmu);
    if (!event) continue;
    event->name = is_amd ? name : std::string(name) + "/mem-loads";
    event->type = static_cast<std::uint32_t>(*type);
    event->cpus = pmu.cpus(root);
    return *std::move(event);
  }
  return hmk::Error{
      "this machine's CPUs do not report where loads are served from: neither the event mem-loads "
      "nor ibs_op is in " +
          devices.string(),
      "most virtual machines have none: measure on the host; 'hmkctl status' estimates shares "
      "without them"};
}

}  // namespace hmkctl
