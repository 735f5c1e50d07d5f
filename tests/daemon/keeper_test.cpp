// SPDX-License-Identifier: MIT
//
// Which processes are managed: rules that wait for size, rules added by hand, failures that pass,
// and what an operator did over a restart.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app_fixture.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

using nlohmann::json;
using test::kPid;

constexpr std::uint64_t kPagesOf1GiB = 262144;

class Keeper : public test::AppRulesTest {
 protected:
  void resident(int pid, std::uint64_t pages) { test::put_resident(tree_, pid, pages); }
  json rule_of(const std::string& verb_name, const std::string& word, bool save = false) {
    return verb(verb_name, {{"rule", word}, {"save", save}});
  }
  std::string attach_key() { return find_key("attach")->get(app_->config()); }
};

TEST_F(Keeper, ARuleWithAMinSizeTakesAProcessThatReachesItAndNotAPageBefore) {
  rule("comm=redis-server+min-size=1GiB");
  resident(kPid, kPagesOf1GiB - 1);
  start();
  EXPECT_EQ(managed(), json::array());
  EXPECT_EQ(nr_tries_, 0) << "what is small costs no session";
  resident(kPid, kPagesOf1GiB);
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid}));
  resident(kPid, 1);
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid})) << "once taken it stays";
}

TEST_F(Keeper, OneThatShrinksByAnExecWaitsAgain) {
  rule("comm=redis-server+min-size=1GiB");
  resident(kPid, kPagesOf1GiB);
  start();
  resident(kPid, kPagesOf1GiB - 1);
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(managed(), json::array());
  resident(kPid, kPagesOf1GiB);
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Keeper, ADescendantThatGrowsAfterItsParentHasEndedIsTaken) {
  rule("comm=redis-server+children+min-size=1GiB");
  test::put_process(tree_, 50, "worker", 0, 4194304, 'S', kPid);
  resident(kPid, kPagesOf1GiB);
  resident(50, 1);
  start();
  EXPECT_EQ(managed(), json({kPid}));
  tree_.remove("proc/4711");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  test::put_process(tree_, 50, "worker", 0, 4194304, 'S', 1);  // of init now
  resident(50, kPagesOf1GiB);
  app_->find_processes();
  EXPECT_EQ(managed(), json({50}));
}

class ToldKeeper : public test::AppToldTest {};

TEST_F(ToldKeeper, WhatGrowsIsLookedAtThoughNobodyTellsOfIt) {
  rule("comm=redis-server+min-size=1GiB");
  config_.attach_poll = std::chrono::milliseconds(1);
  test::put_resident(tree_, kPid, kPagesOf1GiB - 1);
  start();
  tell({{kPid}});
  EXPECT_EQ(managed(), json::array());
  test::put_resident(tree_, kPid, kPagesOf1GiB);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (managed().empty() && std::chrono::steady_clock::now() < limit)
    loop_.run_one_for(std::chrono::milliseconds(5));
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Keeper, ARuleIsAddedToTheListInForceAndTakenAway) {
  test::put_process(tree_, 50, "postgres");
  start();
  const json added = rule_of("attach", "comm=postgres")["data"]["rule"];
  EXPECT_EQ(added["named"], 1);
  EXPECT_EQ(added["managed"], 1);
  EXPECT_EQ(added["note"], "");
  EXPECT_EQ(attach_key(), "comm=redis-server,comm=postgres");
  EXPECT_EQ(managed(), json({50, kPid}));
  EXPECT_EQ(rule_of("attach", "comm=postgres")["error"]["what"],
            "the rule 'comm=postgres' is in force already");
  EXPECT_EQ(rule_of("detach", "comm=postgre")["error"]["remedy"], "did you mean 'comm=postgres'?");
  EXPECT_EQ(rule_of("detach", "comm=postgres")["data"]["rule"]["named"], 1);
  EXPECT_EQ(attach_key(), "comm=redis-server");
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Keeper, ARuleThatNamesNobodyNowIsTakenAndSaysSo) {
  start();
  const json added = rule_of("attach", "exe=/usr/bin/none")["data"]["rule"];
  EXPECT_EQ(added["named"], 0);
  EXPECT_EQ(added["note"], "names no process now; those that come count");
  test::put_process(tree_, 50, "x");
  tree_.link("proc/50/exe", "/usr/bin/none");
  app_->find_processes();
  EXPECT_EQ(managed(), json({50, kPid}));
}

TEST_F(Keeper, ARuleSaysHowManyWaitForTheirSize) {
  test::put_process(tree_, 50, "postgres");
  resident(50, 1);
  start();
  const json added = rule_of("attach", "comm=postgres+min-size=1GiB")["data"]["rule"];
  EXPECT_EQ(added["named"], 1);
  EXPECT_EQ(added["managed"], 0);
  EXPECT_EQ(added["waiting"], 1);
}

