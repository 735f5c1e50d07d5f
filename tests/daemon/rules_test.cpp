// SPDX-License-Identifier: MIT
#include "attach/rules.hpp"

#include <gtest/gtest.h>

#include "attach/find.hpp"
#include "tree.hpp"

namespace hmk {
namespace {

using Pids = std::vector<std::int32_t>;

Pids pids_of(const RuleByPid& wanted) {
  Pids pids;
  for (const auto& [pid, rule] : wanted) pids.push_back(pid);
  return pids;
}

TEST(AttachRules, ReadBackAsTheyWereWritten) {
  for (const char* const word :
       {"7", "7+children", "comm=redis-server", "cgroup=/user.slice", "unit=a@1.service+children"})
    EXPECT_EQ(to_string(*parse_rule(word)), word);
  for (const char* const word : {"", "+children", "0", "07", "4194305", "comm=", "comm=+children",
                                 "cgroup=user.slice", "name=x", "redis"})
    EXPECT_FALSE(parse_rule(word)) << word;
}

class FindWanted : public ::testing::Test {
 protected:
  void put(int pid, const std::string& comm, const std::string& cgroup, int parent = 1) {
    test::put_process(tree_, pid, comm, 0, 4194304, 'S', parent);
    tree_.put("proc/" + std::to_string(pid) + "/cgroup", cgroup);
  }
  Pids found(const std::string& word, const RuleByPid& managed = {}) {
    const auto rule = parse_rule(word);
    EXPECT_TRUE(rule) << word;
    return pids_of(find_wanted(list_processes(tree_.root(), true), {*rule}, managed));
  }
  test::Tree tree_;
};

TEST_F(FindWanted, ByNameGroupAndUnit) {
  put(10, "redis-server", "0::/system.slice/redis.service\n");
  put(11, "a-name-that-is-", "12:cpu:/x\n0::/system.slice/redis.service/worker\n");
  put(12, "redis) S 1 (", "0::/system.slice/redis.service-old\n");
  put(13, "postgres", "0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n");
  test::put_process(tree_, 14, "redis-server", 0, 0x00200000);  // a kernel thread
  test::put_process(tree_, 15, "redis-server", 0, 4194304, 'Z');
  tree_.put("proc/self/stat", "1 (redis-server) S 1\n");
  EXPECT_EQ(found("comm=redis-server"), Pids{10});
  EXPECT_EQ(found("comm=redis*"), (Pids{10, 12}));
  EXPECT_EQ(found("comm=a-name-that-is-too-long"), Pids{11}) << "the kernel cuts names";
  EXPECT_EQ(found("unit=redis.service"), (Pids{10, 11}));
  EXPECT_EQ(found("unit=postgresql@*.service"), Pids{13});
  EXPECT_EQ(found("cgroup=/system.slice"), (Pids{10, 11, 12, 13}));
  EXPECT_EQ(found("cgroup=/system.slice/redis.service/"), (Pids{10, 11}));
  EXPECT_EQ(found("cgroup=/system"), Pids{}) << "a path, not a prefix";
  EXPECT_EQ(found("cgroup=/"), (Pids{10, 11, 12, 13}));
  EXPECT_EQ(found("10"), Pids{}) << "a PID is looked at once, when the rule is taken over";
}

TEST_F(FindWanted, ChildrenOfThoseWhoseRuleSaysSo) {
  put(10, "sh", "");
  put(9, "child", "", 10);
  put(8, "grandchild", "", 9);
  put(7, "alien", "");
  EXPECT_EQ(found("comm=sh"), Pids{10});
  EXPECT_EQ(found("comm=sh+children"), (Pids{8, 9, 10}));
  EXPECT_EQ(found("comm=none", {{10, *parse_rule("10+children")}}), (Pids{8, 9}));
  EXPECT_EQ(found("comm=none", {{10, *parse_rule("10")}}), Pids{});
}

/// Its files are there and reading them fails, as reading a directory does.
TEST_F(FindWanted, NobodyWhoEndsBetweenOpenAndRead) {
  tree_.put("proc/77/stat/x", "");
  test::put_process(tree_, 78, "redis-server");
  EXPECT_EQ(found("comm=redis-server"), Pids{78});
}

TEST_F(FindWanted, NobodyWithoutProc) {
  EXPECT_TRUE(list_processes(tree_.root(), true).empty());
}

}  // namespace
}  // namespace hmk
