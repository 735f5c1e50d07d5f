// SPDX-License-Identifier: MIT
#include "attach/rules.hpp"

#include <gtest/gtest.h>

#include "attach/find.hpp"
#include "tree.hpp"
#include "util/glob.hpp"

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
  for (const char* const word :
       {"not user=0", "exe=/usr/bin/c++", "cmdline=*kafka.Kafka*+children+min-size=1GiB",
        "comm=c++", "not exe=*/java", "user=4294967294", "comm=a b"})
    EXPECT_EQ(to_string(*parse_rule(word)), word);
  EXPECT_EQ(to_string(*parse_rule("comm=x+min-size=1024MiB+children")),
            "comm=x+children+min-size=1GiB");
  for (const char* const word : {"", "+children", "0", "07", "4194305", "comm=", "comm=+children",
                                 "cgroup=user.slice", "name=x", "redis"})
    EXPECT_FALSE(parse_rule(word)) << word;
}

TEST(AttachRules, AWordThatIsNoneSaysWhatWasMeant) {
  const auto line = [](const char* word) {
    const auto rule = parse_rule(word);
    return rule ? "taken" : rule.error().line();
  };
  EXPECT_EQ(line("com=redis"), "'com=redis' names no process; did you mean 'comm=redis'?");
  EXPECT_EQ(line("not com=redis"), "'not com=redis' names no process; did you mean 'comm=redis'?");
  EXPECT_EQ(line("redis"), "'redis' names no process; did you mean 'comm=redis'?");
  EXPECT_EQ(line("/usr/bin/x"), "'/usr/bin/x' names no process; did you mean 'exe=/usr/bin/x'?");
  EXPECT_EQ(line("comm=x+chidren"),
            "'comm=x+chidren' ends with an unknown suffix; did you mean '+children'?");
  EXPECT_EQ(line("comm=x+minsize=1GiB"),
            "'comm=x+minsize=1GiB' ends with an unknown suffix; did you mean '+min-size'?");
  EXPECT_EQ(line("comm=x+min-size=1"),
            "'1' is a number without unit; write for example 200MiB or 1GiB");
  EXPECT_EQ(line("comm=x+min-size=1B"), "taken");
  EXPECT_EQ(line("comm=x+min-size=16TiB"), "taken");
  for (const char* const size : {"comm=x+min-size=0B", "comm=x+min-size=17592186044417B"})
    EXPECT_EQ(line(size), "'" + std::string(size) + "' has no possible size; use 1B .. 16TiB");
  EXPECT_EQ(line("not 4711"),
            "'not 4711' excludes by PID or with a suffix; leave the suffix out; to leave one "
            "process, use 'hmkctl detach PID'");
  EXPECT_NE(line("not comm=x+children"), "taken");
  EXPECT_NE(line("4711+min-size=1GiB"), "taken");
  EXPECT_EQ(line("exe=java"), "'exe=java' is no path of a program; begin it with / or *");
  for (const char* const word : {"cmdline=*a,b*", "comm=a\x1b[2J", "comm=a\nb"})
    EXPECT_NE(line(word).find("write ? for that character"), std::string::npos) << word;
}

TEST(Glob, StarsAndQuestionMarksStandForOthers) {
  for (const auto& [pattern, text] : {std::pair{"", ""},
                                      {"*", ""},
                                      {"**", "a"},
                                      {"a*b*c", "aXbXbYc"},
                                      {"?", "a"},
                                      {"*?", "ab"},
                                      {"*.service", "a.service.service"},
                                      {"a*", "a"},
                                      {"[a]", "[a]"}})
    EXPECT_TRUE(is_like(pattern, text)) << pattern << " " << text;
  for (const auto& [pattern, text] : {std::pair{"", "a"},
                                      {"?", ""},
                                      {"a*b", "a"},
                                      {"a", "ab"},
                                      {"*b", "ba"},
                                      {"[a]", "a"},
                                      {"a*b*c", "acb"}})
    EXPECT_FALSE(is_like(pattern, text)) << pattern << " " << text;
  // By trying every star anew this would take longer than the universe has.
  const std::string many(4096, 'a');
  EXPECT_FALSE(is_like("*a*a*a*a*a*a*a*a*a*a*a*a*b", many));
}

