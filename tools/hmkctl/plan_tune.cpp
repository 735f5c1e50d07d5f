// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "config/keys.hpp"
#include "plan.hpp"
#include "plan_tiers.hpp"
#include "util/fd.hpp"
#include "util/file.hpp"
#include "util/printable.hpp"
#include "util/suggest.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

/// Tried in this order, each with the best of those before.
const std::vector<std::string> kTried{"interval=2s,5s,10s,20s,60s", "overhead=1%,2%,5%,10%",
                                      "promote_limit=50MiB,200MiB,800MiB", "horizon=20,60,200"};

struct TuneOptions {
  std::string file;
  TierOptions tiers = {};
  std::vector<std::string> tried = kTried;
  std::string overhead;
  unsigned seeds = 8;
};

/// "interval=1s,10s": what hmkd would say of it; empty: nothing.
std::string problem_of(const std::string& axis) {
  const std::size_t equals = std::min(axis.find('='), axis.size());
  const std::string name = axis.substr(0, equals);
  const hmk::Key* const key = hmk::find_key(name);
  if (equals == axis.size()) return "'" + axis + "' is not KEY=VALUE,VALUE";
  if (key == nullptr) {
    const std::string near = hmk::did_you_mean(name, hmk::key_names());
    return "unknown key '" + name + "'" + (near.empty() ? "" : "; " + near);
  }
  hmk::Config tried;
  for (std::size_t at = equals + 1; at <= axis.size();) {
    const std::size_t comma = std::min(axis.find(',', at), axis.size());
    if (const auto set = key->set(tried, axis.substr(at, comma - at)); !set)
      return name + ": " + set.error().line();
    at = comma + 1;
  }
  return "";
}

/// What the simulator was asked for, and how its answer is read.
class Simulation {
 public:
  explicit Simulation(std::vector<std::string> words) : words_(std::move(words)) {}

  hmk::Result<json> run() {
    // What it writes is in memory; it finds the file by the number of this descriptor.
    const hmk::Fd answer(::memfd_create("hmk-sim", 0));
    if (!answer) return hmk::Error{"no memory for the answer", std::strerror(errno)};
    const std::string path = "/proc/self/fd/" + std::to_string(answer.get());
    words_.insert(words_.end(), {"--json", path});
    const hmk::Result<int> status = ended();
    if (!status) return status.error();
    const std::string text = hmk::read_text(path).value_or("");
    json found = json::parse(text, nullptr, false);
    // 1: another value is better than what ships, which is an answer.
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) > 1 || !found.is_array())
      return hmk::Error{words_[0] + " has ended without an answer",
                        "what it says of it stands above"};
    return found;
  }

 private:
  hmk::Result<int> ended() const {
    std::vector<char*> argv;
    for (const std::string& word : words_) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0)
      return hmk::Error{words_[0] + " cannot be run: " + std::strerror(error),
                        "install hmkd's package, or name the program in HMK_SIM"};
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
      if (errno != EINTR) return hmk::Error{"no answer of " + words_[0], std::strerror(errno)};
    return status;
  }

  std::vector<std::string> words_;
};

std::string simulator() {
  const char* const named = std::getenv("HMK_SIM");
  return named != nullptr ? named : HMK_SIM_PATH;
}

std::vector<std::string> words_of(const TuneOptions& options) {
  std::vector<std::string> words{simulator(), "machine",
                                 "tune",      std::filesystem::absolute(options.file),
                                 "--seeds",   std::to_string(options.seeds)};
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  const bool leaves_overhead = !options.overhead.empty() && options.tried == kTried;
  for (const std::string& axis : options.tried)
    if (!leaves_overhead || !axis.starts_with("overhead=")) add("--set", axis);
  if (!options.overhead.empty()) add("--budget", options.overhead);
  for (const auto& [tier, bytes] : options.tiers.bytes)
    add("--tier", std::to_string(tier) + "=" + hmk::format_size(bytes));
  for (const auto& [tier, latency] : options.tiers.latency)
    add("--latency", std::to_string(tier) + "=" + std::to_string(latency.count()) + "ns");
  return words;
}

