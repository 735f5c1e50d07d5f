// SPDX-License-Identifier: MIT
//
// Recordings as a client of hmkd gets them: over the socket, in bytes.
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <fstream>

#include "app_fixture.hpp"
#include "record/format.hpp"
#include "record/reader.hpp"

namespace hmk::test {
namespace {

/// Asks for a recording and keeps what comes.
class RecordingClient {
 public:
  RecordingClient(const std::string& path, int pid) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ask(pid);
  }
  void ask(int pid) {
    const std::string line = json{{"verb", "record"}, {"args", {{"pid", pid}}}}.dump() + "\n";
    EXPECT_EQ(::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size()));
  }
  void receive() {
    std::array<char, 65536> part{};
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(fd_.get(), part.data(), part.size(), MSG_DONTWAIT);
      if (got > 0) text_.append(part.data(), static_cast<std::size_t>(got));
      has_ended_ = got == 0;
    }
  }
  json answer() const { return json::parse(text_.substr(0, text_.find('\n'))); }
  std::string bytes() const { return text_.substr(text_.find('\n') + 1); }
  bool has_ended() const { return has_ended_; }

 private:
  Fd fd_;
  std::string text_;
  bool has_ended_ = false;
};

class RecorderTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    tree_.put("proc/4711/maps", "0-400000 rw-p 00000000 00:00 0   [heap]\n");
  }
  void pass(std::uint64_t seq, std::vector<hmk_record> records) {
    kernel_.publish(interval(seq, std::move(records)));
    run();
  }
  std::vector<RecordedFrame> frames_of(RecordingClient& client, bool is_ended) {
    client.receive();
    std::ofstream(path_, std::ios::binary)
        << client.bytes() << (is_ended ? "" : RecordEncoder::end(nr_frames(client)));
    auto reader = RecordReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().line();
    std::vector<RecordedFrame> frames;
    for (RecordedFrame frame; reader;) {
      const auto more = reader->next(frame);
      EXPECT_TRUE(more) << more.error().line();
      if (!more || !*more) break;
      frames.push_back(frame);
    }
    context_ = reader->context();
    return frames;
  }
  static std::uint64_t nr_frames(const RecordingClient& client) {
    std::uint64_t frames = 0;
    const std::string bytes = client.bytes();
    for (std::size_t at = kHeadBytes; at < bytes.size(); at += kBlockHeadBytes + u32_at(bytes, at))
      frames += bytes[at + kBlockHeadBytes] == record_format::kFrame;
    return frames;
  }

  const std::string path_ = (tree_.root() / "r.hmkrec").string();
  RecordedContext context_;
};

TEST_F(RecorderTest, TellsEachIntervalOnceAndTheLastOneAtOnce) {
  start();
  pass(1, {region(0, 3, 3.0), region(2 * kMiB, 0, 0.0)});
  RecordingClient client(config_.socket, kPid);
  run();
  kernel_.finish(all_clean);
  run();
  hmk_record away = region(0, 0, 2.0);
  away.samples = 4;
  away.writes = 3;
  away.away_pages = 12;
  away.away_node = 2;
  hmk_record stale = region(2 * kMiB, 0, 0.0);
  stale.flags = HMK_RECORD_STALE;
  pass(2, {away, stale});
  const auto frames = frames_of(client, false);
  EXPECT_EQ(client.answer()["data"]["target"]["comm"], "redis-server");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].seq, 1u);
  EXPECT_EQ(frames[0].regions[0],
            (RecordedRegion{0, 2 * kMiB, 768, 768, 3, 512, 16 * (12 - 9), 4, 1, 0, 0, -1}));
  EXPECT_TRUE(frames[0].moves.empty());
  EXPECT_EQ(frames[1].regions[0],
            (RecordedRegion{0, 2 * kMiB, 512, 512, 0, 512, 16 * (8 - 9), 4, 4, 3, 12, 2}));
  EXPECT_EQ(frames[1].regions[1].samples, 0) << "of what was not looked at nothing new is known";
  ASSERT_EQ(frames[1].moves.size(), 1u);
  EXPECT_EQ(frames[1].moves[0], (RecordedMove{0, 2 * kMiB, 3, 0, 512, RecordedMove::Reason::hot}));
}