constexpr Needs kAll{true, true, true, true, true};

class FindWanted : public ::testing::Test {
 protected:
  void put(int pid, const std::string& comm, const std::string& cgroup, int parent = 1) {
    test::put_process(tree_, pid, comm, 0, 4194304, 'S', parent);
    tree_.put("proc/" + std::to_string(pid) + "/cgroup", cgroup);
  }
  Pids found(const std::string& word, const RuleByPid& managed = {}) {
    const auto rule = parse_rule(word);
    EXPECT_TRUE(rule) << word;
    return pids_of(find_wanted(list_processes(tree_.root(), kAll), {*rule}, managed));
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

TEST_F(FindWanted, ByProgramCommandLineAndUser) {
  put(10, "java", "");
  put(11, "java", "");
  put(12, "java", "");
  tree_.link("proc/10/exe", "/usr/lib/jvm/bin/java");
  tree_.link("proc/11/exe", "/usr/lib/jvm/bin/java (deleted)");
  tree_.put("proc/10/cmdline", std::string("java\0-Xmx4g\0kafka.Kafka\0", 24));
  tree_.put("proc/11/cmdline", "java " + std::string(4096, 'x') + " kafka.Kafka");
  tree_.put("proc/10/status", "Name:\tjava\nUid:\t0\t1000\t1000\t1000\n");
  tree_.put("proc/11/status", "Name:\tjava\nUid:\t1000\t0\t0\t0\n");
  EXPECT_EQ(found("exe=/usr/lib/jvm/bin/java"), (Pids{10, 11})) << "replaced on disk, too";
  EXPECT_EQ(found("exe=*/java"), (Pids{10, 11}));
  EXPECT_EQ(found("exe=*"), (Pids{10, 11})) << "of 12 it is not known";
  EXPECT_EQ(found("cmdline=java -Xmx4g kafka.Kafka"), Pids{10});
  EXPECT_EQ(found("cmdline=*kafka.Kafka"), Pids{10}) << "4 KiB are read of a line";
  EXPECT_EQ(found("user=1000"), Pids{10}) << "the effective one";
  EXPECT_EQ(found("user=root"), Pids{11});
  EXPECT_EQ(found("user=nobody-of-this-name"), Pids{});
}

TEST_F(FindWanted, NobodyWhomANotNames) {
  put(10, "sh", "0::/system.slice/a.service\n");
  put(11, "child", "0::/system.slice/b.service\n", 10);
  put(12, "sh", "0::/system.slice/b.service\n");
  const auto wanted = [&](const std::vector<AttachRule>& rules) {
    return pids_of(find_wanted(list_processes(tree_.root(), kAll), rules, {}));
  };
  const AttachRule sh = *parse_rule("comm=sh+children"), no = *parse_rule("not unit=b.service");
  EXPECT_EQ(wanted({sh}), (Pids{10, 11, 12}));
  EXPECT_EQ(wanted({sh, no}), Pids{10}) << "a descendant neither";
  EXPECT_EQ(wanted({no, sh}), Pids{10}) << "whatever the order";
  EXPECT_EQ(wanted({no}), Pids{}) << "alone it names nobody";
}

/// Its files are there and reading them fails, as reading a directory does.
TEST_F(FindWanted, NobodyWhoEndsBetweenOpenAndRead) {
  tree_.put("proc/77/stat/x", "");
  test::put_process(tree_, 78, "redis-server");
  EXPECT_EQ(found("comm=redis-server"), Pids{78});
}

TEST_F(FindWanted, NobodyWithoutProc) {
  EXPECT_TRUE(list_processes(tree_.root(), kAll).empty());
}

}  // namespace
}  // namespace hmk
