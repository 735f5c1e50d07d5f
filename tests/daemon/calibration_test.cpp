// SPDX-License-Identifier: MIT
#include "topology/calibration.hpp"

#include <gtest/gtest.h>

#include "app_fixture.hpp"
#include "topology/tiers.hpp"

namespace hmk {
namespace {

using test::Tree;

constexpr double kGB = 1e9;

/// As measured on the machine of test::put_four_tiers(), whose HMAT says otherwise.
Calibration of_four_tiers(const Tree& tree) {
  Calibration all = shape_of(read_machine(tree.root()), cpu_model(tree.root()));
  for (int from = 0; from < 2; ++from)
    for (int to = 0; to < 4; ++to)
      all.access.push_back({from,
                            to,
                            static_cast<std::uint32_t>(80 + 100 * (to ^ from)),
                            static_cast<std::uint32_t>(90 + 200 * (to ^ from)),
                            {10 * kGB, (40 - 5 * to) * kGB}});
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      if (from != to) all.moves.push_back({from, to, {5 * kGB, 8 * kGB}, 1000 + 100.0 * to, 51200});
  return all;
}

class CalibrationTest : public ::testing::Test {
 protected:
  void SetUp() override { test::put_four_tiers(tree_); }
  std::string put(const std::string& text) {
    tree_.put("machine.yaml", text);
    return (tree_.root() / "machine.yaml").string();
  }

