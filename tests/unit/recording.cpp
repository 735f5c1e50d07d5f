// SPDX-License-Identifier: MIT
#include "record/reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/recording_file.hpp"
#include "support/sizes.hpp"

using namespace hmk;

namespace {

using hmk::test::kMiB;
using hmk::test::RecordingFile;

class Recording : public testing::Test {
 protected:
  ~Recording() override { std::filesystem::remove(path_); }

  static RecordedFrame frame(std::uint64_t seq) {
    return {seq,
            seq * 1'000'000'000,
            (seq + 1) * 1'000'000'000,
            3,
            {{64 * kMiB, 2 * kMiB, 768, 512, 0, 512},
             {66 * kMiB, 6 * kMiB, static_cast<std::uint32_t>(seq), 12, 3, 1000},
             {128 * kMiB, 4096, 0, 0, -1, 0}}};
  }
  void write(bool is_finished = true) {
    RecordingFile file(path_, {4711, "redis-server"});
    for (std::uint64_t seq = 1; seq <= 3; ++seq) file.append(frame(seq));
    if (is_finished) file.finish();
  }
  /// The first error, or how many frames there were.
  std::string read() const {
    auto reader = RecordReader::open(path_);
    if (!reader) return reader.error().line();
    RecordedFrame seen;
    for (int frames = 0;; ++frames) {
      const auto more = reader->next(seen);
      if (!more) return more.error().line();
      if (!*more) return std::to_string(frames);
    }
  }
  void change(std::streamoff at, char byte) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(byte);
  }
  std::string after(const std::string& what) const {
    return path_ + what + "; copy it anew or record again";
  }

  const std::string path_ = testing::TempDir() + "/hmk-recording-" + std::to_string(getpid());
};

TEST_F(Recording, GivesBackWhatWasWritten) {
  write();
  auto reader = RecordReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().line();
  EXPECT_EQ(reader->target(), (RecordedTarget{4711, "redis-server"}));
  RecordedFrame seen;
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    const auto more = reader->next(seen);
    ASSERT_TRUE(more && *more);
    EXPECT_EQ(seen, frame(seq));
  }
  const auto more = reader->next(seen);
  ASSERT_TRUE(more);
  EXPECT_FALSE(*more);
}

