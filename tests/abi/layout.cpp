// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/region.h>
#include <hmk/table_reader.h>
#include <linux/hmk.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

extern "C" int abi_read_nothing_in_c(void);

namespace {

#define SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), "size of " #type);
#define AT(type, member, offset) \
  static_assert(offsetof(struct type, member) == (offset), #type "." #member);
#include "abi/layout.inc"
#undef SIZE
#undef AT

// A member written down for each byte: what is left over would be padding.
#define SIZE(type, bytes) {#type, bytes},
#define AT(type, member, offset)
struct Size {
  const char* name;
  std::size_t bytes;
};
constexpr Size kSizes[] = {
#include "abi/layout.inc"
};
#undef SIZE
#undef AT

#define SIZE(type, bytes)
#define AT(type, member, offset) \
  {#type, #member, offset, sizeof(static_cast<struct type*>(nullptr)->member)},
struct Member {
  const char* type;
  const char* name;
  std::size_t offset, size;
};
constexpr Member kMembers[] = {
#include "abi/layout.inc"
};
#undef SIZE
#undef AT

TEST(Abi, HasNoPaddingInAnyStruct) {
  for (const Size& type : kSizes) {
    std::size_t end = 0;
    for (const Member& member : kMembers) {
      if (std::strcmp(member.type, type.name) != 0) continue;
      EXPECT_EQ(member.offset, end) << type.name << "." << member.name;
      end = member.offset + member.size;
    }
    EXPECT_EQ(end, type.bytes) << type.name;
  }
}

TEST(Abi, StructsCanBeCopiedAsBytes) {
  EXPECT_TRUE(std::is_trivially_copyable_v<hmk_record>);
  EXPECT_TRUE(std::is_standard_layout_v<hmk_stats>);
}

TEST(Abi, GivesEachFeatureAndRefusalAPlace) {
  EXPECT_LE(int{HMK_FEAT_NR}, 64);
  EXPECT_LE(HMK_FEAT_NR, static_cast<int>(sizeof(hmk_info::why)));
  EXPECT_LT(int{HMK_REFUSED_GONE}, int{HMK_REFUSED_NR});
}

TEST(Abi, NamesEachParameterByOneBitOfTheMask) {
  const std::uint64_t all[] = {
      HMK_PARAM_INTERVAL,  HMK_PARAM_BUDGET,     HMK_PARAM_NUM_SCANS, HMK_PARAM_ALPHA,
      HMK_PARAM_TAU1,      HMK_PARAM_TAU2,       HMK_PARAM_TAU_STEP,  HMK_PARAM_TOP_K,
      HMK_PARAM_SCOUTS,    HMK_PARAM_FLUSH,      HMK_PARAM_SWITCHES,  HMK_PARAM_SCAN_COST,
      HMK_PARAM_MAX_REGION, HMK_PARAM_WEIGHT,    HMK_PARAM_SEED};
  std::uint64_t seen = 0;
  for (const std::uint64_t bit : all) {
    EXPECT_EQ(bit & (bit - 1), 0u);
    EXPECT_EQ(seen & bit, 0u);
    seen |= bit;
  }
  EXPECT_EQ(seen, HMK_PARAM_ALL);
}

TEST(Abi, SpellsTheTablesMagicInAscii) {
  const std::uint64_t magic = HMK_TABLE_MAGIC;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&magic), 6), "HMKTBL");
}

TEST(Abi, TheReaderIsUsableFromC) {
  EXPECT_EQ(abi_read_nothing_in_c(), -EPROTO);
}

TEST(Abi, ARegionOfTheCoreTakes64Bytes) {
  EXPECT_EQ(sizeof(hmk_region), 64u);
}

}  // namespace
