// SPDX-License-Identifier: MIT
//
// A real program that links libhmk, and hmkd above a FakeDevice: what it says of its memory is
// acted on before the interval has ended.
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>

#include "app_fixture.hpp"
#include "util/fd.hpp"

namespace hmk::test {
namespace {

using namespace std::chrono_literals;

/// hmk-touch, told line by line; it answers when it likes, and the loop runs meanwhile.
class Program {
 public:
  Program(boost::asio::io_context& loop, const std::string& hints) : loop_(loop) {
    int in[2], out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC) + ::pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    std::string name = HMK_TOUCH, socket = "HMK_HINTS_SOCKET=" + hints;
    char* const words[] = {name.data(), nullptr};
    char* const environment[] = {socket.data(), nullptr};
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&files, out[1], 1);
    EXPECT_EQ(::posix_spawn(&pid_, HMK_TOUCH, &files, nullptr, words, environment), 0);
    ::posix_spawn_file_actions_destroy(&files);
    to_ = Fd(in[1]);
    from_ = Fd(out[0]);
    ::close(in[0]);
    ::close(out[1]);
    EXPECT_TRUE(answer().starts_with("ready"));
  }
  ~Program() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  /// The words behind "ok".
  std::string tell(const std::string& line) {
    const std::string text = line + "\n";
    EXPECT_EQ(::write(to_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    const std::string said = answer();
    EXPECT_TRUE(said.starts_with("ok")) << line << ": " << said;
    return said.size() > 3 ? said.substr(3) : "";
  }
  /// Number and address of a new area of 2 MiB.
  std::pair<std::string, std::uint64_t> map() {
    std::istringstream words(tell("map 512"));
    std::pair<std::string, std::uint64_t> area;
    words >> area.first >> area.second;
    return area;
  }

 private:
  std::string answer() {
    std::string line;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!line.ends_with('\n') && std::chrono::steady_clock::now() < late) {
      char byte = 0;
      if (::read(from_.get(), &byte, 1) == 1) {
        line += byte;
        continue;
      }
      loop_.restart();
      loop_.run_for(1ms);
    }
    return line.substr(0, line.find('\n'));
  }

  boost::asio::io_context& loop_;
  pid_t pid_ = 0;
  Fd to_, from_;
};

class HintsAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    ends_with_last_target_ = false;
    program_ = std::make_unique<Program>(loop_, (tree_.root() / "hints.sock").string());
    const pid_t pid = program_->pid();
    put_process(tree_, pid, "touch");
    config_.attach = {rule_of_pid(pid)};
    cold_ = program_->map();
    warm_ = program_->map();
  }

  FakeKernel& kernel() { return others_[program_->pid()]; }
  /// Both areas on these nodes; `warm_` is hot.
  void pass(std::uint64_t seq, int cold_on, int warm_on, double cold_whi = 0, double warm_whi = 3) {
    std::vector<hmk_record> records{region(cold_.second, cold_on, cold_whi),
                                    region(warm_.second, warm_on, warm_whi)};
    std::ranges::sort(records, {}, &hmk_record::start);
    kernel().publish(interval(seq, records));
    run();
  }
  std::string registered(const std::pair<std::string, std::uint64_t>& area,
                         const std::string& label) {
    return program_->tell("register " + area.first + " " + label);
  }
  /// Runs the loop until it is so, for 30 s at most.
  bool comes(const std::function<bool()>& is_so) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!is_so() && std::chrono::steady_clock::now() < late) {
      loop_.restart();
      loop_.run_for(1ms);
    }
    return is_so();
  }
  bool moves() {
    return comes([this] { return !kernel().tickets.empty(); });
  }
  void fill_nodes_0_and_1() {
    put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
    put_node(tree_, {1, "", "20 10 40 30", 262144, 0, 145, 35000});
  }

  std::unique_ptr<Program> program_;
  std::pair<std::string, std::uint64_t> cold_, warm_;  ///< number, address
};

