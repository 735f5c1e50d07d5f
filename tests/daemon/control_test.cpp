// SPDX-License-Identifier: MIT
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>

#include "control/peer.hpp"
#include "control/protocol.hpp"
#include "control/server.hpp"
#include "tree.hpp"
#include "util/fd.hpp"

namespace hmk {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

TEST(Protocol, ReadsAVerbWithItsArguments) {
  const auto request = parse_request(R"({"verb": "set", "args": {"key": "mode"}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->verb, "set");
  EXPECT_EQ(request->args["key"], "mode");
  EXPECT_FALSE(request->peer.may_change);
}

TEST(Protocol, RefusesWhatIsNoRequest) {
  for (const char* const line :
       {"", "x", "[]", "1", "null", "{", "{}", R"({"verb": 1})", R"({"verb": ""})",
        R"({"verb": "status", "args": []})", R"({"verb": "status", "more": 1})",
        "{\"verb\": \"\xff\"}", R"({"verb": "status"} {"verb": "status"})"})
    EXPECT_FALSE(parse_request(line)) << line;
}

TEST(Protocol, BoundsTheNestingBeforeItParses) {
  const auto nested = [](int depth, char open, char close) {
    return R"({"verb": "x", "args": {"a": )" + std::string(static_cast<std::size_t>(depth), open) +
           std::string(static_cast<std::size_t>(depth), close) + "}}";
  };
  EXPECT_TRUE(parse_request(nested(kMaxDepth - 2, '[', ']')));
  EXPECT_FALSE(parse_request(nested(kMaxDepth - 1, '[', ']')));
  EXPECT_FALSE(parse_request(nested(100'000, '[', ']')));
  EXPECT_FALSE(parse_request(std::string(100'000, '[')));
  EXPECT_FALSE(parse_request(std::string(100'000, '{')));
  // Brackets inside a string are text, behind an escaped quote as well.
  EXPECT_TRUE(parse_request(R"({"verb": "x\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["})"));
}

TEST(Protocol, WritesOneLineWhateverTheBytes) {
  const std::string line = to_line(answer({{"comm", "a\nb\xff"}}));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

/// A client that is driven by hand; sends never block the test.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    is_connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool is_connected() const { return is_connected_; }
  void send(const std::string& text) {
    (void)!::send(fd_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  /// What has arrived; sets is_closed() at the end of the stream.
  const std::string& receive() {
    std::array<char, 4096> part{};
    for (;;) {
      const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), MSG_DONTWAIT);
      if (got <= 0) {
        // A reset is an end too: the server had not read all that was sent.
        is_closed_ = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        return text_;
      }
      text_.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  bool is_closed() const { return is_closed_; }

 private:
  Fd fd_;
  bool is_connected_ = false, is_closed_ = false;
  std::string text_;
};

class ControlServer : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto open = server_.listen(path_, {"no-such-group", "no-such-group"});
    ASSERT_TRUE(open) << open.error().line();
  }

  /// Runs the loop until `done`, five seconds at most.
  template <class Done>
  bool until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + 5s;
    while (!done()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      loop_.restart();
      loop_.run_one_for(10ms);
    }
    return true;
  }
  std::string ask(Client& client, const std::string& text) {
    client.send(text);
    const std::size_t before = client.receive().size();
    until([&] { return client.receive().size() > before || client.is_closed(); });
    return client.receive();
  }

  test::Tree tree_;
  std::string path_ = (tree_.root() / "c.sock").string();
  boost::asio::io_context loop_;
  std::string big_ = std::string(1, 'x');
  int nr_handled_ = 0;
  std::uint64_t client_ = 0;  ///< of the last request
  Server server_{
      loop_,
      [this](const Request& request) {
        ++nr_handled_;
        client_ = request.client;
        return answer({{"verb", request.verb}, {"may", request.peer.may_change}, {"x", big_}});
      },
      {.clients = 4,
       .roots = 4,
       .idle = 300ms,
       .write = 300ms,
       .queue = 1024,
       .stream = 100'000,
       .pause = 300ms}};
};

TEST_F(ControlServer, WhoSubscribedGetsWhatIsPublishedAndMayBeSilent) {
  Client reader(path_), other(path_);
  ask(reader, "{\"verb\": \"x\"}\n");
  ASSERT_TRUE(server_.subscribe(client_));
  EXPECT_FALSE(server_.subscribe(client_ + 100));
  ask(other, "{\"verb\": \"x\"}\n");
  until([&] { return other.receive().empty() || other.is_closed(); });  // longer than `idle`
  server_.publish({{"n", 1}}, {{"n", 0}});
  server_.publish({{"n", 2}}, {{"n", 0}});
  ASSERT_TRUE(until([&] { return reader.receive().ends_with("{\"n\":1}\n{\"n\":2}\n"); }));
  EXPECT_EQ(other.receive().find("\"n\""), std::string::npos);
  EXPECT_TRUE(ask(reader, "{\"verb\": \"y\"}\n").ends_with("}\n")) << "it may go on asking";
  EXPECT_EQ(server_.nr_subscribers(), 1u);
}

TEST_F(ControlServer, ASlowReaderIsToldAndDroppedAndBlocksNobody) {
  Client slow(path_), quick(path_);
  ask(slow, "{\"verb\": \"x\"}\n");
  ASSERT_TRUE(server_.subscribe(client_));
  ask(quick, "{\"verb\": \"x\"}\n");
  ASSERT_TRUE(server_.subscribe(client_));
  const std::string text(500, 'e');
  const auto publish_one = [&] {
    server_.publish({{"e", text}}, {{"last", true}});
    while (loop_.poll() > 0) continue;
    loop_.restart();
    quick.receive();
  };
  std::size_t published = 0;
  for (; published < 5000 && server_.nr_subscribers() == 2; ++published) publish_one();
  ASSERT_EQ(server_.nr_subscribers(), 1u) << "the queue of one who does not read is full";
  // From here on it has `write` to take what it is told.
  ASSERT_TRUE(until([&] {
    return slow.receive().ends_with("{\"last\":true}\n") && slow.is_closed();
  })) << slow.receive().size();
  EXPECT_EQ(slow.receive().find("{\"last\":true}"), slow.receive().size() - 14) << "once";
  for (; published < 5000; ++published) publish_one();
  ASSERT_TRUE(until([&] { return quick.receive().size() > published * text.size(); }));
  EXPECT_EQ(quick.receive().find("last"), std::string::npos);
  EXPECT_EQ(server_.nr_subscribers(), 1u);
}

TEST_F(ControlServer, ASlowReaderThatNeverReadsIsDroppedAllTheSame) {
  Client slow(path_);
  ask(slow, "{\"verb\": \"x\"}\n");
  ASSERT_TRUE(server_.subscribe(client_));
  for (int n = 0; n < 5000; ++n) server_.publish({{"e", std::string(500, 'e')}}, {{"last", 1}});
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 0; }));
}

TEST_F(ControlServer, AStreamComesBehindTheAnswerAndItsReaderMayBeSilent) {
  Client reader(path_);
  ask(reader, "{\"verb\": \"x\"}\n");
  server_.keep(client_);
  const std::string large(1'000'000, 's');  // larger than what may wait
  EXPECT_TRUE(server_.stream(client_, large, "slow"));
  EXPECT_FALSE(server_.stream(client_ + 100, "x", "slow"));
  ASSERT_TRUE(until([&] { return reader.receive().ends_with("}\n" + large); }));
  const auto end = std::chrono::steady_clock::now() + 500ms;
  until([&] { return std::chrono::steady_clock::now() > end; });  // longer than `idle` and `write`
  EXPECT_TRUE(server_.stream(client_, "more", "slow"));
  server_.end_stream(client_, " end");
  ASSERT_TRUE(until([&] { return reader.receive().ends_with("smore end") && reader.is_closed(); }));
}

TEST_F(ControlServer, WhoTakesAStreamTooSlowlyIsToldAndDropped) {
  Client slow(path_);
  ask(slow, "{\"verb\": \"x\"}\n");
  server_.keep(client_);
  bool has_left = false;
  server_.on_leave([&](std::uint64_t client) { has_left = client == client_; });
  int taken = 0;
  for (; taken < 100 && server_.stream(client_, std::string(50'000, 's'), "too slow"); ++taken)
    while (loop_.poll() > 0) loop_.restart();
  EXPECT_LT(taken, 100);
  EXPECT_FALSE(server_.stream(client_, "x", "too slow")) << "and gets nothing more";
  ASSERT_TRUE(until([&] { return slow.receive().ends_with("stoo slow") && slow.is_closed(); }));
  EXPECT_TRUE(has_left);
}

TEST_F(ControlServer, WhoTakesNothingOfAStreamIsDroppedAllTheSame) {
  Client slow(path_);
  ask(slow, "{\"verb\": \"x\"}\n");
  while (server_.stream(client_, std::string(50'000, 's'), "too slow")) continue;
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 0; }));
}

TEST_F(ControlServer, AnswersEachLineOfAConnection) {
  Client client(path_);
  EXPECT_NE(ask(client, "{\"verb\": \"a\"}\n").find("\"verb\":\"a\""), std::string::npos);
  EXPECT_NE(ask(client, "{\"verb\": \"b\"}\n").find("\"verb\":\"b\""), std::string::npos);
}

TEST_F(ControlServer, AnswersLinesThatArriveTogetherAndInPieces) {
  Client client(path_);
  client.send("{\"verb\": \"a\"}\n{\"verb\": \"b\"}\n{\"ve");
  ASSERT_TRUE(until([&] { return client.receive().find("\"b\"") != std::string::npos; }));
  client.send("rb\": \"c\"}\n");
  EXPECT_TRUE(until([&] { return client.receive().find("\"c\"") != std::string::npos; }));
}

TEST_F(ControlServer, OwnUserMayChangeThings) {
  Client client(path_);
  EXPECT_NE(ask(client, "{\"verb\": \"a\"}\n").find("\"may\":true"), std::string::npos);
}

TEST_F(ControlServer, SocketIsClosedToOthers) {
  struct stat st {};
  ASSERT_EQ(::stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u) << "there is no such group";
  const std::string own = getgrgid(::getegid())->gr_name, path = path_ + "2";
  Server with_group(loop_, [](const Request&) { return json(); });
  ASSERT_TRUE(with_group.listen(path, {own, own}));
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0660u);
  EXPECT_EQ(st.st_gid, ::getegid());
}

/// Until its end, this process is another user with one group beside its own.
class As {
 public:
  As(uid_t user, gid_t group) {
    if (::setgroups(1, &group) != 0 || ::setegid(user) != 0 || ::seteuid(user) != 0) std::abort();
  }
  ~As() {
    if (::seteuid(0) != 0 || ::setegid(0) != 0 || ::setgroups(0, nullptr) != 0) std::abort();
  }
  As(const As&) = delete;
  As& operator=(const As&) = delete;
};

/// What the kernel says of a peer is what it was when it connected.
class ControlRights : public ControlServer {
 protected:
  static constexpr uid_t kSomebody = 65534;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as somebody else";
    ASSERT_TRUE(server_.listen(path_, {"daemon", "bin"}));
    ASSERT_EQ(::chmod(tree_.root().c_str(), 0711), 0);
  }
  static gid_t group(const char* name) { return find_group(name).value(); }
  std::unique_ptr<Client> connect(uid_t user, gid_t with_group) {
    const As as(user, with_group);
    return std::make_unique<Client>(path_);
  }
};

TEST_F(ControlRights, TheGroupReadsAndOnlyAdminsChange) {
  EXPECT_FALSE(connect(kSomebody, kSomebody)->is_connected());
  EXPECT_FALSE(connect(kSomebody, group("bin"))->is_connected()) << "is no reader";
  const auto reader = connect(kSomebody, group("daemon"));
  ASSERT_TRUE(reader->is_connected());
  EXPECT_NE(ask(*reader, "{\"verb\": \"a\"}\n").find("\"may\":false"), std::string::npos);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);  // else two groups at once were needed
  const auto admin = connect(kSomebody, group("bin"));
  EXPECT_NE(ask(*admin, "{\"verb\": \"a\"}\n").find("\"may\":true"), std::string::npos);
  const auto root = connect(0, 0);
  EXPECT_NE(ask(*root, "{\"verb\": \"a\"}\n").find("\"may\":true"), std::string::npos);
}

TEST_F(ControlRights, ASlotForRootIsFreeHoweverManyOthersAreConnected) {
  std::vector<std::unique_ptr<Client>> others(4);
  for (auto& other : others) other = connect(kSomebody, group("daemon"));
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 4; }));
  const auto late = connect(kSomebody, group("daemon"));
  ASSERT_TRUE(until([&] { return late->receive(), late->is_closed(); }));
  EXPECT_NE(late->receive().find("too many clients"), std::string::npos);
  const auto root = connect(0, 0);
  EXPECT_NE(ask(*root, "{\"verb\": \"a\"}\n").find("\"ok\":true"), std::string::npos);
}

TEST_F(ControlServer, GarbageIsAnsweredAndCutOff) {
  Client client(path_);
  EXPECT_NE(ask(client, "garbage\n").find("\"ok\":false"), std::string::npos);
  EXPECT_TRUE(until([&] { return client.receive(), client.is_closed(); }));
}

TEST_F(ControlServer, HundredThousandBracketsAreCutOff) {
  Client client(path_);
  client.send(std::string(100'000, '['));
  EXPECT_TRUE(until([&] { return client.receive(), client.is_closed(); }));
  Client other(path_);
  EXPECT_NE(ask(other, "{\"verb\": \"a\"}\n").find("\"ok\":true"), std::string::npos);
}

TEST_F(ControlServer, ALineWithoutEndIsCutOffAt64KiB) {
  Client client(path_);
  client.send(std::string(kFrameBytes + 1, 'x'));
  EXPECT_TRUE(until([&] { return client.receive(), client.is_closed(); }));
}

TEST_F(ControlServer, PagesAreServedAndOthersAreNotFound) {
  server_.serve_pages([](const std::string& path) -> Server::Page {
    if (path != "/metrics") return {};
    return {"text/x", "figures"};
  });
  Client client(path_);
  client.send("GET /metrics HTTP/1.1\r\nHost: x\r\n");  // in pieces
  client.send("Accept: */*\r\n\r\n");
  ASSERT_TRUE(until([&] { return client.receive(), client.is_closed(); }));
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 7\r\n"
            "Connection: close\r\n\r\nfigures");
  for (const char* const head : {"GET / HTTP/1.1\r\n\r\n", "GET \r\n\r\n", "GET  /\r\n\r\n"}) {
    Client other(path_);
    other.send(head);
    ASSERT_TRUE(until([&] { return other.receive(), other.is_closed(); })) << head;
    EXPECT_TRUE(other.receive().starts_with("HTTP/1.1 404 Not Found\r\n")) << other.receive();
  }
  Client flood(path_);
  flood.send("GET /metrics HTTP/1.1\r\n" + std::string(kFrameBytes, 'x'));
  EXPECT_TRUE(until([&] { return flood.receive(), flood.is_closed(); }));
}

TEST_F(ControlServer, ALoopbackAddressServesPagesAndTakesNoVerb) {
  server_.serve_pages([](const std::string&) { return Server::Page{"text/x", "figures"}; });
  int port = 20000 + ::getpid() % 20000;
  while (!server_.listen_loopback("127.0.0.1:" + std::to_string(port))) ASSERT_LT(++port, 60000);
  const auto talk = [&](const std::string& text) {
    const Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{
        AF_INET, htons(static_cast<std::uint16_t>(port)), {htonl(INADDR_LOOPBACK)}, {}};
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    std::string got;
    std::array<char, 256> part{};
    EXPECT_TRUE(until([&] {
      const ssize_t bytes = ::recv(fd.get(), part.data(), part.size(), MSG_DONTWAIT);
      if (bytes > 0) got.append(part.data(), static_cast<std::size_t>(bytes));
      return bytes == 0 || (bytes < 0 && errno != EAGAIN);
    }));
    return got;
  };
  EXPECT_TRUE(talk("GET /metrics HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nfigures"));
  EXPECT_EQ(talk("{\"verb\": \"status\"}\n"), "");
}

TEST_F(ControlServer, OnlyALoopbackAddressIsOpened) {
  for (const char* const address : {"0.0.0.0:9464", "[::]:9464", "127.0.0.1", "127.0.0.1:0",
                                    "127.0.0.1:65536", "localhost:9464", "192.0.2.1:9464", ":1"})
    EXPECT_FALSE(server_.listen_loopback(address)) << address;
}

TEST_F(ControlServer, SilentClientsAreCutOff) {
  Client client(path_);
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 1; }));
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 0; }));
}

TEST_F(ControlServer, AClientThatDripsBytesIsCutOffAsASilentOne) {
  Client client(path_);
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 1; }));
  EXPECT_TRUE(until([&] {
    client.send("x");
    return server_.nr_clients() == 0;
  }));
}

