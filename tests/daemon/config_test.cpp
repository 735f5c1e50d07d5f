// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "config/classes.hpp"
#include "config/keys.hpp"
#include "config/read.hpp"
#include "config/whom.hpp"
#include "support/temp_folder.hpp"

namespace hmk {
namespace {

using Lines = std::vector<std::string>;

Lines problems_of(const std::string& text) {
  return read_config_text(text, "f.yaml").problems;
}

TEST(Config, ReferenceFileHoldsEveryKeyAtItsDefault) {
  const ConfigOrProblems got = read_config_file(HMK_REFERENCE_CONFIG);
  ASSERT_EQ(got.problems, Lines{});
  const Config defaults;
  for (const Key& key : keys()) EXPECT_EQ(key.get(got.config), key.get(defaults)) << key.name;
  EXPECT_EQ(got.config.tiers, defaults.tiers);
  EXPECT_EQ(got.config.attach, defaults.attach);

  std::ifstream in(HMK_REFERENCE_CONFIG);
  Lines written;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') written.push_back(line.substr(0, line.find(':')));
  std::sort(written.begin(), written.end());
  Lines known(key_names().begin(), key_names().end());
  std::sort(known.begin(), known.end());
  EXPECT_EQ(written, known);
}

TEST(Config, ExamplesAreValid) {
  for (const auto& file : std::filesystem::directory_iterator(HMK_EXAMPLE_CONFIGS))
    EXPECT_EQ(read_config_file(file.path()).problems, Lines{}) << file.path();
}

TEST(Config, ReadsWhatEachProcessMayHave) {
  const ConfigOrProblems got = read_config_text(
      "weights: [redis-server=3, 4711=2]\n"
      "caps: [redis-server/1=4GiB, a/b=c/2=512MiB]\n"
      "floors: 4711/3=1MiB\n",
      "f.yaml");
  ASSERT_EQ(got.problems, Lines{});
  EXPECT_EQ(weight_of(got.config, 4711, "redis-server"), 2u) << "the PID counts first";
  EXPECT_EQ(weight_of(got.config, 4712, "redis-server"), 3u);
  EXPECT_EQ(weight_of(got.config, 4712, "memcached"), 1u);
  EXPECT_EQ(bound_of(got.config.caps, 1, "redis-server", 0), 4ull << 30);
  EXPECT_EQ(bound_of(got.config.caps, 1, "redis-server", 1), std::nullopt);
  EXPECT_EQ(bound_of(got.config.caps, 1, "a/b=c", 1), 512ull << 20);
  EXPECT_EQ(bound_of(got.config.floors, 4711, "x", 2), 1ull << 20);
  EXPECT_EQ(find_key("weights")->get(got.config), "4711=2,redis-server=3");
  EXPECT_EQ(find_key("caps")->get(got.config), "a/b=c/2=512MiB,redis-server/1=4GiB");
}

TEST(Config, TheGovernorIsOnButForWhoIsNamed) {
  EXPECT_TRUE(is_governed(Config{}, 1, "mysqld"));
  const auto got = read_config_text("governor: [on, mysqld=off, 4711=on]\n", "f.yaml");
  ASSERT_EQ(got.problems, Lines{});
  EXPECT_TRUE(is_governed(got.config, 1, "redis-server"));
  EXPECT_FALSE(is_governed(got.config, 1, "mysqld"));
  EXPECT_TRUE(is_governed(got.config, 4711, "mysqld"));
  EXPECT_EQ(find_key("governor")->get(got.config), "on,4711=on,mysqld=off");
  Config only;
  ASSERT_TRUE(find_key("governor")->set(only, "off-site=off"));
  EXPECT_TRUE(is_governed(only, 1, "redis-server")) << "a name that begins like a word";
  EXPECT_FALSE(is_governed(only, 1, "off-site"));
  ASSERT_TRUE(find_key("governor")->set(only, "off,on-call=on"));
  EXPECT_FALSE(is_governed(only, 1, "redis-server"));
  EXPECT_TRUE(is_governed(only, 1, "on-call"));
  ASSERT_TRUE(find_key("governor")->set(only, "on-call=on"));
  EXPECT_TRUE(is_governed(only, 1, "on-call")) << "a name that begins like the other word";
}

TEST(Config, AMoveCostsWhatWasMeasuredUnlessAPriceIsNamed) {
  Config config;
  EXPECT_EQ(page_ns(config), 0u);
  const Key* const key = find_key("move_cost");
  EXPECT_EQ(key->get(config), "measured");
  for (const auto& [text, ns] : {std::pair{"1ns", 1u}, {"1s", 1'000'000'000u}, {"1150ns", 1150u}}) {
    ASSERT_TRUE(key->set(config, text)) << text;
    EXPECT_EQ(page_ns(config), ns);
  }
  for (const char* const text : {"0ns", "1001ms", "-1ns", "cheap", ""})
    EXPECT_FALSE(key->set(config, text)) << text;
  EXPECT_EQ(page_ns(config), 1150u) << "what is refused changes nothing";
  ASSERT_TRUE(key->set(config, "measured"));
  EXPECT_EQ(page_ns(config), 0u);
}

TEST(Config, AnAutomaticHorizonIsAsLongAsTheProcessIsKnown) {
  Config config;
  EXPECT_EQ(horizon_for(config, 1000), 60);
  ASSERT_TRUE(find_key("horizon")->set(config, "auto"));
  EXPECT_EQ(find_key("horizon")->get(config), "auto");
  EXPECT_EQ(horizon_for(config, 1), 60);
  EXPECT_EQ(horizon_for(config, 1000), 1000);
  EXPECT_FALSE(find_key("horizon")->set(config, "0"));
}

TEST(Config, RefusesWhatGivesNoProcessAnything) {
  for (const char* const line :
       {"governor: yes", "governor: a=yes", "governor: [on, off]", "governor: [a=on, a=on]",
        "weights: 3", "weights: redis=0", "weights: redis=10001", "weights: =3", "weights: []",
        "weights: [a=1, a=2]", "weights: [a=1, none]", "caps: redis=1GiB", "caps: redis/0=1GiB",
        "caps: /1=1GiB", "caps: redis/1=1", "floors: redis/65=1GiB", "floors: [a/1=1B, a/1=2B]"})
    EXPECT_EQ(problems_of(line).size(), 1u) << line;
}

TEST(Config, ReadsPinsAsAListInQuotesOrWithout) {
  for (const char* const text : {"pins:\n  - redis-server/[heap]=1\n  - 4711/0x1000-0x2000=2\n",
                                 "pins: ['redis-server/[heap]=1', 4711/0x1000-0x2000=2]\n",
                                 "pins: redis-server/[heap]=1,4711/0x1000-0x2000=2\n"}) {
    const ConfigOrProblems got = read_config_text(text, "f.yaml");
    ASSERT_EQ(got.problems, Lines{}) << text;
    EXPECT_EQ(find_key("pins")->get(got.config), "redis-server/[heap]=1,4711/0x1000-0x2000=2");
  }
  EXPECT_EQ(problems_of("pins: [redis/0x1-0x2=1]").size(), 1u);
}

TEST(Config, ReadsTheBandwidthOfPairsOfTiers) {
  const ConfigOrProblems got = read_config_text("bandwidth: [1/3=1MiB, 64/1=1TiB]\n", "f.yaml");
  ASSERT_EQ(got.problems, Lines{});
  EXPECT_EQ(got.config.bandwidth, (TierRates{{{0, 2}, 1ull << 20}, {{63, 0}, 1ull << 40}}));
  EXPECT_EQ(find_key("bandwidth")->get(got.config), "1/3=1MiB,64/1=1TiB");
  EXPECT_EQ(problems_of("bandwidth: none"), Lines{});
}

TEST(Config, RefusesABandwidthOfNoPairOrOutOfRange) {
  for (const char* const line :
       {"bandwidth: 1GiB", "bandwidth: 1=1GiB", "bandwidth: 1/=1GiB", "bandwidth: /1=1GiB",
        "bandwidth: 0/1=1GiB", "bandwidth: 1/0=1GiB", "bandwidth: 1/65=1GiB",
        "bandwidth: 65/1=1GiB", "bandwidth: 1/1=1GiB", "bandwidth: 1/2/3=1GiB",
        "bandwidth: 1/2=1048575B", "bandwidth: 1/2=0B", "bandwidth: 1/2=1048577MiB",
        "bandwidth: 1/2=1", "bandwidth: [1/2=1GiB, 1/2=2GiB]", "bandwidth: [1/2=1GiB, none]"})
    EXPECT_EQ(problems_of(line).size(), 1u) << line;
}

TEST(Config, EmptyTextMeansTheDefaults) {
  EXPECT_EQ(problems_of(""), Lines{});
  EXPECT_EQ(problems_of("# nothing\n"), Lines{});
}

TEST(Config, ReportsAllProblemsAtOnceInOrderOfLines) {
  EXPECT_EQ(problems_of("intervall: 10s\n"
                        "overhead: 5\n"
                        "num_scans: 010\n"
                        "alpha: .nan\n"
                        "buckets: 64\n"
                        "buckets: 32\n"
                        "mode: on\n"),
            (Lines{
                "f.yaml:1: intervall: unknown key; did you mean 'interval'?",
                "f.yaml:2: overhead: '5' is a number without unit; write for example 5% or 0.5%",
                ("f.yaml:3: num_scans: '010' is not a whole number; write digits only, without "
                 "leading zero"),
                "f.yaml:4: alpha: '.nan' is not a plain decimal; write a plain decimal such as 0.5",
                "f.yaml:6: buckets: is given twice, first in line 5; remove one of them",
                "f.yaml:7: mode: 'on' is no mode; use track-only, dry-run or manage",
            }));
}

TEST(Config, RefusesValuesOutOfRange) {
  for (const char* const line : {"interval: 49ms",
                                 "interval: 11min",
                                 "overhead: 0%",
                                 "overhead: 800.01%",
                                 "num_scans: 0",
                                 "num_scans: 17",
                                 "alpha: 0",
                                 "alpha: 1.1",
                                 "alpha: .inf",
                                 "top_k: 65",
                                 "max_region: 1MiB",
                                 "buckets: 1",
                                 "buckets: 1025",
                                 "tau1: 17",
                                 "socket: relative.sock",
                                 "log_level: loud",
                                 "seed: 0",
                                 "weight: 0",
                                 "metrics: 0.0.0.0:9464",
                                 "metrics: on",
                                 "seed: 0x1",
                                 "move: async",
                                 "copy_threads: 0",
                                 "calibration: machine.yaml",
                                 "copy_threads: 17",
                                 "copy_threads: all",
                                 "shared: true",
                                 "move_bound: maybe",
                                 "admin_group: \"a b\"",
                                 "split_huge: on",
                                 "join_huge: on",
                                 "flush: never",
                                 "ablation: no-flush",
                                 "ablation: [fixed-regions, none]",
                                 "ablation: [[no-budget]]",
                                 "num_scans: [3]",
                                 "tiers: []",
                                 "tiers: [0, 0]",
                                 "tiers: [64]",
                                 "tiers: {a: b}",
                                 "tiers: [[0, 1], [1, 2]]",
                                 "tiers: [[0, 1], 1]",
                                 "tiers: [[0], []]",
                                 "tiers: [[0, [1]]]",
                                 "tiers: [[64]]",
                                 "tiers: [{nodes: []}]",
                                 "tiers: [{read: 9ns}]",
                                 "tiers: [{nodes: 0, read: 0ns}]",
                                 "tiers: [{nodes: 0, read: 1.1ms}]",
                                 "tiers: [{nodes: 0, write: 90ns}]",
                                 "tiers: [{nodes: 0, bandwidth: 9GiB}]",
                                 "tiers: [{nodes: 0, bandwidth: 1023KiB/s}]",
                                 "tiers: [{nodes: 0, nodes: 1}]",
                                 "tiers: [{nodes: 0, latency: 9ns}]",
                                 "attach: all",
                                 "attach: [0]",
                                 "attach: [7, 7]",
                                 "attach: [4194305]",
                                 "attach: [comm=a, comm=a]",
                                 "attach: [cgroup=user.slice]",
                                 "attach: [unit=]",
                                 "attach: [comm: redis]",
                                 "attach_poll: 10ms",
                                 "interval: [10s]",
                                 "interval:",
                                 "- a",
                                 "[]",
                                 "a",
                                 "interval: 10s\n---\ninterval: 5s"})
    EXPECT_EQ(problems_of(line).empty(), false) << line;
}

TEST(Config, AcceptsTheEdgesOfEachRange) {
  for (const char* const line : {"interval: 50ms",
                                 "interval: 10min",
                                 "overhead: 0.01%",
                                 "overhead: 800%",
                                 "num_scans: 1",
                                 "num_scans: 16",
                                 "alpha: 1",
                                 "alpha: 1.0",
                                 "alpha: 0.00002",
                                 "promote_limit: 0B",
                                 "reserve: 64MiB",
                                 "reserve: auto",
                                 "tau1: 1.0",
                                 "gain_margin: 0",
                                 "tiers: [3, 1, 0]",
                                 "tiers: [[0], [1]]",
                                 "tiers: [[0, 1], 2, [3, 63]]",
                                 "tiers: [{nodes: [0], read: 1ns, write: 1ms, bandwidth: 1MiB/s}]",
                                 "tiers: [{nodes: 7, bandwidth: 16TiB/s}]",
                                 "attach: [1, 4194304]",
                                 "attach: [comm=a, 7+children, unit=b@*.service, cgroup=/]",
                                 "attach_poll: 100ms",
                                 "mode: manage",
                                 "move: sync",
                                 "copy_threads: 1",
                                 "calibration: none",
                                 "calibration: /etc/machine.yaml",
                                 "copy_threads: 16",
                                 "copy_threads: auto",
                                 "shared: yes",
                                 "split_huge: yes",
                                 "join_huge: yes",
                                 "flush: none",
                                 "seed: 18446744073709551615",
                                 "tau_step: 0.5",
                                 "ablation: []"})
    EXPECT_EQ(problems_of(line), Lines{}) << line;
}

TEST(Config, TiersAreNodesOrSetsOfThem) {
  const Key& key = *find_key("tiers");
  const auto text_of = [&](const std::string& value) {
    const ConfigOrProblems read = read_config_text("tiers: " + value, "f.yaml");
    EXPECT_EQ(read.problems, Lines{});
    std::string text = key.get(read.config);
    Config again;
    EXPECT_TRUE(key.set(again, text)) << text;
    EXPECT_EQ(again.tiers, read.config.tiers) << text;
    return text;
  };
  EXPECT_EQ(text_of("auto"), "auto");
  EXPECT_EQ(text_of("[1, 0]"), "1,0");
  EXPECT_EQ(text_of("[[0, 1], [2, 3]]"), "[[0,1],[2,3]]");
  EXPECT_EQ(text_of("[[0, 1]]"), "[[0,1]]") << "one tier, not two";
  EXPECT_EQ(text_of("[[1], [0]]"), "1,0");
  EXPECT_EQ(text_of("\n- [0, 1]\n- nodes: [2]\n  read: 270ns\n  bandwidth: 380GiB/s\n"),
            "[[0,1],{nodes: [2], read: 270ns, bandwidth: 380GiB/s}]");
  Config config;
  for (const char* const text : {"[[0, 1],[2,3]]", "[[0,1],[2, 3]]"}) {
    ASSERT_TRUE(key.set(config, text));
    EXPECT_EQ(key.get(config), "[[0,1],[2,3]]") << "as `hmkctl set` may give it";
  }
  ASSERT_TRUE(key.set(config, "[0, 1]"));
  EXPECT_EQ(key.get(config), "0,1");
}

TEST(Config, WhatIsWrongWithTiersIsSaidInALine) {
  const auto problem = [](const std::string& value) {
    const Lines lines = problems_of("tiers: " + value);
    return lines.size() == 1 ? lines[0] : "no single line";
  };
  EXPECT_EQ(problem("[[0, 1], [1, 2]]"),
            "f.yaml:1: tiers: node 1 is given twice; name each node in one tier");
  EXPECT_EQ(problem("[[0], []]"),
            "f.yaml:1: tiers: a tier has no node; give each at least one, as in [[0, 1], [2, 3]]");
  EXPECT_EQ(problem("[]"), "f.yaml:1: tiers: names no node; write auto, or nodes: [0, 1, 2, 3]");
  EXPECT_EQ(problem("[[64]]"), "f.yaml:1: tiers: '64' is no node; use 0 .. 63");
  EXPECT_EQ(
      problem("[{nodes: 0, latency: 9ns}]"),
      "f.yaml:1: tiers: 'latency' is no field of a tier; use nodes, read, write and bandwidth");
  Config config;
  EXPECT_EQ(find_key("tiers")->set(config, "[[0,1]").error().line(),
            "'[[0,1]' is not understood; write auto, [0, 1, 2, 3] or [[0, 1], [2, 3]]");
  EXPECT_FALSE(find_key("tiers")->set(config, std::string(100'000, '[')));
  EXPECT_TRUE(config.tiers.empty());
}

TEST(Config, AnAblationIsAListOrAWord) {
  const Key& key = *find_key("ablation");
  const auto text_of = [&](const std::string& line) {
    return key.get(read_config_text(line, "f.yaml").config);
  };
  EXPECT_EQ(text_of("ablation: [no-budget, fixed-regions]"), "fixed-regions,no-budget");
  EXPECT_EQ(text_of("ablation: random-samples"), "random-samples");
  EXPECT_EQ(text_of("ablation: none"), "none");
  for (const auto word : {"fixed-regions", "random-samples", "no-budget"}) {
    Config config;
    ASSERT_TRUE(key.set(config, word));
    EXPECT_EQ(key.get(config), word);
  }
}

TEST(Config, BrokenYamlIsOneProblemWithItsLine) {
  const Lines problems = problems_of("mode: manage\ninterval: \"10s\n");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].starts_with("f.yaml:")) << problems[0];
}

TEST(Config, AProblemIsOneLineWhateverBytesItQuotes) {
  for (const std::string text :
       {"\"a\\nb\\e[31m\": 1\n", "interval: \"1\\n2s\"\n", "mode[:3 m1\x1b"}) {
    const Lines problems = problems_of(text);
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_EQ(problems[0].find_first_of("\n\x1b"), std::string::npos) << problems[0];
  }
}

TEST(Config, HostileNestingIsAProblemAndNotACrash) {
  EXPECT_EQ(problems_of("attach: " + std::string(100'000, '[')).empty(), false);
  EXPECT_EQ(problems_of(std::string(100'000, '{')).empty(), false);
}

TEST(Config, ACommaAtTheStartIsRefusedAtOnce) {
  const Lines refused = {
      "f.yaml:1: holds more than one document; remove the '---' lines and what "
      "stands before the first key"};
  for (const char* text : {",", ",\n", ", mode: dry-run\n", "mode: dry-run\n---\nmode: dry-run\n"})
    EXPECT_EQ(problems_of(text), refused) << text;
  EXPECT_EQ(problems_of("---\nmode: dry-run\n"), Lines{});
}

TEST(Config, MissingFileSaysSo) {
  EXPECT_EQ(read_config_file("/nonexistent/hmkd.yaml").problems,
            Lines{"/nonexistent/hmkd.yaml: cannot be read; check the path and its permissions"});
}

TEST(Config, AFolderAddsToListsAndReplacesOtherKeys) {
  const test::TempFolder folder;
  const auto put = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text;
  };
  put("20-java.yaml",
      "classes: [{match: comm=java, overhead: 1%}]\nattach: comm=java\nmode: manage\n");
  put("10-redis.yaml",
      "classes: [{match: comm=redis-server, mode: track-only}]\nattach: [comm=redis-server]\n"
      "weights: [redis-server=3]\nmode: dry-run\n");
  put("30-none.yaml", "");
  put(".hidden.yaml", "mode: wrong\n");
  put("README", "mode: wrong\n");
  ConfigOrProblems base = read_config_text(
      "attach: [comm=mysqld]\nweights: [mysqld=2]\ngovernor: off\ninterval: 2s\n", "f.yaml");
  const ConfigOrProblems got = read_config_folder(folder / "", base);
  ASSERT_EQ(got.problems, Lines{});
  EXPECT_EQ(find_key("attach")->get(got.config), "comm=mysqld,comm=redis-server,comm=java");
  EXPECT_EQ(find_key("weights")->get(got.config), "mysqld=2,redis-server=3");
  ASSERT_EQ(got.config.classes.size(), 2u);
  EXPECT_EQ(got.config.classes[1].settings.front().first, "overhead");
  EXPECT_EQ(got.config.mode, Mode::manage) << "the last one counts";
  EXPECT_EQ(got.origins.at("mode").place, folder / "20-java.yaml" + ":3");
  EXPECT_EQ(got.config.interval, std::chrono::seconds(2));

  put("15-mysqld.yaml", "governor: [mysqld=on]\nattach: comm=\n");
  const ConfigOrProblems wrong = read_config_folder(folder / "", base);
  ASSERT_EQ(wrong.problems.size(), 1u);
  EXPECT_TRUE(wrong.problems[0].starts_with(folder / "15-mysqld.yaml" + ":2: "))
      << wrong.problems[0];
  EXPECT_EQ(find_key("governor")->get(wrong.config), "off,mysqld=on");
  EXPECT_EQ(read_config_folder("/nonexistent/conf.d", base).problems, Lines{});
}

TEST(Config, AKeyThatIsRefusedLeavesTheConfigAsItWas) {
  Config config;
  EXPECT_FALSE(find_key("interval")->set(config, "10"));
  EXPECT_EQ(config.interval, Config{}.interval);
}

TEST(Config, ReserveIsThePromoteLimitButAtMostA128thOfTheTier) {
  Config config;
  EXPECT_EQ(reserve_for(config, 100ull << 30), 200ull << 20);
  EXPECT_EQ(reserve_for(config, 25600ull << 20), 200ull << 20);
  EXPECT_EQ(reserve_for(config, 1ull << 30), 8ull << 20);
  config.reserve = 0;
  EXPECT_EQ(reserve_for(config, 1ull << 30), 0u);
}

Result<void> set_classes(Config& config, const std::string& text) {
  return find_key("classes")->set(config, text);
}

Candidate process(std::int32_t pid, const std::string& comm) {
  Candidate one;
  one.pid = pid;
  one.comm = comm;
  one.cgroup = "/system.slice/" + comm + ".service";
  return one;
}

TEST(Classes, GiveProcessesSettingsOfTheirOwn) {
  const ConfigOrProblems got = read_config_text(
      "overhead: 3%\nweights: [redis-server=7, java=2]\ncaps: [java/1=1GiB]\n"
      "classes:\n"
      "  - match: unit=redis*.service\n    mode: manage\n    weight: 4\n    caps: [1=8GiB, "
      "2=1GiB]\n"
      "  - {match: comm=java, overhead: 1%, governor: off, shared: yes, together: yes}\n"
      "  - {match: 4711, mode: dry-run}\n",
      "f.yaml");
  ASSERT_EQ(got.problems, Lines{});
  const Config& all = got.config;
  EXPECT_EQ(all.mode, Mode::track_only);

  const ProcessClass* own = class_of(all, process(4711, "redis-server"));
  ASSERT_NE(own, nullptr);
  const Config redis = config_of(all, *own);
  EXPECT_EQ(redis.own_class, "unit=redis*.service") << "the first that names it";
  EXPECT_EQ(redis.mode, Mode::manage);
  EXPECT_EQ(redis.overhead_bp, 300u) << "as for all";
  EXPECT_EQ(weight_of(redis, 4711, "redis-server"), 4u) << "the list of all says nothing of it";
  EXPECT_EQ(bound_of(redis.caps, 4711, "redis-server", 0), 8ull << 30);
  EXPECT_EQ(bound_of(redis.caps, 4711, "redis-server", 1), 1ull << 30);
  EXPECT_EQ(bound_of(redis.caps, 4711, "redis-server", 2), std::nullopt);

  own = class_of(all, process(12, "java"));
  ASSERT_NE(own, nullptr);
  const Config java = config_of(all, *own);
  EXPECT_EQ(java.overhead_bp, 100u);
  EXPECT_TRUE(java.is_together);
  EXPECT_FALSE(redis.is_together);
  EXPECT_TRUE(java.move_shared);
  EXPECT_FALSE(is_governed(java, 12, "java"));
  EXPECT_EQ(weight_of(java, 12, "java"), 2u);
  EXPECT_EQ(bound_of(java.caps, 12, "java", 0), 1ull << 30);

  EXPECT_EQ(class_of(all, process(12, "other")), nullptr);
  own = class_of(all, process(4711, "other"));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(config_of(all, *own).mode, Mode::dry_run);
}

TEST(Classes, AreWrittenAsTheyAreRead) {
  for (const char* const text :
       {"none", "[{match: comm=redis-server, mode: manage}]",
        "[{match: unit=postgresql@*.service, weight: 3, caps: [1=8GiB, 2=1GiB], shared: yes}, "
        "{match: \"cmdline=*a: [b] #c*\", overhead: 1%}]"}) {
    Config config, again;
    ASSERT_TRUE(set_classes(config, text)) << text;
    const std::string written = classes_text(config.classes);
    EXPECT_EQ(written.find('\n'), written.npos) << written;
    ASSERT_TRUE(set_classes(again, written)) << written;
    EXPECT_EQ(again.classes, config.classes) << written;
    EXPECT_EQ(read_config_text("classes: " + written, "f").config.classes, config.classes);
  }
}

TEST(Classes, WhatIsWrongIsToldAndChangesNothing) {
  Config config;
  ASSERT_TRUE(set_classes(config, "[{match: comm=a, mode: manage}]"));
  const auto before = config.classes;
  const auto told = [&](const std::string& text, const std::string& what) {
    const Result<void> done = set_classes(config, text);
    ASSERT_FALSE(done) << text;
    EXPECT_NE(done.error().line().find(what), std::string::npos) << done.error().line();
    EXPECT_EQ(config.classes, before);
  };
  told("comm=a", "is not understood");
  told("[comm=a]", "a class is no map");
  told("[{mode: manage}]", "a class names no processes; add 'match: unit=redis.service'");
  told("[{match: comm=a}]", "the class of 'comm=a' has no setting");
  told("[{match: comm=a, mod: manage}]", "did you mean 'mode'?");
  told("[{match: comm=a, name: \"a b\"}]", "'a b' is no name");
  told("[{match: comm=a, name: \"a\\0\"}]", "is no name");
  told("[{match: comm=a, name: " + std::string(129, 'a') + "}]", "is no name");
  told("[{match: comm=a, interval: 1s}]", "'interval' is nothing that a class can have");
  told("[{match: comm=a, mode: fast}]", "mode: 'fast' is no mode");
  told("[{match: comm=a, mode: manage, mode: dry-run}]", "given twice");
  told("[{match: comm=a, weight: 0}]", "use 1 .. 10000");
  told("[{match: comm=a, caps: [a/1=8GiB]}]", "1=4GiB");
  told("[{match: comm=a, caps: []}]", "names no tier");
  told("[{match: comm=a, governor: [off, b=on]}]", "use on or off");
  told("[{match: comm=a, mode: {a: b}}]", "mode has no single value");
  told("[{match: comm, mode: manage}]", "comm");
  told("[{match: not comm=a, mode: manage}]", "leave out 'not'");
  told("[{match: comm=a+children, mode: manage}]", "leave out 'not'");
  told("[{match: comm=a, mode: manage}, {match: comm=a, weight: 2}]", "is there twice");
}

}  // namespace
}  // namespace hmk
