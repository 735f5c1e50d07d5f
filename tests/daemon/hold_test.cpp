// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sstream>

#include "control/protocol.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

/// A connection that holds a process in a mode, as `hmkctl try` does.
class HoldTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    ends_with_last_target_ = false;
    config_.mode = Mode::manage;
  }
  void connect() {
    fd_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    config_.socket.copy(address.sun_path, config_.socket.size());
    ASSERT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
  }
  void send(const json& request) {
    const std::string line = to_line(request);
    ASSERT_EQ(::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
  }
  void hold(int pid, const char* mode) {
    connect();
    say(pid, mode);
  }
  void say(int pid, const char* mode) { say(json{{"pid", pid}, {"mode", mode}}); }
  void say(const json& args) {
    send({{"verb", "hold"}, {"args", args}});
    run();
    std::array<char, 4096> answer{};
    const ssize_t got = ::recv(fd_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    ASSERT_GT(got, 0);
    answer_ = json::parse(std::string(answer.data(), static_cast<std::size_t>(got)));
  }
  void leave() {
    fd_ = Fd();
    run();
  }

  Fd fd_;
  json answer_;
};

class EventsTest : public HoldTest {
 protected:
  void follow() {
    start();
    connect();
    send({{"verb", "events"}});
    EXPECT_EQ(heard(), std::vector<std::string>{""});  // the answer
  }
  /// The kinds of the lines that have come.
  std::vector<std::string> heard() {
    run();
    std::array<char, 65536> part{};
    const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), MSG_DONTWAIT);
    std::istringstream lines(std::string(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    std::vector<std::string> kinds;
    for (std::string line; std::getline(lines, line);) {
      last_ = json::parse(line);
      kinds.push_back(last_.value("event", ""));
    }
    return kinds;
  }
  json last_;
};

using Kinds = std::vector<std::string>;

TEST_F(EventsTest, ComeAsTheyHappenAndOnceEach) {
  follow();
  data("pause");
  data("resume");
  data("set", {{"key", "mode"}, {"value", "dry-run"}});
  EXPECT_EQ(heard(), (Kinds{"paused", "resumed", "set"}));
  EXPECT_EQ(last_["was"], "manage");
  data("detach", {{"pid", kPid}});
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(heard(), (Kinds{"detached", "attached"}));
  EXPECT_EQ(last_["comm"], "redis-server");
  spdlog::warn("something is wrong\n");
  EXPECT_EQ(heard(), Kinds{"warning"});
  EXPECT_EQ(last_["text"], "something is wrong\\x0a");
  tree_.remove("proc/4711");
  kernel_.tell(HMK_EVENT_GONE, 0);
  EXPECT_EQ(heard(), Kinds{"ended"});
}

TEST_F(EventsTest, AnIntervalThatMovedSomethingIsOneEventAndOthersNone) {
  follow();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  EXPECT_EQ(heard(), Kinds{});
  ASSERT_FALSE(kernel_.tickets.empty());
  kernel_.finish(test::all_clean);
  run();
  kernel_.publish(interval(2, {region(0, 0, 3.0)}));
  EXPECT_EQ(heard(), Kinds{"moved"});
  EXPECT_EQ(last_["promoted_bytes"], 2 * kMiB);
  kernel_.publish(interval(3, {region(0, 0, 3.0)}));
  EXPECT_EQ(heard(), Kinds{});
}

TEST_F(EventsTest, NeedAConnectionAndNoRightToChange) {
  start();
  EXPECT_EQ(verb("events", json::object(), false)["error"]["what"],
            "events come over a connection only");
}

TEST_F(HoldTest, AManagedProcessIsOnlyWatchedAndThenManagedAgain) {
  start();
  hold(kPid, "track-only");
  EXPECT_EQ(answer_["ok"], true) << answer_;
  EXPECT_EQ(target("status")["mode"], "track-only");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  leave();
  EXPECT_EQ(target("status")["mode"], "manage");
  EXPECT_TRUE(kernel_.is_open);
  kernel_.publish(interval(2, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST_F(HoldTest, WhatMovesWhenItBeginsIsStopped) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  hold(kPid, "track-only");
  EXPECT_EQ(kernel_.cancelled.size(), 1u);
}

TEST_F(HoldTest, OneThatWasNotManagedIsAttachedAndLetGo) {
  config_.attach = {};
  start();
  hold(kPid, "track-only");
  EXPECT_EQ(target("status")["pid"], kPid);
  leave();
  EXPECT_TRUE(data("status")["targets"].empty());
  EXPECT_FALSE(kernel_.is_open);
  config_.attach = {*parse_rule("comm=redis-server")};
  file_ = {config_, {}};
  data("reload");
  EXPECT_EQ(target("status")["pid"], kPid) << "it is not left alone as one detached by hand";
}

TEST_F(HoldTest, TheModeIsKeptOverAnExecAndChangedByTheSameConnection) {
  start();
  hold(kPid, "track-only");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_.size(), 2u);
  EXPECT_EQ(target("status")["mode"], "track-only");
  say(kPid, "dry-run");
  EXPECT_EQ(target("status")["mode"], "dry-run");
}

TEST_F(HoldTest, AProcessThatEndsIsNoLongerHeld) {
  start();
  hold(kPid, "track-only");
  tree_.remove("proc/4711");
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_TRUE(data("status")["targets"].empty());
  test::put_process(tree_, kPid, "another", 0, 4194304, 'S', 1, 99);
  data("attach", {{"pid", kPid}});
  EXPECT_EQ(target("status")["mode"], "manage");
  leave();
  EXPECT_EQ(target("status")["mode"], "manage");
}

TEST_F(HoldTest, WhatWasMovedGoesBackWhereItLay) {
  start();
  hold(kPid, "manage");
  EXPECT_EQ(answer_["data"]["target"]["mode"], "manage");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.finish(test::all_clean);
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 2 * kMiB);

  const json back{{"pid", kPid}, {"mode", "track-only"}, {"put_back", true}};
  say(back);
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "at once";
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 3);
  kernel_.finish(test::all_pinned);  // nothing has moved
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 2 * kMiB);
  kernel_.publish(interval(2, {region(0, 0, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "once more at the next interval";
  kernel_.finish(test::all_clean);
  run();
  EXPECT_EQ(target("gain")["displaced_bytes"], 0);
  kernel_.publish(interval(3, {region(0, 3, 3.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty()) << "there is nothing left to put back";
  EXPECT_EQ(target("stats")["returned_bytes"], 0) << "that is no thrash";

  say(kPid, "manage");
  kernel_.publish(interval(20, {region(0, 3, 3.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u) << "and it is promoted again";
}

TEST_F(HoldTest, WhatIsBeingPutBackIsStoppedByAnotherMode) {
  start();
  hold(kPid, "manage");
  kernel_.publish(interval(1, {region(0, 3, 3.0)}));
  run();
  kernel_.finish(test::all_clean);
  run();
  say(json{{"pid", kPid}, {"mode", "track-only"}, {"put_back", true}});
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  leave();
  EXPECT_EQ(kernel_.cancelled.size(), 1u);
  EXPECT_EQ(target("status")["mode"], "manage");
}

TEST_F(HoldTest, OnlyWhatIsWatchedIsPutBack) {
  start();
  hold(kPid, "track-only");
  say(json{{"pid", kPid}, {"mode", "manage"}, {"put_back", true}});
  EXPECT_EQ(answer_["error"]["kind"], "usage");
  say(json{{"pid", kPid}, {"mode", "track-only"}, {"put_back", 1}});
  EXPECT_EQ(answer_["error"]["kind"], "usage");
}

TEST_F(HoldTest, RefusalsSayWhyAndChangeNothing) {
  start();
  hold(kPid, "track-only");
  Fd first = std::move(fd_);
  hold(kPid, "track-only");
  EXPECT_EQ(answer_["error"]["what"], "PID 4711 is being tried by another hmkctl");
  leave();
  EXPECT_EQ(target("status")["mode"], "track-only") << "the first one holds it";
  hold(77, "track-only");
  EXPECT_EQ(answer_["error"]["errno"], ESRCH);
  say(kPid, "fast");
  EXPECT_EQ(answer_["error"]["kind"], "usage");
  data("pause");
  say(kPid, "track-only");
  EXPECT_EQ(answer_["error"]["what"], "hmkd is paused");
}

}  // namespace
}  // namespace hmk
