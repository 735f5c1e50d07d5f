// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"
#include "mover/memory_pressure.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

/// As a kernel with PSI tells it.
void put_pressure(Tree& tree, const std::string& percent) {
  tree.put("proc/pressure/memory", "some avg10=" + percent +
                                       " avg60=99.00 avg300=99.00 total=1234\n"
                                       "full avg10=99.00 avg60=99.00 avg300=99.00 total=987\n");
}

class MemoryPressureTest : public ::testing::Test {
 protected:
  bool is_high(const std::string& percent, std::uint32_t limit_bp = 1000) {
    put_pressure(tree_, percent);
    pressure_.saw(tree_.root(), limit_bp);
    return pressure_.is_high();
  }
  Tree tree_;
  MemoryPressure pressure_;
};

TEST_F(MemoryPressureTest, HighFromTheLimitOnUntilBelowHalfOfIt) {
  EXPECT_FALSE(is_high("0.00"));
  EXPECT_FALSE(is_high("9.99"));
  EXPECT_TRUE(is_high("10.00"));
  EXPECT_TRUE(is_high("5.00"));
  EXPECT_FALSE(is_high("4.99"));
  EXPECT_FALSE(is_high("9.99"));
  EXPECT_TRUE(is_high("100.00"));
  EXPECT_EQ(pressure_.now_bp(), 10000);
}

TEST_F(MemoryPressureTest, WithoutALimitItIsNeverHighAndToldAllTheSame) {
  EXPECT_TRUE(is_high("50.00"));
  EXPECT_FALSE(is_high("50.07", 0));
  EXPECT_EQ(pressure_.now_bp(), 5007);
}

TEST_F(MemoryPressureTest, AKernelThatDoesNotTellHasNone) {
  EXPECT_TRUE(is_high("50.00"));
  for (const char* const text : {"", "full avg10=99.00 avg60=99.00 avg300=99.00 total=1\n"}) {
    tree_.put("proc/pressure/memory", text);
    pressure_.saw(tree_.root(), 1000);
    EXPECT_FALSE(pressure_.is_high());
    EXPECT_FALSE(pressure_.now_bp());
  }
  tree_.remove("proc/pressure");
  pressure_.saw(tree_.root(), 1000);
  EXPECT_FALSE(pressure_.is_high());
}

TEST_F(AppTest, NothingRisesWhileProgramsWaitForMemory) {
  config_.mode = Mode::manage;
  config_.pressure_limit_bp = 1000;
  put_pressure(tree_, "12.50");
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 1, 0.0)}));
  run();
  EXPECT_TRUE(kernel_.tickets.empty());
  const json told = data("status")["daemon"];
  EXPECT_EQ(told["memory_pressure_percent"], 12.5);
  EXPECT_EQ(told["promotions_paused"], true);

  put_pressure(tree_, "1.00");
  kernel_.publish(interval(2, {region(0, 3, 3.0), region(4 * kMiB, 1, 0.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 0u) << "what rises";
  EXPECT_EQ(data("status")["daemon"]["promotions_paused"], false);
}

TEST_F(AppTest, AsItShipsItRisesAllTheSame) {
  config_.mode = Mode::manage;
  put_pressure(tree_, "99.00");
  start();
  kernel_.publish(interval(1, {region(0, 3, 3.0), region(4 * kMiB, 3, 0.0)}));
  run();
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST(PressureLimit, IsNoneOrFromOneToAHundredPercent) {
  Config config;
  const Key& key = *find_key("pressure_limit");
  for (const char* const good : {"none", "1%", "100%", "2.5%"}) {
    EXPECT_TRUE(key.set(config, good)) << good;
    EXPECT_EQ(key.get(config), good);
  }
  for (const char* const bad : {"0%", "0.99%", "100.01%", "no", "", "10 MiB"})
    EXPECT_FALSE(key.set(config, bad)) << bad;
  EXPECT_EQ(key.get(config), "2.5%");
}

}  // namespace
}  // namespace hmk
