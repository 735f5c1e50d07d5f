// SPDX-License-Identifier: MIT
//
// Plans for machines whose fast tiers are full, carried out as the module would.
#include <gtest/gtest.h>

#include <memory>

#include "full_nodes.hpp"
#include "mover/mover.hpp"
#include "policy/plan.hpp"
#include "support/policy.hpp"
#include "topology/tiers.hpp"

namespace hmk {
namespace {

using test::FullNodes;
using test::kMiB;

constexpr std::uint64_t kKiB = 1024;
// Of a node of 512 MiB in a guest, as zoneinfo tells them; a CPU's lists hold as much as the low.
constexpr std::uint64_t kLow = 4400 * kKiB, kHigh = 5280 * kKiB;

/// Four nodes in tiers of their own, the first two full. What is hot lies in the second and third.
class FullTiersTest : public ::testing::Test {
 protected:
  /// `free`: bytes of each node, the watermarks counted; `listed_at_most`: as of FullNodes.
  void set_up(const std::vector<std::uint64_t>& free, std::uint64_t listed_at_most) {
    std::vector<FullNodes::Room> rooms;
    rooms.reserve(free.size());
    for (const std::uint64_t bytes : free)
      rooms.push_back({.free = bytes, .low = kLow, .listed_at_most = listed_at_most});
    nodes_ = FullNodes(std::move(rooms));
    regions_.clear();
    mover_ = std::make_unique<Mover>(device_);
    mover_->set_how({.flags = HMK_MOVE_PAIRED});
    add(200, 0, 0.1);
    add(160, 1, 0.5);
    add(40, 1, 3);
    add(60, 2, 0.5);
    add(12, 2, 3);
  }
  /// So many regions of 2 MiB, one behind the other.
  void add(unsigned nr, int node, double hotness) {
    for (; nr > 0; --nr) {
      const std::uint64_t at_mib = 2 * regions_.size();
      regions_.push_back(test::region(at_mib, 2, node, hotness));
      nodes_.put(at_mib * kMiB, 2 * kMiB, node);
    }
  }
  std::vector<policy::TierView> tiers() const {
    static constexpr std::uint32_t kLatency[] = {90, 145, 275, 340};
    std::vector<policy::TierView> views;
    for (int id = 0; id < 4; ++id) {
      Node node;
      node.total_bytes = (id < 2 ? 512 : 1536) * kMiB;
      node.free_bytes = nodes_.room(id).free;
      node.watermark_bytes = kHigh;
      views.push_back({.node = id,
                       .total = node.total_bytes,
                       .free = usable_free(node),
                       .reserve = node.total_bytes / 128 + below_watermarks(node),
                       .latency_ns = kLatency[id],
                       .bandwidth_mib = 35 * 1024});
    }
    return views;
  }
  /// Returns the bytes that were planned.
  std::uint64_t carry_out() {
    const policy::Plan plan = policy::make_plan(regions_, tiers(), {});
    EXPECT_TRUE(mover_->start(plan, {{0}, {1}, {2}, {3}}, 1));
    while (!kernel_.tickets.empty()) {
      const test::FakeKernel::Ticket ticket = kernel_.tickets.front();
      kernel_.tickets.clear();
      kernel_.finished[ticket.cookie] = nodes_.run(ticket);
      EXPECT_TRUE(mover_->finish(ticket.cookie, 1));
      ranges_ += ticket.ranges.size();
    }
    EXPECT_FALSE(mover_->is_busy());
    return plan.promoted + plan.demoted;
  }
  std::uint64_t moved() const {
    return mover_->counters().promoted_bytes + mover_->counters().demoted_bytes;
  }
  std::uint64_t refused() const { return mover_->counters().refused_bytes[HMK_REFUSED_NO_ROOM]; }

  FullNodes nodes_{{}};
  std::vector<policy::RegionView> regions_;
  std::size_t ranges_ = 0;  // sent
  test::FakeKernel kernel_;
  test::FakeDevice device_{kernel_};
  std::unique_ptr<Mover> mover_;
};

// As a guest was found whose redis-server had filled both: below their high watermarks, the second
// below the low one, too. Of 404 MiB 322 were refused when nothing was sent twice.
TEST_F(FullTiersTest, APlanIsCarriedOutThoughWhatIsFreedIsKeptInLists) {
  for (const std::uint64_t listed : {std::uint64_t{0}, kLow}) {
    set_up({4528 * kKiB, 3528 * kKiB, 1300 * kMiB, 1400 * kMiB}, listed);
    const std::uint64_t planned = carry_out();
    EXPECT_GT(planned, 300 * kMiB);
    EXPECT_EQ(moved(), planned);
    EXPECT_EQ(refused(), 0u);
  }
  EXPECT_LT(ranges_, 4000u);
}

// No tier has room but for crossing. Less than the smallest piece leads to nothing, and soon ends.
TEST_F(FullTiersTest, FullTiersChangePlacesThroughWhatLittleIsFree) {
  for (const std::uint64_t room : {28, 36, 300, 3000}) {
    set_up(std::vector<std::uint64_t>(4, kLow + room * kKiB), 0);
    const std::uint64_t planned = carry_out();
    EXPECT_GT(planned, 300 * kMiB);
    EXPECT_EQ(moved(), room < 32 ? 0 : planned) << room;
    EXPECT_EQ(refused(), room < 32 ? planned : 0) << room;
  }
  set_up(std::vector<std::uint64_t>(4, kLow + 3000 * kKiB), kLow);
  const std::uint64_t planned = carry_out();
  EXPECT_EQ(moved(), planned);
}

}  // namespace
}  // namespace hmk