  Tree tree_;
};

TEST_F(CalibrationTest, IsReadAsItWasWritten) {
  Calibration written = of_four_tiers(tree_);
  written.cpu = "AMD \"EPYC\": #1, 2.0 GHz";
  const Result<Calibration> read = read_calibration(put(to_yaml(written)));
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(to_yaml(*read), to_yaml(written));
  EXPECT_EQ(read->cpu, written.cpu);
  ASSERT_NE(read->find_move(3, 0), nullptr);
  EXPECT_EQ(read->find_move(3, 0)->copy, (BandwidthByThreads{5 * kGB, 8 * kGB}));
  EXPECT_EQ(read->find_access(1, 3)->latency_ns, 280u);
  EXPECT_EQ(read->find_access(1, 3)->write_latency_ns, 490u);
  EXPECT_TRUE(check_same_machine(*read, written));
}

TEST_F(CalibrationTest, WhatIsWrongInAFileIsOneLineWithItsNumber) {
  const std::string good = to_yaml(of_four_tiers(tree_));
  const auto with = [&](const std::string& old, const std::string& text) {
    std::string changed = good;
    changed.replace(changed.find(old), old.size(), text);
    const Result<Calibration> read = read_calibration(put(changed));
    return read ? "" : read.error().line();
  };
  for (const auto& [old, text] : {std::pair{"latency: 80ns", "latency: 80"},
                                  {"latency: 80ns", "latency: 80s"},
                                  {"write: 90ns", "write: 90"},
                                  {"10000MB/s", "10000MB"},
                                  {"10000MB/s", "0MB/s"},
                                  {"[10000MB/s, 40000MB/s]", "[]"},
                                  {"to: 3", "to: 64"},
                                  {"moves:", "mvoes:"},
                                  {"page: 1000ns", "page: -1ns"},
                                  {"access:", "access: ["}}) {
    const std::string line = with(old, text);
    EXPECT_NE(line.find("machine.yaml:"), std::string::npos) << text << ": " << line;
    EXPECT_NE(line.find("hmkctl calibrate"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
  EXPECT_FALSE(read_calibration(put("")));
  EXPECT_FALSE(read_calibration(put("- a\n- b\n")));
  EXPECT_EQ(read_calibration("/nonexistent/m.yaml").error().err, ENOENT);
}

TEST_F(CalibrationTest, ThatOfAnotherMachineIsRefused) {
  const Calibration here = of_four_tiers(tree_);
  const auto why = [&](auto change) {
    Calibration other = here;
    change(other);
    const Result<void> same = check_same_machine(other, here);
    return same ? "" : same.error().line();
  };
  EXPECT_EQ(why([](Calibration&) {}), "");
  EXPECT_EQ(why([](Calibration& c) { c.nodes[1].bytes += c.nodes[1].bytes / 25; }), "");
  EXPECT_NE(why([](Calibration& c) { c.cpu = "another"; }), "");
  EXPECT_NE(why([](Calibration& c) { c.nodes.pop_back(); }), "");
  EXPECT_NE(why([](Calibration& c) { c.nodes[2].bytes *= 2; }), "");
  EXPECT_NE(why([](Calibration& c) { c.nodes[0].cpus.insert(99); }), "");
}

TEST_F(CalibrationTest, TiersGoByItAndNotByHmat) {
  Machine machine = read_machine(tree_.root());
  EXPECT_EQ(tier_source(machine, {}), "hmat");
  apply(of_four_tiers(tree_), machine);
  EXPECT_EQ(tier_source(machine, {}), "calibrated");
  const std::vector<Tier> tiers = order_tiers(machine, {.homes = {1}});
  ASSERT_EQ(tiers.size(), 4u);
  const std::vector<std::uint32_t> reads{80, 180, 280, 380}, writes{90, 290, 490, 690};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(tiers[t].latency_ns, reads[t]);
    EXPECT_EQ(tiers[t].write_latency_ns, writes[t]);
  }
  EXPECT_EQ(tiers[0].nodes, std::vector{1});
  EXPECT_EQ(tiers[2].nodes, std::vector{3});
  EXPECT_EQ(tiers[0].bandwidth_mib, static_cast<std::uint32_t>(35e9 / (1 << 20)));
  EXPECT_EQ(machine.moves.at({3, 0}).page_ns, 1000);
}

class CalibratedAppTest : public test::AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    config_.calibration = (tree_.root() / "machine.yaml").string();
  }
  void put(const Calibration& measured) { tree_.put("machine.yaml", to_yaml(measured)); }
};

TEST_F(CalibratedAppTest, AutoCopiesByAsManyThreadsAsTheCurveSays) {
  Calibration measured = of_four_tiers(tree_);
  put(measured);
  start();
  EXPECT_EQ(data("tiers")["order"]["source"], "calibrated");
  kernel_.publish(test::interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].how.copy_threads, 1u) << "2 MiB are copied in no time";
  kernel_.finish(test::all_clean);
  data("set", {{"key", "copy_threads"}, {"value", "5"}});
  run();
  kernel_.publish(test::interval(2, {region(8 * test::kMiB, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].how.copy_threads, 5u) << "what was set by hand counts";
}

TEST_F(CalibratedAppTest, TwoThreadsCopyWhereOneWouldNotEndInTime) {
  test::put_node(tree_, {0, "0-3", "10 20 30 40", 262144, 131072, 90, 95000});
  Calibration measured = of_four_tiers(tree_);
  // Three would take what is kept for the program.
  for (Calibration::Move& move : measured.moves) move.copy = {kGB / 1000, 0.9 * kGB, 4 * kGB};
  put(measured);
  start();
  kernel_.publish(test::interval(1, {region(0, 3, 3.0)}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].how.copy_threads, 2u);
}

TEST_F(CalibratedAppTest, AFileOfAnotherMachineIsLeftAsideAtTheStartAndRefusedLater) {
  std::vector<std::string> said;
  const auto warned = hear_warnings([&](std::string_view text) { said.emplace_back(text); });
  Calibration other = of_four_tiers(tree_);
  other.nodes.pop_back();
  put(other);
  start();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("another machine"), std::string::npos) << said[0];
  EXPECT_EQ(data("tiers")["order"]["source"], "hmat");
  tree_.put("other.yaml", to_yaml(other));
  const json refused =
      verb("set", {{"key", "calibration"}, {"value", (tree_.root() / "other.yaml").string()}});
  EXPECT_NE(refused.dump().find("another machine"), std::string::npos) << refused.dump();
  put(of_four_tiers(tree_));
  data("set", {{"key", "weight"}, {"value", "50"}});
  EXPECT_EQ(data("tiers")["order"]["source"], "calibrated") << "it is read anew";
}

}  // namespace
}  // namespace hmk