TEST_F(HintsAppTest, WhatIsAboutToBeUsedRisesBeforeTheIntervalHasEnded) {
  start();
  pass(1, 3, 0);
  ASSERT_TRUE(kernel().tickets.empty()) << "cold, as far as was measured";
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  program_->tell("say " + next + " will_use");
  ASSERT_TRUE(moves());
  ASSERT_EQ(kernel().tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel().tickets[0].ranges[0].start, cold_.second);
  EXPECT_EQ(kernel().tickets[0].ranges[0].node, 0);
  kernel().finish(all_clean);
  run();
  EXPECT_EQ(target("stats")["pairs"][0]["moved_bytes_by_reason"]["hint"], 2 * kMiB);
  const json why = data("why", {{"start", cold_.second}, {"end", cold_.second + 4096}});
  EXPECT_EQ(why["targets"][0]["decisions"].back()["reason"],
            "the program says that it is about to use it");
}

TEST_F(HintsAppTest, WhatIsPutAsideMakesRoomForIt) {
  fill_nodes_0_and_1();
  config_.is_governed = false;  // nobody measures what an access costs here
  start();
  const std::string next = registered(cold_, "next"), last = registered(warm_, "last");
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 2, 0);
  program_->tell("say " + next + " will_write");
  pass(2, 2, 0);
  EXPECT_TRUE(kernel().tickets.empty()) << "all that is fast is as hot";
  program_->tell("say " + last + " archive");
  program_->tell("say " + next + " will_write");
  ASSERT_TRUE(moves());
  ASSERT_EQ(kernel().tickets[0].ranges.size(), 2u);
  EXPECT_EQ(kernel().tickets[0].ranges[0].start, warm_.second) << "down first";
  EXPECT_EQ(kernel().tickets[0].ranges[1].start, cold_.second);
}

TEST_F(HintsAppTest, WhatHasRisenSinceCountsForItsCap) {
  config_.caps = {{std::to_string(program_->pid()) + "/1", 2 * kMiB}};
  start();
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 3, 3);
  ASSERT_EQ(kernel().tickets.size(), 1u);
  EXPECT_EQ(kernel().tickets[0].ranges[0].start, warm_.second) << "up to its cap";
  for (const bool has_ended : {false, true}) {
    if (has_ended) kernel().finish(all_clean);
    program_->tell("say " + next + " will_use");
    EXPECT_EQ(program_->tell("hints"), "0") << "and has been heard by then";
    run();
    for (const auto& ticket : kernel().tickets)
      for (const hmk_range& range : ticket.ranges)
        EXPECT_FALSE(range.start == cold_.second && range.node == 0);
  }
}

TEST_F(HintsAppTest, WhatIsToldNeedNotBeReadPageByPageFirst) {
  start();
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  // The other is known by class; this one waits for its turn.
  hmk_record unread = region(cold_.second, 3, 0), read = region(warm_.second, 0, 3);
  unread.flags = HMK_RECORD_STALE;
  read.flags = static_cast<__u16>(7u << HMK_RECORD_CLASS_SHIFT);
  std::vector<hmk_record> records{unread, read};
  std::ranges::sort(records, {}, &hmk_record::start);
  kernel().publish(interval(1, records));
  run();
  ASSERT_TRUE(kernel().tickets.empty());
  program_->tell("say " + next + " will_use");
  ASSERT_TRUE(moves());
  EXPECT_EQ(kernel().tickets[0].ranges[0].start, cold_.second);
}

TEST_F(HintsAppTest, WhereCapsAreOfSeveralItWaitsForTheInterval) {
  config_.is_together = true;
  start();
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 3, 0);
  program_->tell("say " + next + " will_use");
  EXPECT_EQ(program_->tell("hints"), "0") << "and has been heard by then";
  EXPECT_TRUE(kernel().tickets.empty());
  pass(2, 3, 0);
  EXPECT_EQ(kernel().tickets.size(), 1u);
}

