// SPDX-License-Identifier: MIT
#include "hints/hint_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/hint_bytes.hpp"

using namespace hmk;
using hmk::test::HintBytes;

namespace {

constexpr std::uint64_t kPage = 4096, kTiB = 1ull << 40, kUserEnd = 1ull << 56;
constexpr std::size_t kTableBytes =
    HMK_HINTS_HEADER + (HMK_HINTS_SLOTS + 1) * sizeof(hmk_hint_slot);

std::uint64_t said(hmk_says says, std::uint64_t sixteenths = 16, std::uint64_t number = 1) {
  return says | sixteenths << HMK_SAID_PASSES_SHIFT | number << HMK_SAID_NUMBER_SHIFT;
}

std::vector<Hint> read_one(std::uint64_t start, std::uint64_t bytes,
                           std::uint64_t word = said(HMK_SAYS_READ)) {
  HintBytes table(1);
  table.put(0, start, bytes, word);
  return read_hints(table.bytes());
}

TEST(HintTable, TellsWhatIsSaidOfEachObject) {
  HintBytes table(3);
  table.put(0, 0x10000, 0x4000, said(HMK_SAYS_WRITE, 24, 7), "weights");
  table.put(2, 0x20000, 0x1000, said(HMK_SAYS_NOTHING), "");
  const auto hints = read_hints(table.bytes());
  ASSERT_EQ(hints.size(), 2u) << "slot 1 is empty";
  EXPECT_EQ(hints[0], (Hint{.slot = 0,
                            .start = 0x10000,
                            .end = 0x14000,
                            .says = HMK_SAYS_WRITE,
                            .passes = 1.5,
                            .number = 7,
                            .label = "weights"}));
  EXPECT_EQ(hints[1].slot, 2u);
  EXPECT_EQ(hints[1].label, "");
}

TEST(HintTable, TakesTheWholePagesInside) {
  const auto inside = read_one(kPage + 1, 3 * kPage);
  ASSERT_EQ(inside.size(), 1u);
  EXPECT_EQ(inside[0].start, 2 * kPage);
  EXPECT_EQ(inside[0].end, 4 * kPage);
  EXPECT_TRUE(read_one(kPage + 1, 2 * kPage - 2).empty()) << "none";
  EXPECT_EQ(read_one(kPage + 1, 2 * kPage - 1).size(), 1u);
}

TEST(HintTable, LeavesOutWhatNoProgramHas) {
  EXPECT_EQ(read_one(0, kTiB).size(), 1u);
  EXPECT_TRUE(read_one(0, kTiB + 1).empty());
  EXPECT_EQ(read_one(kUserEnd - kTiB, kTiB).size(), 1u);
  EXPECT_TRUE(read_one(kUserEnd - kTiB + kPage, kTiB).empty());
  EXPECT_TRUE(read_one(~0ull - kPage, 2 * kPage).empty()) << "wraps";
  EXPECT_TRUE(read_one(0, ~0ull).empty());
  EXPECT_EQ(read_one(0, kPage, said(HMK_SAYS_RETIRED)).size(), 1u);
  EXPECT_TRUE(read_one(0, kPage, HMK_SAYS_RETIRED + 1).empty());
}

TEST(HintTable, NoPassIsTheLeastThatCanBeSaid) {
  EXPECT_EQ(read_one(0, kPage, said(HMK_SAYS_READ, 0))[0].passes, 1.0 / 16);
  EXPECT_EQ(read_one(0, kPage, said(HMK_SAYS_READ, 65535))[0].passes, 65535.0 / 16);
}

TEST(HintTable, LeavesOutASlotThatNeverStandsStill) {
  HintBytes table(1);
  table.put(0, 0, kPage, said(HMK_SAYS_READ));
  table.slot(0).seq = 1;
  EXPECT_TRUE(read_hints(table.bytes()).empty());
  table.slot(0).seq = 2;
  EXPECT_EQ(read_hints(table.bytes()).size(), 1u);
}

TEST(HintTable, ALabelEndsWhereItsSlotDoes) {
  HintBytes table(1);
  table.put(0, 0, kPage, said(HMK_SAYS_READ), std::string(HMK_HINTS_LABEL, 'a'));
  EXPECT_EQ(read_hints(table.bytes())[0].label, std::string(HMK_HINTS_LABEL, 'a'));
}

TEST(HintTable, ReadsNoFurtherThanThereIs) {
  HintBytes table(2);
  table.put(1, 0, kPage, said(HMK_SAYS_READ));
  table.header().slots_used = ~0u;
  EXPECT_EQ(read_hints(table.bytes()).size(), 1u);
  table.header().slots_used = 1;
  EXPECT_TRUE(read_hints(table.bytes()).empty());
  EXPECT_TRUE(read_hints(table.bytes().first(100)).empty());
  EXPECT_TRUE(read_hints({}).empty());
}

Fd memory(off_t bytes, int seals, unsigned flags = MFD_ALLOW_SEALING) {
  Fd fd(::memfd_create("table", flags | MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(fd.get(), bytes), 0);
  EXPECT_TRUE(seals == 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

Fd good_table(int seals = F_SEAL_SHRINK | F_SEAL_GROW, std::uint64_t magic = HMK_HINTS_MAGIC) {
  Fd fd = memory(kTableBytes, 0);
  const hmk_hints_header header{.magic = magic,
                                .layout = HMK_HINTS_LAYOUT,
                                .slot_size = sizeof(hmk_hint_slot),
                                .nr_slots = HMK_HINTS_SLOTS,
                                .slots_used = 0,
                                .reserved = {},
                                .asleep = 0,
                                .reserved_hmkd = {}};
  EXPECT_EQ(::pwrite(fd.get(), &header, sizeof(header), 0), static_cast<ssize_t>(sizeof(header)));
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

std::string refusal(Fd fd) {
  const auto table = HintTable::adopt(std::move(fd));
  return table ? "" : table.error().what;
}

TEST(HintTable, IsTakenWhenItCannotShrink) {
  EXPECT_EQ(refusal(good_table()), "");
  const std::string unsealed = "the table of hints is no sealed memory";
  EXPECT_EQ(refusal(good_table(F_SEAL_GROW)), unsealed);
  EXPECT_EQ(refusal(good_table(F_SEAL_SHRINK)), unsealed);
  EXPECT_EQ(refusal(memory(kTableBytes, 0, 0)), unsealed);
  EXPECT_EQ(refusal(Fd(::open("/dev/zero", O_RDWR | O_CLOEXEC))), unsealed);
  EXPECT_EQ(refusal(Fd(::open("/", O_RDONLY | O_CLOEXEC))), unsealed);
  EXPECT_EQ(refusal(Fd()), unsealed);
}

TEST(HintTable, IsRefusedInAnotherSizeOrLayout) {
  for (const off_t bytes : {off_t{0}, off_t{kTableBytes} - 1, off_t{kTableBytes} + 1})
    EXPECT_EQ(refusal(memory(bytes, F_SEAL_SHRINK | F_SEAL_GROW)),
              "the table of hints has another size");
  EXPECT_EQ(refusal(good_table(F_SEAL_SHRINK | F_SEAL_GROW, 1)),
            "the table of hints has another layout");
  EXPECT_NE(refusal(good_table(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)).find("is not mapped"),
            std::string::npos);
}

TEST(HintTable, FallsAsleepWhereTheProgramSees) {
  Fd fd = good_table();
  const int copy = ::dup(fd.get());
  const auto table = HintTable::adopt(std::move(fd));
  ASSERT_TRUE(table);
  (*table).fall_asleep();
  hmk_hints_header header{};
  ASSERT_EQ(::pread(copy, &header, sizeof(header), 0), static_cast<ssize_t>(sizeof(header)));
  EXPECT_EQ(header.asleep, 1u);
  ::close(copy);
}

}  // namespace
