// SPDX-License-Identifier: MIT
//
// The configuration in force: shown, written and read back, saved over a restart.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "app_fixture.hpp"
#include "config/classes.hpp"
#include "config/saved.hpp"
#include "config/write.hpp"
#include "util/file.hpp"
#include "verbs.hpp"

namespace hmk {
namespace {

using Live = test::AppTest;
using nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 15> kOddValues{{
    {"interval", "1234567us"},
    {"overhead", "0.01%"},
    {"alpha", "0.33333"},
    {"tau1", "15.99998"},
    {"max_region", "2097153B"},
    {"ablation", "no-budget,fixed-regions"},
    {"governor", "off,a b=on,4711=off"},
    {"caps", "a: b/1=4GiB,#c/2=1B,\"'/3=7KiB"},
    {"weights", "- x=3,\x01\xc2\x85\xe2\x80\xa8=4"},
    {"bandwidth", "1/3=1MiB,64/1=1TiB"},
    {"pins", "a: b/[heap]=1,#c//x '\"/y (deleted)=2,4711/0x1000-0x2000=3"},
    {"attach", "comm=*,unit=a@1.service+children,unit=re?is-?,4711"},
    {"metrics", "[::1]:9464"},
    {"socket", "/tmp/a: b #c\xad\"\\\x01"},
    {"admin_group", "yes"},
}};

TEST(ConfigText, ReadsBackAsItWasWritten) {
  Config config;
  for (const auto& [key, value] : kOddValues) ASSERT_TRUE(find_key(key)->set(config, value)) << key;
  const std::string text = to_yaml(config, {{"mode", {Origin::Kind::set, "x\ny: 1"}}}, key_names());
  const ConfigOrProblems again = read_config_text(text, "f");
  EXPECT_EQ(again.problems, std::vector<std::string>{}) << text;
  for (const Key& key : keys()) EXPECT_EQ(key.get(again.config), key.get(config)) << key.name;
}

TEST(ConfigText, EveryWordThatIsCompletedIsAValue) {
  std::size_t nr_words = 0;
  for (const Key& key : keys())
    for (const std::string_view word : words_of(key.name)) {
      Config config;
      EXPECT_TRUE(key.set(config, word)) << key.name << ": " << word;
      EXPECT_NE(key.help.find(word), std::string_view::npos) << key.name << ": " << word;
      ++nr_words;
    }
  EXPECT_GT(nr_words, 40u);
}

TEST(ConfigText, ALaterTextLeavesWhatItDoesNotName) {
  ConfigOrProblems got = read_config_text("interval: 1s\nmode: manage\n", "a");
  got = read_config_text("# saved\n\nmode: dry-run\n", "b", std::move(got), Origin::Kind::saved);
  EXPECT_EQ(got.problems, std::vector<std::string>{});
  EXPECT_EQ(got.config.mode, Mode::dry_run);
  EXPECT_EQ(got.config.interval, std::chrono::seconds(1));
  EXPECT_EQ(got.origins["interval"].place, "a:1");
  EXPECT_EQ(got.origins["mode"].place, "b:3");
  EXPECT_EQ(got.origins["mode"].kind, Origin::Kind::saved);
}

TEST_F(Live, GetTellsTheValueAndWhereItComesFrom) {
  config_.buckets = 32;
  origins_["buckets"] = {Origin::Kind::file, "hmkd.yaml:7"};
  start();
  data("set", {{"key", "interval"}, {"value", "500ms"}});
  const json values =
      data("get", {{"keys", {"mode", "buckets", "interval", "socket_group"}}})["values"];
  const auto row = [&](std::size_t i) {
    return json({values[i]["key"], values[i]["value"], values[i]["source"], values[i]["place"]});
  };
  EXPECT_EQ(row(0), json::parse(R"(["mode", "track-only", "default", null])"));
  EXPECT_EQ(row(1), json::parse(R"(["buckets", "32", "file", "hmkd.yaml:7"])"));
  EXPECT_EQ(row(2), json::parse(R"(["interval", "500ms", "set", null])"));
  EXPECT_EQ(values[3]["takes_effect"], "at restart");
  EXPECT_EQ(values[1]["default"], "64");
  EXPECT_EQ(data("get")["values"].size(), key_names().size());
  EXPECT_EQ(verb("get", {{"keys", {"bucket"}}})["error"]["remedy"], "did you mean 'buckets'?");
  EXPECT_EQ(verb("get", {{"keys", "mode"}})["error"]["kind"], "usage");
}

TEST_F(Live, ConfigIsAFileThatGivesTheSameValues) {
  start();
  data("set", {{"key", "governor"}, {"value", "off,x=on"}});
  const ConfigOrProblems all = read_config_text(data("config")["yaml"], "f");
  EXPECT_EQ(all.problems, std::vector<std::string>{});
  for (const Key& key : keys()) EXPECT_EQ(key.get(all.config), key.get(app_->config())) << key.name;

  const json changed = data("config", {{"changed", true}});
  const ConfigOrProblems some = read_config_text(changed["yaml"], "f");
  for (const Key& key : keys())
    EXPECT_EQ(key.get(some.config), key.get(app_->config())) << key.name;
  EXPECT_EQ(changed["values"].size(), 4u)
      << "governor, calibration, attach and socket: " << changed["values"];
}

class Saving : public Live {
 protected:
  void SetUp() override {
    Live::SetUp();
    saved_ = tree_.root() / "saved.yaml";
  }
  /// What a start would read.
  ConfigOrProblems at_restart() { return read_saved(saved_, file_); }
  json set(const std::string& key, const std::string& value) {
    return verb("set", {{"key", key}, {"value", value}, {"save", true}});
  }
  json unsave(const std::string& key) { return verb("set", {{"key", key}, {"unsave", true}}); }
  std::size_t nr_files() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(saved_.parent_path()), {}));
  }
};