TEST_F(HintsAppTest, TellsWhatProgramsSay) {
  start();
  pass(1, 3, 0);
  const std::string one = registered(cold_, "index"), two = registered(warm_, "index");
  registered(cold_, "other");
  EXPECT_EQ(program_->tell("hints"), "0");
  program_->tell("say " + one + " will_read");
  program_->tell("say " + two + " archive");
  pass(2, 3, 0);
  const json labels = target("labels");
  EXPECT_EQ(labels["pid"], program_->pid());
  ASSERT_EQ(labels["labels"].size(), 2u);
  EXPECT_EQ(labels["labels"][0], (json{{"label", "index"},
                                       {"objects", 2},
                                       {"bytes", 4 * kMiB},
                                       {"resident_bytes", 4 * kMiB},
                                       {"tier1_bytes", 2 * kMiB},
                                       {"says", "several things"}}));
  EXPECT_EQ(labels["labels"][1]["says"], "nothing");
  program_->tell("say " + one + " unregister");
  pass(3, 3, 0);
  EXPECT_EQ(target("labels")["labels"][0]["says"], "archived");
}

TEST_F(HintsAppTest, WhatCameTrueIsCounted) {
  start();
  const std::string next = registered(cold_, "next"), last = registered(warm_, "last");
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 3, 0);
  program_->tell("say " + next + " will_use");
  program_->tell("say " + last + " archive");
  for (std::uint64_t seq = 2; seq <= 4; ++seq) pass(seq, 3, 0, 1);
  EXPECT_EQ(target("labels")["came_true"], 1) << "it is used";
  EXPECT_EQ(target("labels")["did_not"], 1) << "and the other is, too";
}

TEST_F(HintsAppTest, NothingCountsWhereItIsTurnedOff) {
  config_.hints = false;
  start();
  pass(1, 3, 0);
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), std::to_string(-ENOTCONN));
  ASSERT_EQ(verb("set", {{"key", "hints"}, {"value", "yes"}})["ok"], true);
  EXPECT_EQ(program_->tell("hints"), "0");
  ASSERT_EQ(verb("set", {{"key", "hints"}, {"value", "no"}})["ok"], true);
  program_->tell("say " + next + " will_use");
  pass(2, 3, 0);
  EXPECT_TRUE(kernel().tickets.empty());
  EXPECT_TRUE(data("labels")["targets"].empty());
}

TEST_F(HintsAppTest, NobodyIsHeardWhoIsNotManaged) {
  config_.attach = {};
  start();
  EXPECT_EQ(program_->tell("hints"), std::to_string(-ENOTCONN));
  app_.reset();
  EXPECT_EQ(program_->tell("hints"), std::to_string(-ENOENT)) << "the socket went with hmkd";
}

TEST_F(HintsAppTest, AnHmkdThatStartsAnewFindsWhatWasSaid) {
  start();
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  app_.reset();
  program_->tell("say " + next + " archive");
  start();
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 3, 0);
  EXPECT_EQ(target("labels")["labels"][0]["says"], "archived");
}

TEST_F(HintsAppTest, AProgramReachesANewHmkdWithTheNextWord) {
  start();
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  app_.reset();
  start();
  pass(1, 3, 0);
  program_->tell("say " + next + " will_use");
  EXPECT_TRUE(moves());
}

TEST_F(HintsAppTest, NothingMovesForItWhileHmkdIsPausedOrOnlyWatches) {
  start();
  pass(1, 3, 0);
  const std::string next = registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  verb("pause");
  program_->tell("say " + next + " will_use");
  EXPECT_EQ(program_->tell("hints"), "0") << "and has been read by then";
  EXPECT_TRUE(kernel().tickets.empty());
  verb("resume");
  ASSERT_EQ(verb("set", {{"key", "mode"}, {"value", "track-only"}})["ok"], true);
  program_->tell("say " + next + " will_use");
  pass(2, 3, 0);
  EXPECT_TRUE(kernel().tickets.empty());
}

TEST_F(HintsAppTest, ItsObjectsEndWithTheProgram) {
  start();
  registered(cold_, "next");
  EXPECT_EQ(program_->tell("hints"), "0");
  pass(1, 3, 0);
  EXPECT_EQ(target("labels")["labels"].size(), 1u);
  const auto address = cold_.second;
  FakeKernel& kernel = this->kernel();
  program_.reset();
  ASSERT_TRUE(comes([&] {
    kernel.publish(interval(kernel.table.interval.seq + 1, {region(address, 3, 0)}));
    run();
    return data("labels")["targets"].empty();
  }));
}

