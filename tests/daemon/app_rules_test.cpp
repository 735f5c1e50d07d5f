// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

TEST_F(AppRulesTest, ManagesWhoIsThereAndWhoAppears) {
  start();
  EXPECT_EQ(managed(), json({kPid}));
  EXPECT_EQ(target("status")["rule"], "comm=redis-server");
  test::put_process(tree_, 12, "other");
  test::put_process(tree_, 13, "redis-server");
  app_->find_processes();
  EXPECT_EQ(managed(), json({13, kPid}));
  EXPECT_EQ(attached_, (std::vector<std::int32_t>{kPid, 13}));
}

TEST_F(AppRulesTest, WhoWasDetachedByHandIsLeftAloneUntilItsPidIsAnothers) {
  start();
  data("detach", {{"pid", kPid}});
  app_->find_processes();
  EXPECT_EQ(managed(), json::array());
  test::put_process(tree_, kPid, "redis-server", 0, 4194304, 'S', 1, 99);
  app_->find_processes();
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(AppToldTest, LooksAtWhoItIsToldOfAndAtAllWhenSomeWereLost) {
  start();
  for (const int pid : {12, 13, 14}) test::put_process(tree_, pid, "redis-server");
  tell({{13, 99}});
  EXPECT_EQ(managed(), json({13, kPid}));
  tell({{14}});
  EXPECT_EQ(managed(), json({13, 14, kPid})) << "again and again";
  tell(std::nullopt);
  EXPECT_EQ(managed(), json({12, 13, 14, kPid}));
}

TEST_F(AppToldTest, WhoWasDetachedByHandIsLeftAloneUntilItsPidIsAnothers) {
  start();
  data("detach", {{"pid", kPid}});
  tell({{kPid}});
  EXPECT_EQ(managed(), json::array());
  tell({{99}});
  test::put_process(tree_, kPid, "redis-server", 0, 4194304, 'S', 1, 99);
  tell({{kPid}});
  EXPECT_EQ(managed(), json({kPid}));
}

TEST_F(AppToldTest, WaitsForNobodyWithoutARuleThatNamesOthers) {
  config_.attach = {rule_of_pid(kPid)};
  test::put_process(tree_, 13, "redis-server");
  start();
  tell({{13}});
  EXPECT_TRUE(told_.take()->contains(13)) << "not taken";
  data("set", {{"key", "attach"}, {"value", "comm=redis-server"}});
  test::put_process(tree_, 14, "redis-server");
  tell({{14}});
  EXPECT_EQ(managed(), json({13, 14, kPid}));
}

TEST_F(AppRulesTest, WhoCannotBeAttachedIsTriedOnce) {
  attach_error_ = EPERM;
  start();
  attach_error_ = 0;
  app_->find_processes();
  EXPECT_EQ(managed(), json::array());
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(managed(), json({kPid})) << "by hand it is";
}

TEST_F(AppRulesTest, ChildrenFollowWhereAsked) {
  test::put_process(tree_, 20, "worker", 0, 4194304, 'S', kPid);
  start();
  EXPECT_EQ(managed(), json({kPid}));
  data("set", {{"key", "attach"}, {"value", "comm=redis-server+children"}});
  EXPECT_EQ(managed(), json({20, kPid}));
  test::put_process(tree_, 9, "worker", 0, 4194304, 'S', 20);
  app_->find_processes();
  EXPECT_EQ(managed(), json({9, 20, kPid})) << "and their children";
}

TEST_F(AppRulesTest, AChangedRuleLetsGoOfItsProcessesAndOfNobodyElse) {
  test::put_process(tree_, 12, "other");
  test::put_process(tree_, 13, "third");
  start();
  data("attach", {{"pid", 12}});
  data("set", {{"key", "attach"}, {"value", "comm=th?rd"}});
  EXPECT_EQ(managed(), json({12, 13}));
  data("set", {{"key", "attach"}, {"value", "13,comm=redis-*"}});
  EXPECT_EQ(managed(), json({12, 13, kPid}));
}

TEST_F(AppRulesTest, OneThatCanBeProfiledNoMoreIsLeftAlone) {
  start();
  ASSERT_EQ(managed(), json({kPid}));
  kernel_.tell(HMK_EVENT_STOPPED, HMK_STOPPED_NOTIFIER);
  run();
  EXPECT_EQ(managed(), json::array());
  app_->find_processes();
  EXPECT_EQ(managed(), json::array()) << "nor is it found again by its rule";
}

TEST_F(AppRulesTest, AnExecThatNoRuleNamesIsLetGo) {
  start();
  test::put_process(tree_, kPid, "other");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(managed(), json::array());
}

}  // namespace
}  // namespace hmk