TEST_F(Saving, WhatIsSavedCountsAtTheNextStartAndWhatIsNotDoesNot) {
  start();
  const std::size_t before = nr_files();
  EXPECT_EQ(set("mode", "manage")["data"]["changed"]["saved"], saved_.string());
  EXPECT_TRUE(data("set", {{"key", "buckets"}, {"value", "32"}})["changed"]["saved"].is_null());
  EXPECT_EQ(set("overhead", "1%")["ok"], true);
  EXPECT_EQ(app_->config().mode, Mode::manage);
  const ConfigOrProblems later = at_restart();
  EXPECT_EQ(later.config.mode, Mode::manage);
  EXPECT_EQ(later.config.overhead_bp, 100u);
  EXPECT_EQ(later.config.buckets, 64u);
  EXPECT_EQ(later.origins.at("mode").kind, Origin::Kind::saved);
  EXPECT_EQ(app_->origins().at("mode").kind, Origin::Kind::saved);
  struct stat st {};
  ASSERT_EQ(::stat(saved_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0640u);
  EXPECT_EQ(nr_files(), before + 1) << "nothing else is left behind";
}

TEST_F(Saving, AReloadKeepsWhatIsSaved) {
  start();
  EXPECT_EQ(set("mode", "manage")["ok"], true);
  data("set", {{"key", "mode"}, {"value", "dry-run"}});
  data("reload");
  EXPECT_EQ(app_->config().mode, Mode::manage);
  EXPECT_EQ(app_->origins().at("mode").place, saved_.string() + ":3");
}

TEST_F(Saving, WhatIsTakenBackIsTheFilesAgain) {
  file_ = read_config_text("mode: dry-run\n", "hmkd.yaml");
  start();
  EXPECT_EQ(set("mode", "manage")["ok"], true);
  EXPECT_EQ(set("buckets", "32")["ok"], true);
  const json changed = unsave("mode")["data"]["changed"];
  EXPECT_EQ(changed["old"], "manage");
  EXPECT_EQ(changed["value"], "dry-run");
  EXPECT_EQ(app_->config().mode, Mode::dry_run);
  EXPECT_EQ(app_->origins().at("mode").place, "hmkd.yaml:1");
  EXPECT_EQ(at_restart().config.mode, Mode::dry_run);
  EXPECT_EQ(at_restart().config.buckets, 32u) << "the other one stays";
  EXPECT_EQ(unsave("mode")["error"]["what"], "no value of key 'mode' is saved");
  EXPECT_EQ(unsave("buckets")["ok"], true);
  EXPECT_EQ(app_->config().buckets, 64u);
  EXPECT_TRUE(at_restart().problems.empty()) << "a file of comments alone";
}

TEST_F(Saving, TheCommandLineCountsBeforeWhatIsSaved) {
  apply_flags_ = [](ConfigOrProblems& read) { read.config.mode = Mode::track_only; };
  start();
  EXPECT_EQ(set("mode", "manage")["ok"], true);
  data("reload");
  EXPECT_EQ(app_->config().mode, Mode::track_only);
}

TEST_F(Saving, AValueThatIsNotValidChangesNothing) {
  start();
  EXPECT_EQ(set("interval", "10")["ok"], false);
  EXPECT_EQ(set("intervall", "10s")["ok"], false);
  EXPECT_EQ(set("socket", "/x")["ok"], false) << "read at start only";
  EXPECT_FALSE(std::filesystem::exists(saved_));
}

TEST_F(Saving, WhatTheModuleRefusesIsNotSaved) {
  start();
  const std::size_t before = nr_files();
  kernel_.refuse_set = EPERM;
  EXPECT_EQ(set("overhead", "1%")["ok"], false);
  EXPECT_EQ(nr_files(), before);
  EXPECT_EQ(app_->config().overhead_bp, 500u);
}

TEST_F(Saving, WithoutAFolderItSaysSoAndChangesNothing) {
  saved_ = "";
  start();
  EXPECT_EQ(set("mode", "manage")["error"]["what"], "this hmkd has no folder to keep it in");
  saved_ = tree_.root() / "none/saved.yaml";
  start();
  EXPECT_EQ(set("mode", "manage")["error"]["what"],
            saved_.string() + ": cannot be written: No such file or directory");
  EXPECT_EQ(app_->config().mode, Mode::track_only);
}

/// RLIMIT_FSIZE stands for a disk that is full: write(2) fails in the middle.
TEST_F(Saving, AFullDiskChangesNothing) {
  start();
  EXPECT_EQ(set("mode", "manage")["ok"], true);
  const std::string before = *read_text(saved_);
  const std::size_t files = nr_files();
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() / 2, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const json refused = set("mode", "dry-run"), refused_back = unsave("mode");
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused["error"]["what"], saved_.string() + ": cannot be written: File too large");
  EXPECT_EQ(refused_back["ok"], false);
  EXPECT_EQ(app_->config().mode, Mode::manage);
  EXPECT_EQ(read_text(saved_), before);
  EXPECT_EQ(nr_files(), files);
}