TEST_F(Recording, KeepsWhatRegionsLieInAndTheLastOfItCounts) {
  const RecordedContext first{{{{{0, 1}, 90}}, "distance"}, {}},
      last{{{{{0, 1}, 90, 170, 95'000, 1ull << 36}, {{3}}}, "hmat", 5000, "measured"},
           {{kMiB, 2 * kMiB, "[heap]"},
            {2 * kMiB, 3 * kMiB, ""},
            {1ull << 46, (1ull << 46) + 4096, "/a b/c"}}};
  RecordingFile file(path_, {1, "a"});
  file.describe(first);
  file.append(frame(1));
  file.describe(last);
  file.finish();
  auto reader = RecordReader::open(path_);
  ASSERT_TRUE(reader);
  RecordedFrame seen;
  EXPECT_EQ(reader->context(), RecordedContext{});
  ASSERT_TRUE(reader->next(seen));
  EXPECT_EQ(reader->context(), first);
  const auto more = reader->next(seen);
  ASSERT_TRUE(more && !*more);
  EXPECT_EQ(reader->context(), last);
  EXPECT_FALSE(RecordEncoder::addresses({{2 * kMiB, 3 * kMiB, ""}, {kMiB, 2 * kMiB, ""}}));
}

TEST_F(Recording, KeepsRatesAndHowSureTheyAre) {
  RecordingFile file(path_, {1, "a"});
  RecordedFrame written = frame(1);
  written.regions[0].rate_q4 = -160;
  written.regions[1].rate_q4 = 96;
  file.append(written);
  written.regions[0].rate_q4 = 7;
  written.regions[0].samples = 65'535;
  written.regions[1].rate_dev_q4 = 65'535;
  written.regions[1].writes = 3;
  written.regions[1].away_pages = 17;
  written.regions[1].away_node = 2;
  file.append(written);
  file.finish();
  auto reader = RecordReader::open(path_);
  RecordedFrame seen;
  ASSERT_TRUE(reader && reader->next(seen) && reader->next(seen));
  EXPECT_EQ(seen, written);
  EXPECT_EQ(seen.regions[2].rate_q4, RecordedRegion::kNoRate);
}

TEST_F(Recording, KeepsTheMovesWithTheIntervalThatSawTheirEnd) {
  using Reason = RecordedMove::Reason;
  RecordedFrame moved = frame(1);
  moved.moves = {{66 * kMiB, 2 * kMiB, 3, 0, 512, Reason::hot},
                 {64 * kMiB, 2 * kMiB, 0, 3, 0, Reason::exchange},
                 {128 * kMiB, 4096, -1, 1, 1, Reason::put_back}};
  RecordingFile file(path_, {1, "a"});
  file.append(moved);
  file.append(frame(2));
  file.finish();
  auto reader = RecordReader::open(path_);
  RecordedFrame seen;
  ASSERT_TRUE(reader && reader->tells_moves() && reader->next(seen));
  EXPECT_EQ(seen, moved);
  ASSERT_TRUE(reader->next(seen));
  EXPECT_EQ(seen, frame(2)) << "each once";
}

/// A block of a kind that a later version may have, behind the head.
TEST_F(Recording, PassesOverWhatItDoesNotKnowAndNeedNot) {
  write();
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::size_t head = 12 + 8 + 1 + 2 + 1 + 12;  // "T", PID in two bytes, length and name
  const auto with = [&](const std::string& block) {
    std::ofstream(path_, std::ios::binary) << bytes.substr(0, head) << block << bytes.substr(head);
    return read();
  };
  // Length 1, CRC-32 of "z" and of "Z".
  EXPECT_EQ(with(std::string("\1\0\0\0\xaf\x77\xd2\x62z", 9)), "3");
  EXPECT_NE(with(std::string("\1\0\0\0\x67\x57\xbc\x59Z", 9)).find("is damaged at byte 36"),
            std::string::npos);
}

TEST_F(Recording, OfAnUnchangedIntervalTakesOneByteARegion) {
  RecordingFile file(path_, {1, "a"});
  RecordedFrame many{1, 0, 1, 3};
  for (std::uint64_t i = 0; i < 100'000; ++i)
    many.regions.push_back({i * 2 * kMiB, 2 * kMiB, 768, 768, 0, 512});
  file.append(many);
  const std::uint64_t first = file.bytes();
  many.seq = 2;
  file.append(many);
  EXPECT_LT(file.bytes() - first, 100'100u);
}

TEST_F(Recording, WithoutItsEndIsCutShort) {
  write(false);
  const auto size = std::filesystem::file_size(path_);
  EXPECT_EQ(read(), after(": is cut short after 3 intervals, at byte " + std::to_string(size)));
}

TEST_F(Recording, CutAnywhereIsAnErrorAndNothingWorse) {
  write();
  for (auto size = std::filesystem::file_size(path_) - 1; size > 0; --size) {
    std::filesystem::resize_file(path_, size);
    const std::string said = read();
    EXPECT_TRUE(said.find("is cut short after") != std::string::npos ||
                (size < 12 && said.find("is no recording") != std::string::npos))
        << size << ": " << said;
  }
}

TEST_F(Recording, WithAnyOneByteChangedIsAnErrorAndNothingWorse) {
  write();
  const auto size = std::filesystem::file_size(path_);
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  for (std::size_t at = 0; at < size; ++at) {
    change(static_cast<std::streamoff>(at), static_cast<char>(bytes[at] ^ 0x40));
    EXPECT_EQ(read().find(path_ + ": is "), 0u) << at << ": " << read();
    change(static_cast<std::streamoff>(at), bytes[at]);
  }
  EXPECT_EQ(read(), "3");
}

TEST_F(Recording, NamesTheByteThatIsDamaged) {
  write();
  change(25, 'X');  // in the name
  EXPECT_EQ(read(), after(": is damaged at byte 12 (checksum)"));
}

TEST_F(Recording, OfTheFutureSaysWhoCanReadIt) {
  write();
  for (const char version : {'\0', '\4'}) {
    change(8, version);
    EXPECT_EQ(read(), path_ + ": is of format " + std::to_string(int{version}) +
                          ", this version reads 1 to 3; use the version that wrote it");
  }
}

TEST_F(Recording, ThatIsNoneSaysHowToMakeOne) {
  std::ofstream(path_) << "seq,hotness\n1,2\n";
  EXPECT_EQ(read(), path_ + ": is no recording; make one with 'hmkctl record FILE'");
  EXPECT_EQ(RecordReader::open("/nonexistent/x").error().line(),
            "/nonexistent/x: cannot be read: No such file or directory; check the path");
}

TEST_F(Recording, RefusesRegionsOutOfOrder) {
  RecordEncoder encoder;
  RecordedFrame bad = frame(1);
  std::swap(bad.regions[0], bad.regions[1]);
  EXPECT_FALSE(encoder.append(bad));
  RecordedFrame good = frame(1);
  EXPECT_TRUE(encoder.append(good)) << "and goes on with the next";
}

}  // namespace