TEST_F(RecorderTest, TellsTheMachineAndTheMappingsWhenMemoryComesAndGoes) {
  start();
  pass(1, {region(0, 3, 3.0)});
  RecordingClient client(config_.socket, kPid);
  run();
  frames_of(client, false);
  ASSERT_EQ(context_.machine.tiers.size(), 4u);
  EXPECT_EQ(context_.machine.tiers[0].nodes, std::vector<int>{0});
  EXPECT_GT(context_.machine.tiers[0].total_bytes, 0u);
  EXPECT_EQ(context_.machine.tier_source, "hmat");
  EXPECT_EQ(context_.machine.page_source, "assumed");
  EXPECT_EQ(context_.mappings, (std::vector<RecordedMapping>{{0, 4 * kMiB, "[heap]"}}));
  tree_.put("proc/4711/maps", "0-400000 rw-p 0 00:00 0 [heap]\n600000-800000 rw-p 0 00:00 0\n");
  pass(2, {region(0, 3, 3.0)});
  frames_of(client, false);
  EXPECT_EQ(context_.mappings.size(), 1u) << "nothing has come, nothing is read";
  pass(3, {region(0, 3, 3.0), region(6 * kMiB, 3, 3.0)});
  frames_of(client, false);
  EXPECT_EQ(context_.mappings.size(), 2u);
}

TEST_F(RecorderTest, EndsWithTheProcessAndWithItsExec) {
  start();
  pass(1, {region(0, 3, 3.0)});
  RecordingClient client(config_.socket, kPid);
  run();
  kernel_.tell(HMK_EVENT_GONE, 0);
  run();
  EXPECT_EQ(attached_.size(), 2u) << "it has another program now";
  EXPECT_EQ(frames_of(client, true).size(), 1u);
  EXPECT_TRUE(client.has_ended());
}

TEST_F(RecorderTest, GoesWithItsClientAndCostsNothingThen) {
  start();
  {
    RecordingClient client(config_.socket, kPid);
    run();
  }
  run();
  pass(1, {region(0, 3, 3.0)});
  EXPECT_EQ(data("status")["targets"].size(), 1u);
}

TEST_F(RecorderTest, OfAnAskerWhoAsksOnNothingMoreIsTold) {
  start();
  RecordingClient client(config_.socket, kPid);
  run();
  client.ask(kPid);
  run();
  client.receive();
  EXPECT_TRUE(client.has_ended());
}

TEST_F(RecorderTest, RefusesWhomItDoesNotManageAndWhoHasNoConnection) {
  start();
  RecordingClient client(config_.socket, 12);
  run();
  client.receive();
  EXPECT_EQ(client.answer()["error"]["what"], "PID 12 is not managed");
  EXPECT_EQ(verb("record", {{"pid", kPid}})["error"]["what"],
            "a recording comes over a connection only");
}

TEST_F(RecorderTest, OnlyTheOwnerOfAProcessMayRecordIt) {
  start();
  EXPECT_EQ(
      run_verb(*app_, {"record", {{"pid", kPid}}, {::geteuid() + 1, false}, 7})["error"]["what"],
      "the addresses of PID 4711 are shown to its owner and to those who may change hmkd");
}

TEST_F(RecorderTest, OnlySoManyAtATimeForThoseWhoMayOnlyRead) {
  start();
  const auto record = [&](std::uint64_t client, bool may_change) {
    return run_verb(*app_, {"record", {{"pid", kPid}}, {::geteuid(), may_change}, client})["ok"];
  };
  for (std::uint64_t client = 101; client <= 104; ++client) EXPECT_EQ(record(client, false), true);
  EXPECT_EQ(record(105, false), false);
  EXPECT_EQ(record(105, true), true);
  run();  // none of them has a connection
  EXPECT_EQ(record(105, false), true);
}

}  // namespace
}  // namespace hmk::test