TEST_F(Saving, WhatCannotTakeItsNameIsTakenBackFromTheModule) {
  start();
  kernel_.when_set = [this] { tree_.put("saved.yaml/x", ""); };  // a folder in its place
  EXPECT_EQ(set("overhead", "1%")["error"]["what"],
            saved_.string() + ": cannot be written: Is a directory");
  EXPECT_EQ(kernel_.params.budget_bp, 500u);
  EXPECT_EQ(app_->config().overhead_bp, 500u);
  EXPECT_EQ(set("overhead", "1%")["error"]["what"],
            saved_.string() + ": cannot be read; check that it is a file of hmkd's own user");
}

TEST_F(Saving, AFileWithAProblemIsNotWrittenOver) {
  tree_.put("saved.yaml", "mode: manage\nintervall: 1s\n");
  start();
  EXPECT_EQ(set("buckets", "32")["error"]["what"],
            saved_.string() + ":2: intervall: unknown key; did you mean 'interval'?");
  EXPECT_EQ(read_text(saved_), "mode: manage\nintervall: 1s\n");
}

TEST_F(Saving, ReadersMayNeitherSaveNorTakeBackButSee) {
  start();
  for (const char* const how : {"save", "unsave"})
    EXPECT_EQ(
        verb("set", {{"key", "mode"}, {"value", "manage"}, {how, true}}, false)["error"]["what"],
        "'set' changes hmkd and this user may only read");
  EXPECT_EQ(verb("get", json::object(), false)["ok"], true);
  EXPECT_EQ(verb("config", json::object(), false)["ok"], true);
}