TEST_F(Keeper, ANotLetsGoOfWhatARuleHasTakenAndOfNothingAttachedByHand) {
  test::put_process(tree_, 50, "redis-server");
  test::put_process(tree_, 51, "hand");
  tree_.link("proc/50/exe", "/opt/redis");
  tree_.link("proc/51/exe", "/opt/redis");
  start();
  data("attach", {{"pid", 51}});
  EXPECT_EQ(rule_of("attach", "not exe=/opt/*")["ok"], true);
  EXPECT_EQ(managed(), json({51, kPid}));
  EXPECT_EQ(rule_of("detach", "not exe=/opt/*")["ok"], true);
  EXPECT_EQ(managed(), json({50, 51, kPid}));
}

TEST_F(Keeper, ARuleIsSavedWhereAsked) {
  saved_ = tree_.root() / "saved.yaml";
  start();
  EXPECT_EQ(rule_of("attach", "not user=0", true)["data"]["rule"]["saved"], saved_.string());
  EXPECT_NE(read_text(saved_)->find("attach: [comm=redis-server, \"not user=0\"]"),
            std::string::npos)
      << *read_text(saved_);
}

TEST_F(Keeper, ReadersMayNotChangeRules) {
  start();
  for (const char* const name : {"attach", "detach"})
    EXPECT_EQ(verb(name, {{"rule", "comm=redis-server"}}, false)["error"]["what"],
              "'" + std::string(name) + "' changes hmkd and this user may only read");
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Keeper, WhatIsDetachedByHandStaysSoWhenAnotherRuleIsAdded) {
  start();
  data("detach", {{"pid", kPid}});
  EXPECT_EQ(rule_of("attach", "comm=other")["ok"], true);
  EXPECT_EQ(managed(), json::array());
}

/// 2.11 of the review: memory and descriptors are short for a moment only.
TEST_F(Keeper, AFailureThatPassesIsTriedAgain) {
  for (const int err : {ENOMEM, EMFILE, ENFILE, EAGAIN}) {
    attach_error_ = err;
    start();
    EXPECT_EQ(managed(), json::array());
    attach_error_ = 0;
    app_->find_processes();
    EXPECT_EQ(managed(), json({kPid})) << err;
    app_.reset();
  }
}

TEST_F(Keeper, APidOfTheConfigIsTriedAgainToo) {
  config_.attach = {rule_of_pid(kPid)};
  attach_error_ = ENOMEM;
  start();
  attach_error_ = 0;
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid}));
}

/// 2.9 of the review.
TEST_F(Keeper, AnExceptionInAStepCostsItsTargetAndNotHmkd) {
  test::put_process(tree_, 50, "redis-server");
  start();
  kernel_.throw_at_events = true;
  kernel_.tell(HMK_EVENT_INTERVAL, 1);
  EXPECT_NO_THROW(run());
  app_->find_processes();
  EXPECT_EQ(managed(), json({50})) << "it is not taken again to fail again";
}

/// 2.8 of the review.
TEST_F(Keeper, ATargetThatHasJustEndedDoesNotKeepAValueFromTheOthers) {
  test::put_process(tree_, 50, "redis-server");
  start();
  others_[50].refuse_set = ESRCH;
  EXPECT_EQ(verb("set", {{"key", "overhead"}, {"value", "1%"}})["ok"], true);
  EXPECT_EQ(kernel_.params.budget_bp, 100u);
  others_[50].refuse_set = EPERM;
  EXPECT_EQ(verb("set", {{"key", "overhead"}, {"value", "2%"}})["error"]["what"],
            "PID 50 (redis-server): hmk refused SET");
  EXPECT_EQ(kernel_.params.budget_bp, 100u);
}

/// 2.14 of the review: a line of status for each event, with each target in it.
TEST_F(Keeper, TheStatusLineIsSentOnceASecondHoweverManyEventsThereAre) {
  const auto path = (tree_.root() / "notify").string();
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  for (int pid = 100; pid < 120; ++pid) test::put_process(tree_, pid, "redis-server");
  start();
  for (std::uint64_t seq = 1; seq <= 50; ++seq) {
    kernel_.publish(interval(seq, {region(0, 3, 3.0)}));
    run();
  }
  ::unsetenv("NOTIFY_SOCKET");
  int nr_status = 0;
  char text[8192];
  std::size_t longest = 0;
  for (ssize_t got = 0; (got = ::recv(socket.get(), text, sizeof(text), 0)) > 0;)
    if (std::string_view(text, static_cast<std::size_t>(got)).starts_with("STATUS=")) {
      ++nr_status;
      longest = std::max(longest, static_cast<std::size_t>(got));
    }
  EXPECT_GE(nr_status, 1);
  EXPECT_LE(nr_status, 2);
  EXPECT_LT(longest, 1000u);
}