TEST_F(ControlServer, AFloodOfRequestsKeepsNobodyWaiting) {
  constexpr int kFlood = 4000;
  Client flood(path_), other(path_);
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 2; }));
  std::string many;
  for (int i = 0; i < kFlood; ++i) many += "{\"verb\": \"a\"}\n";
  flood.send(many);
  ASSERT_TRUE(until([&] { return nr_handled_ > 0; }));
  const int before = nr_handled_;
  EXPECT_NE(ask(other, "{\"verb\": \"b\"}\n").find("\"b\""), std::string::npos);
  EXPECT_LT(nr_handled_ - before, 100) << "not all of the flood first";
}

TEST_F(ControlServer, AClientThatDoesNotReadIsCutOffWhileOthersAreServed) {
  big_.assign(8u << 20, 'x');
  Client deaf(path_);
  deaf.send("{\"verb\": \"a\"}\n");
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 1; }));
  big_ = "x";
  Client other(path_);
  EXPECT_NE(ask(other, "{\"verb\": \"a\"}\n").find("\"ok\":true"), std::string::npos);
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 0; }));
}

TEST_F(ControlServer, TooManyClientsAreToldSo) {
  std::vector<std::unique_ptr<Client>> clients(4);
  for (auto& client : clients) client = std::make_unique<Client>(path_);
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 4; }));
  Client late(path_);
  ASSERT_TRUE(until([&] { return late.receive(), late.is_closed(); }));
  EXPECT_NE(late.receive().find("too many clients"), std::string::npos);
}