class ClassesTest : public AppRulesTest {
 protected:
  void SetUp() override {
    AppRulesTest::SetUp();
    test::put_process(tree_, 12, "java");
    config_.attach.push_back(*parse_rule("comm=java"));
    config_.classes = *parse_classes("[{match: comm=java, mode: manage, overhead: 1%}]");
  }
  json row(std::int32_t pid) {
    const json status = data("status");
    for (const json& row : status["targets"])
      if (row["pid"] == pid) return row;
    return {};
  }
};

TEST_F(ClassesTest, CountForItsProcessesAndForNoOther) {
  start();
  EXPECT_EQ(kernel_.params.budget_bp, 500u);
  EXPECT_EQ(others_[12].params.budget_bp, 100u);
  EXPECT_EQ(row(kPid)["mode"], "track-only");
  EXPECT_TRUE(row(kPid)["class"].is_null());
  EXPECT_EQ(row(12)["mode"], "manage");
  EXPECT_EQ(row(12)["class"], "comm=java");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  others_[12].publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_EQ(others_[12].tickets.size(), 1u);
}

TEST_F(ClassesTest, HaveTheNameTheyAreGiven) {
  config_.classes = *parse_classes("[{match: comm=java, name: shop/cart-0}]");
  start();
  EXPECT_EQ(row(12)["class"], "shop/cart-0");
  EXPECT_TRUE(row(kPid)["class"].is_null());
  const std::string page = run_page(*app_, "/metrics").body;
  EXPECT_NE(page.find(R"(hmk_intervals_total{class="shop/cart-0",rule="comm=java"} 0)"), page.npos)
      << page;
}

TEST_F(ClassesTest, CountersStayWhenTheirProcessEndsAndGaugesGo) {
  start();
  others_[12].publish(interval(1, {region(0, 3, 3.0)}));
  run();
  const std::string kIntervals = R"(hmk_intervals_total{class="comm=java",rule="comm=java"} 1)";
  const std::string kBudget = R"(hmk_overhead_budget_ratio{class="comm=java",rule="comm=java"})";
  const std::string before = run_page(*app_, "/metrics").body;
  EXPECT_NE(before.find(kIntervals), before.npos) << before;
  EXPECT_NE(before.find(kBudget), before.npos);
  tree_.remove("proc/12");
  others_[12].tell(HMK_EVENT_GONE, 0);
  run();
  ASSERT_EQ(app_->find(12), nullptr);
  const std::string after = run_page(*app_, "/metrics").body;
  EXPECT_NE(after.find(kIntervals), after.npos) << after;
  EXPECT_EQ(after.find(kBudget), after.npos) << after;
}

TEST_F(ClassesTest, FollowTheConfigLive) {
  start();
  kernel_.params = others_[12].params = {};
  data("set", {{"key", "overhead"}, {"value", "2%"}});
  EXPECT_EQ(kernel_.params.budget_bp, 200u);
  EXPECT_EQ(others_[12].params.mask, 0u) << "its class says otherwise";
  data("set", {{"key", "classes"}, {"value", "[{match: comm=redis-server, overhead: 3%}]"}});
  EXPECT_EQ(kernel_.params.budget_bp, 300u);
  EXPECT_EQ(others_[12].params.budget_bp, 200u) << "as for all";
  EXPECT_EQ(row(12)["mode"], "track-only");
  EXPECT_EQ(row(kPid)["class"], "comm=redis-server");
}

TEST_F(ClassesTest, WhatTheModuleRefusesForOneIsTakenBackForAll) {
  start();
  others_[12].refuse_set = EINVAL;
  const json reply = verb(
      "set",
      {{"key", "classes"},
       {"value", "[{match: comm=redis-server, overhead: 3%}, {match: comm=java, dense: no}]"}});
  EXPECT_EQ(reply["ok"], false);
  EXPECT_EQ(kernel_.params.budget_bp, 500u);
  EXPECT_EQ(row(12)["class"], "comm=java");
  EXPECT_EQ(row(12)["mode"], "manage");
}

}  // namespace
}  // namespace hmk