/// A simulation is not more exact than that.
double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

/// Of the simulator's answer about one key.
json key_row(const json& found) {
  json row{{"key", found.at("key")},
           {"now", found.at("shipped")},
           {"best", found.at("best")},
           {"saves_percent", 0.0},
           {"values", json::array()}};
  for (const json& value : found.at("values")) {
    const double saves = rounded(-100 * value.at("slower_than_shipped").get<double>()) + 0.0;
    if (value.at("value") == row["best"] && row["best"] != row["now"]) row["saves_percent"] = saves;
    row["values"].push_back(
        {{"value", value.at("value")},
         {"runs", value.at("seeds")},
         {"of_first_touch", rounded(value.at("time_vs_first_touch").get<double>())},
         {"saves_percent", saves}});
  }
  return row;
}

double time_of(const json& row, const char* which) {
  for (const json& value : row["values"])
    if (value["value"] == row[which]) return value["of_first_touch"].get<double>();
  return 1;
}

const Table& key_table() {
  static const Table kTable{"keys",
                            {{"key", "KEY"},
                             {"now", "SHIPS"},
                             {"best", "BEST"},
                             {"saves_percent", "SAVES", Unit::percent}}};
  return kTable;
}

void print_tuning(const json& answer) {
  const auto text = [&](const char* key, Unit unit) { return to_text(answer.at(key), unit); };
  std::printf("%s (PID %d): %s, %s\n\n%s\n%s\n",
              hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
              text("bytes", Unit::bytes).c_str(), text("time_ns", Unit::ns).c_str(),
              to_text(answer, {tier_table()}).c_str(), to_text(answer, {key_table()}).c_str());
  std::printf(
      "Simulated: %.3f of first touch's time as hmkd ships, %.3f with the best of these "
      "values.\n",
      answer["of_first_touch"].get<double>(), answer["best_of_first_touch"].get<double>());
  bool is_first = true;
  for (const json& row : answer["keys"]) {
    if (row["best"] == row["now"]) continue;
    std::printf("%s%s: %s\n", is_first ? "For hmkd.yaml:\n\n" : "",
                row["key"].get_ref<const std::string&>().c_str(),
                row["best"].get_ref<const std::string&>().c_str());
    is_first = false;
  }
  if (is_first) std::puts("No other value is surely faster than what ships.");
}

int run_tune(const Context& context, const TuneOptions& options) {
  const auto input = plan_input(options.file, options.tiers);
  if (!input) return fail(context, input.error());
  const auto found = Simulation(words_of(options)).run();
  if (!found) return fail(context, found.error());
  json answer = about(input->frames, input->heat);
  answer.update({{"tiers", tier_rows(input->tiers)},
                 {"bytes", std::llround(input->demand().bytes())},
                 {"keys", json::array()}});
  for (const json& key : *found) answer["keys"].push_back(key_row(key));
  answer["of_first_touch"] = time_of(answer["keys"].front(), "now");
  answer["best_of_first_touch"] = time_of(answer["keys"].back(), "best");
  return tell(context, answer, print_tuning);
}

}  // namespace

Run make_plan_tune(CLI::App& verb) {
  auto options = std::make_shared<TuneOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  add_tier_options(verb, options->tiers);
  verb.add_option("--set", options->tried,
                  "a key of hmkd.yaml and the values to try, KEY=VALUE,VALUE; may be given several "
                  "times (default: interval, overhead, promote_limit, horizon)")
      ->allow_extra_args(false)
      ->check(problem_of);
  verb.add_option("--overhead", options->overhead,
                  "what profiling may take, for example 1% (default: it is one of the keys)")
      ->check([](const std::string& text) { return problem_of("overhead=" + text); });
  verb.add_option("--seeds", options->seeds, "runs of a value at most (default: 8)")
      ->check(CLI::Range(2, 1000));
  return [options](const Context& context) { return run_tune(context, *options); };
}

}  // namespace hmkctl