TEST_F(ControlServer, AClientThatLeavesIsForgotten) {
  {
    Client client(path_);
    ASSERT_TRUE(until([&] { return server_.nr_clients() == 1; }));
  }
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 0; }));
}

TEST_F(ControlServer, WithoutADescriptorItRestsAndServesLater) {
  const Client waits(path_);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = Fd(::dup(0)).get();  // closed again: the lowest that is free
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::size_t handlers = loop_.run_for(100ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(server_.nr_clients(), 0u);
  EXPECT_LT(handlers, 10u) << "each try and each rest is one";
  EXPECT_TRUE(until([&] { return server_.nr_clients() == 1; }));
}

TEST_F(ControlServer, AClientThatIsKeptMayBeSilentAndIsToldOfWhenItLeaves) {
  std::vector<std::uint64_t> left;
  server_.on_leave([&](std::uint64_t client) { left.push_back(client); });
  {
    Client kept(path_), silent(path_);
    ask(kept, "{\"verb\": \"a\"}\n");
    const std::uint64_t id = client_;
    server_.keep(id);
    ask(kept, "{\"verb\": \"b\"}\n");
    EXPECT_EQ(client_, id) << "one connection, one client";
    ASSERT_TRUE(until([&] { return silent.receive(), silent.is_closed(); }));
    EXPECT_EQ(server_.nr_clients(), 1u);
    EXPECT_EQ(left, std::vector<std::uint64_t>{}) << "the silent one was not kept";
  }
  ASSERT_TRUE(until([&] { return server_.nr_clients() == 0; }));
  EXPECT_EQ(left, std::vector<std::uint64_t>{client_});
}

TEST_F(ControlServer, ASecondServerDoesNotTakeASocketThatIsServed) {
  Server second(loop_, [](const Request&) { return json(); });
  const auto open = second.listen(path_, {});
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().what.find("another hmkd serves it"), std::string::npos);
}

TEST(Control, ASocketLeftBehindIsReplacedAndAFileIsNot) {
  test::Tree tree;
  boost::asio::io_context loop;
  const std::string path = (tree.root() / "c.sock").string();
  {
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  {
    Server server(loop, [](const Request&) { return json(); });
    EXPECT_TRUE(server.listen(path, {}));
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "removed at the end";
  tree.put("c.sock", "precious");
  Server server(loop, [](const Request&) { return json(); });
  EXPECT_FALSE(server.listen(path, {}));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Control, UnknownGroupIsNone) {
  EXPECT_FALSE(find_group("no-such-group"));
}

}  // namespace
}  // namespace hmk
