// SPDX-License-Identifier: MIT
//
// hmkd end to end without root and without the module: a FakeDevice below, a
// recorded machine around, the real loop, policy and control verbs between.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app.hpp"
#include "fake_device.hpp"
#include "support/sizes.hpp"
#include "tree.hpp"
#include "verbs.hpp"

namespace hmk::test {

using nlohmann::json;

constexpr int kPid = 4711;

class AppTest : public ::testing::Test {
 protected:
  void SetUp() override {
    put_four_tiers(tree_);
    put_process(tree_, kPid, "redis-server");
    config_.socket = (tree_.root() / "control.sock").string();
    config_.attach = {rule_of_pid(kPid)};
    config_.calibration.clear();  // that of the machine that runs the tests
  }

  static hmk_record region(std::uint64_t start, int node, double whi) {
    hmk_record record{};
    record.start = start;
    record.length = 2 * kMiB;
    record.hi_q16 = record.whi_q16 = static_cast<__u32>(whi * 65536);
    record.rate_q8 = static_cast<__s16>(whi * 1024);  // a step is a factor of 16
    record.rate_dev_q8 = 64;
    record.resident_pages = 512;
    record.node = node;
    record.generation = 1;
    record.samples = 1;
    record.leaf_shift = 21;
    return record;
  }

  static Snapshot interval(std::uint64_t seq, std::vector<hmk_record> records) {
    return test::interval(seq, std::move(records));
  }

  /// What an operator does is kept, in a boot of its own, and found by restart().
  void keep_state() {
    state_ = tree_.root() / "state.json";
    tree_.put("proc/sys/kernel/random/boot_id", "boot-1\n");
  }
  void restart() {
    app_.reset();
    start();
  }
  App& start() {
    app_ = std::make_unique<App>(
        loop_, config_,
        App::Options{
            .attach = [this](std::int32_t pid, const hmk_params& params) -> Result<Session> {
              ++nr_tries_;
              if (attach_error_ != 0) return Error{"refused", "", attach_error_};
              attached_.push_back(pid);
              FakeKernel& kernel = pid == kPid ? kernel_ : others_[pid];
              kernel.params = params;
              return Session{
                  std::make_unique<FakeDevice>(kernel), info_, "", {collapse_, page_out_}};
            },
            .root = tree_.root(),
            .module_info = info_,
            .ends_with_last_target = ends_with_last_target_,
            .origins = origins_,
            .read_config = [this] { return file_; },
            .apply_flags = apply_flags_,
            .saved = saved_,
            .state = state_,
            .waits = waits_,
            .newcomers = newcomers_,
            .settle = {},
            .look_parts = look_parts_});
    const Result<void> started = app_->start();
    EXPECT_TRUE(started) << started.error().line();
    return *app_;
  }
  /// All that is ready now; nothing in these tests waits for time.
  void run() {
    while (loop_.poll() > 0) continue;
  }
  /// Where what moved begins, in MiB: all tickets until none follows, each range as `judge` says.
  std::vector<std::uint64_t> finish_all(
      const std::function<hmk_range_result(const hmk_range&)>& judge) {
    std::vector<std::uint64_t> starts;
    for (run(); !kernel_.tickets.empty(); run()) {
      for (const hmk_range& range : kernel_.tickets[0].ranges) starts.push_back(range.start / kMiB);
      kernel_.finish(judge);
    }
    std::ranges::sort(starts);
    return starts;
  }
  json verb(const std::string& name, const json& args = json::object(), bool may_change = true) {
    return run_verb(*app_, {name, args, {0, may_change}});
  }
  json data(const std::string& name, const json& args = json::object()) {
    const json reply = verb(name, args);
    EXPECT_EQ(reply["ok"], true) << reply;
    return reply["data"];
  }
  json target(const std::string& name) { return data(name)["targets"][0]; }

  Tree tree_;
  boost::asio::io_context loop_;
  FakeKernel kernel_;
  std::map<std::int32_t, FakeKernel> others_;  ///< of any PID but kPid
  hmk_info info_ = full_info();
  Config config_;
  Origins origins_;
  ConfigOrProblems file_;  ///< what a reload reads
  std::function<void(ConfigOrProblems&)> apply_flags_;
  std::filesystem::path saved_;
  Waits* waits_ = nullptr;
  Newcomers* newcomers_ = nullptr;
  Advise collapse_, page_out_;
  std::filesystem::path state_;
  int attach_error_ = 0, nr_tries_ = 0;
  unsigned look_parts_ = 0;  ///< of the time: the tests change all from one interval to the next
  bool ends_with_last_target_ = true;
  std::vector<std::int32_t> attached_;
  std::unique_ptr<App> app_;
};

/// Rules instead of the one PID; hmkd stays when nobody is managed.
class AppRulesTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    ends_with_last_target_ = false;
    rule("comm=redis-server");
  }
  void rule(const std::string& word) { config_.attach = {*parse_rule(word)}; }
  json managed() {
    const json status = data("status");
    json pids = json::array();
    for (const json& row : status["targets"]) pids.push_back(row["pid"]);
    return pids;
  }
};

/// Tells what the test says.
class FakeNewcomers final : public Newcomers {
 public:
  void tell(const Told& told) {
    told_ = told;
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }
  int poll_fd() const override { return wake_.get(); }
  Told take() override {
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof(count));
    return std::exchange(told_, std::set<std::int32_t>{});
  }

 private:
  Fd wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  Told told_;
};

class AppToldTest : public AppRulesTest {
 protected:
  void SetUp() override {
    AppRulesTest::SetUp();
    newcomers_ = &told_;
  }
  void tell(const Told& told) {
    told_.tell(told);
    run();
  }
  FakeNewcomers told_;
};

}  // namespace hmk::test
