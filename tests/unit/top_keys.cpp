// SPDX-License-Identifier: MIT
#include "top_keys.hpp"

#include <gtest/gtest.h>
#include <ncurses.h>

#include <set>

using namespace hmkctl;

namespace {

TEST(TopKeys, LeaveScrollAndSort) {
  EXPECT_TRUE(std::holds_alternative<Quit>(action_of('q').value()));
  EXPECT_TRUE(std::holds_alternative<Redraw>(action_of(KEY_RESIZE).value()));
  const std::pair<int, Step> kSteps[]{{KEY_UP, Step::up},         {KEY_DOWN, Step::down},
                                      {KEY_PPAGE, Step::page_up}, {KEY_NPAGE, Step::page_down},
                                      {KEY_HOME, Step::home},     {KEY_END, Step::end},
                                      {KEY_LEFT, Step::left},     {KEY_RIGHT, Step::right}};
  for (const auto& [code, step] : kSteps) EXPECT_EQ(std::get<Step>(action_of(code).value()), step);
  EXPECT_STREQ(std::get<const RegionOrder*>(action_of('h').value())->word, "hot-slow");
  EXPECT_STREQ(std::get<const RegionOrder*>(action_of('a').value())->word, "address");
}

TEST(TopKeys, OfNoMeaningDoNothing) {
  for (const int code : {ERR, 0, int{'x'}, int{'Q'}, int{'H'}, KEY_F(1), 0x110000})
    EXPECT_FALSE(action_of(code)) << code;
}

TEST(TopKeys, AreEachForOneThingAndAllNamedWithinEightyColumns) {
  std::set<int> keys{'q'};
  for (const RegionOrder& order : kRegionOrders) {
    EXPECT_TRUE(keys.insert(order.key).second) << order.key;
    EXPECT_NE(key_help().find(std::string(1, order.key) + " " + order.meaning), std::string::npos);
  }
  std::size_t from = 0;
  for (std::size_t at = 0; (at = key_help().find('\n', from)) != std::string::npos; from = at + 1)
    EXPECT_LE(at - from, 80u);
  EXPECT_LE(key_help().size() - from, 80u);
}

}  // namespace