TEST(HintServer, RefusesWhatIsNoTableAndHearsNobodyWhoIsSilent) {
  Tree tree;
  const std::string path = (tree.root() / "hints.sock").string();
  boost::asio::io_context loop;
  unsigned nr_news = 0;
  HintServer server(loop,
                    {.is_welcome = [](std::int32_t pid) { return pid == ::getpid(); },
                     .on_news = [&](std::int32_t) { ++nr_news; }},
                    {.introduction = 50ms, .rest = 1ms, .pause = 1ms});
  ASSERT_TRUE(server.listen(path));
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0666u) << "for all users";

  const auto connected = [&] {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(static_cast<char*>(address.sun_path), path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  };
  /// The answer, or 1 where the connection ends without one.
  const auto answer_to = [&](const Fd& fd) {
    std::int32_t word = 0;
    ssize_t got = -1;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (got < 0 && std::chrono::steady_clock::now() < late) {
      loop.restart();
      loop.run_for(1ms);
      got = ::recv(fd.get(), &word, sizeof(word), MSG_DONTWAIT);
    }
    return got == sizeof(word) ? word : 1;
  };
  const auto send_with = [](const Fd& socket, int sent) {
    char byte = 'h', space[CMSG_SPACE(sizeof(int))] = {};
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = static_cast<void*>(space);
    message.msg_controllen = sizeof(space);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &sent, sizeof(sent));
    EXPECT_EQ(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), 1);
  };

  const Fd of_a_file = connected();
  send_with(of_a_file, 0);
  EXPECT_EQ(answer_to(of_a_file), -EINVAL);
  const Fd without = connected();
  EXPECT_EQ(::send(without.get(), "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(answer_to(without), -EBADMSG);
  const Fd silent = connected();
  EXPECT_EQ(answer_to(silent), 1) << "after the time it had";
  EXPECT_EQ(server.table_of(::getpid()), nullptr);
  EXPECT_EQ(nr_news, 0u);
}

/// Only what takes longer than it should could be seen: a busy host makes it seldomer.
TEST(HintServer, HearsNoMoreThanItHasTimeFor) {
  constexpr auto kTook = 5ms;
  Tree tree;
  const std::string path = (tree.root() / "hints.sock").string();
  boost::asio::io_context loop;
  unsigned nr_news = 0;
  HintServer server(loop, {.is_welcome = [](std::int32_t) { return true; },
                           .on_news =
                               [&](std::int32_t) {
                                 ++nr_news;
                                 const auto end = std::chrono::steady_clock::now() + kTook;
                                 while (std::chrono::steady_clock::now() < end) continue;
                               }});
  ASSERT_TRUE(server.listen(path));
  Program program(loop, path);
  const std::string object = program.tell("register " + program.map().first + " x");
  EXPECT_EQ(program.tell("hints"), "0");
  const auto begin = std::chrono::steady_clock::now();
  nr_news = 0;
  while (std::chrono::steady_clock::now() < begin + std::chrono::seconds(1))
    program.tell("say " + object + " will_use");
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(nr_news, 0u);
  EXPECT_LE(nr_news * kTook, took / 50 + 4 * kTook) << nr_news;
}

TEST(HintServer, ReplacesASocketThatNobodyServesAndNoFile) {
  Tree tree;
  const std::string path = (tree.root() / "hints.sock").string();
  boost::asio::io_context loop;
  tree.put("hints.sock", "kept");
  HintServer refused(loop, {});
  const Result<void> open = refused.listen(path);
  ASSERT_FALSE(open);
  EXPECT_EQ(
      open.error().line(),
      "hints socket " + path + ": Address already in use; programs cannot tell hmkd anything");
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
  tree.remove("hints.sock");
  const Fd left(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(static_cast<char*>(address.sun_path), path.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(left.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  HintServer server(loop, {}), second(loop, {});
  EXPECT_TRUE(server.listen(path));
  const Result<void> taken = second.listen(path);
  ASSERT_FALSE(taken);
  EXPECT_EQ(
      taken.error().line(),
      "hints socket " + path + ": another hmkd serves it; choose another folder with --socket");
}

}  // namespace
}  // namespace hmk::test