class Restarting : public Keeper {
 protected:
  void SetUp() override {
    Keeper::SetUp();
    keep_state();
    config_.attach.clear();
  }
};

TEST_F(Restarting, WhatWasAttachedByHandIsManagedAgain) {
  start();
  data("attach", {{"pid", kPid}});
  restart();
  EXPECT_EQ(managed(), json({kPid}));
  data("detach", {{"pid", kPid}});
  restart();
  EXPECT_EQ(managed(), json::array());
  struct stat st {};
  ASSERT_EQ(::stat(state_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(Restarting, WhatARuleNamesByNowIsManagedByTheRule) {
  start();
  data("attach", {{"pid", kPid}});
  rule("comm=redis-server");
  restart();
  EXPECT_EQ(app_->rule_of(kPid), "comm=redis-server");
}

TEST_F(Restarting, AReusedPidIsNeverTakenAndAGoneOneIsDropped) {
  test::put_process(tree_, 50, "x");
  start();
  data("attach", {{"pid", kPid}});
  data("attach", {{"pid", 50}});
  tree_.remove("proc/50");
  test::put_process(tree_, kPid, "another", 0, 4194304, 'S', 1, 23);
  restart();
  EXPECT_EQ(managed(), json::array());
}

TEST_F(Restarting, AfterAnotherBootNothingButThePauseIsKept) {
  start();
  data("attach", {{"pid", kPid}});
  data("pause");
  tree_.put("proc/sys/kernel/random/boot_id", "boot-2\n");
  restart();
  EXPECT_EQ(managed(), json::array()) << "the same PID at the same tick of another boot";
  EXPECT_TRUE(app_->is_paused());
}

TEST_F(Restarting, WhatWasDetachedByHandIsLeftAlone) {
  rule("comm=redis-server");
  start();
  data("detach", {{"pid", kPid}});
  restart();
  EXPECT_EQ(managed(), json::array());
  config_.attach = {rule_of_pid(kPid)};
  restart();
  EXPECT_EQ(managed(), json::array()) << "also where the config names its PID";
  data("attach", {{"pid", kPid}});
  restart();
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Restarting, APauseIsKeptAndWhatIsAttachedMeanwhileWaits) {
  start();
  data("attach", {{"pid", kPid}});
  data("pause");
  kernel_.runs = true;
  restart();
  EXPECT_TRUE(app_->is_paused());
  EXPECT_FALSE(kernel_.runs);
  data("resume");
  restart();
  EXPECT_FALSE(app_->is_paused());
}

TEST_F(Restarting, WhatATrialHasAttachedIsNotKept) {
  start();
  ASSERT_TRUE(app_->hold(1, kPid, Mode::track_only));
  data("pause");
  data("resume");
  restart();
  EXPECT_EQ(managed(), json::array());
}

TEST_F(Restarting, AFileThatIsNotOursIsSetAsideAndHmkdStarts) {
  const std::string good = state_text({true, {{kPid, 22}}, {}}, "boot-1");
  std::vector<std::string> texts{"",
                                 "{",
                                 "[]",
                                 good.substr(0, good.size() / 2),
                                 R"({"format": "hmkd-state", "version": 2})",
                                 std::string(good).replace(good.find("22"), 2, "-2"),
                                 std::string(good).replace(good.find("4711"), 4, "0"),
                                 std::string(100000, '[')};
  for (const std::string& text : texts) {
    tree_.put("state.json", text);
    restart();
    EXPECT_FALSE(app_->is_paused()) << text.substr(0, 80);
    EXPECT_EQ(managed(), json::array());
    EXPECT_EQ(read_text(state_.string() + ".bad"), text);
    EXPECT_FALSE(std::filesystem::exists(state_));
  }
  tree_.put("state.json", good);
  ASSERT_EQ(::chmod(state_.c_str(), 0620), 0);
  restart();
  EXPECT_FALSE(app_->is_paused()) << "others may have written it";
  tree_.put("real", good);
  tree_.link("state.json", "real");
  restart();
  EXPECT_FALSE(app_->is_paused()) << "a link";
  tree_.remove("state.json");
  tree_.put("state.json", good);
  ASSERT_EQ(::chmod(state_.c_str(), 0600), 0);
  restart();
  EXPECT_TRUE(app_->is_paused()) << "the good one is good";
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(Restarting, WhereItCannotBeKeptTheVerbIsDoneAllTheSame) {
  state_ = tree_.root() / "none/state.json";
  start();
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(managed(), json({kPid}));
}

}  // namespace
}  // namespace hmk
