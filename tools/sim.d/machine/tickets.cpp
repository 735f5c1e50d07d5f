// SPDX-License-Identifier: MIT
#include "machine/tickets.hpp"

#include <algorithm>
#include <cerrno>

#include "machine/watcher.hpp"

namespace hmk::sim {

namespace {

std::uint64_t first_page(const hmk_range& range) {
  return (range.start - Watcher::kStart) / Memory::kPage;
}

std::uint64_t nr_pages(const hmk_range& range) {
  return range.length / Memory::kPage;
}

}  // namespace

/// Of 4 KiB, also of a leaf's part.
double Tickets::page_ns(int from, int to) const {
  const Bytes leaf = memory_->leaf_pages() * Memory::kPage;
  const double leaf_ns = prices_.page_ns > 0
                             ? prices_.page_ns * static_cast<double>(memory_->leaf_pages())
                             : machine_->move_ns(from, to, leaf);
  const double least =
      prices_.limit_mbps > 0 ? static_cast<double>(leaf) * 1e3 / prices_.limit_mbps : 0;
  return std::max(leaf_ns, least) / static_cast<double>(memory_->leaf_pages());
}

double Tickets::range_ns(const hmk_range& range) const {
  double ns = 0;
  const std::uint64_t end = std::min(first_page(range) + nr_pages(range), memory_->pages());
  for (std::uint64_t page = first_page(range); page < end; ++page)
    if (memory_->node(page) != range.node) ns += page_ns(memory_->node(page), range.node);
  return ns;
}

/// Paired, two ranges are under way at a time.
std::uint64_t Tickets::duration(const Ticket& ticket) const {
  double ns = 0;
  for (const hmk_range& range : ticket.ranges) ns += range_ns(range);
  return static_cast<std::uint64_t>(ticket.flags & HMK_MOVE_PAIRED ? ns / 2 : ns) + 1;
}

void Tickets::take(std::uint64_t cookie, std::span<const hmk_range> ranges, std::uint32_t flags,
                   std::uint64_t now) {
  Ticket ticket{cookie, {ranges.begin(), ranges.end()}, flags, 0, false};
  const std::uint64_t begins = waiting_.empty() ? now : std::max(now, waiting_.back().ends_at);
  ticket.ends_at = begins + duration(ticket);
  waiting_.push_back(std::move(ticket));
}

void Tickets::cancel(std::uint64_t cookie, std::uint64_t now) {
  const auto found = std::ranges::find(waiting_, cookie, &Ticket::cookie);
  if (found == waiting_.end()) return;
  found->is_cancelled = true;
  found->ends_at = std::min(found->ends_at, now + 1);
}

std::optional<std::uint64_t> Tickets::ends_at() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().ends_at;
}

hmk_range_result Tickets::move(const hmk_range& range) {
  hmk_range_result result{};
  const double cost_ns = range_ns(range);
  std::uint64_t risen = 0, moved = 0;
  const auto tier = [&](int node) { return std::ranges::find(machine_->tiers, node); };
  const Memory::Moved came = memory_->move(first_page(range), nr_pages(range), range.node,
                                           [&](std::uint64_t page, int from) {
                                             program_->moved(page, from);
                                             ++moved;
                                             risen += tier(range.node) < tier(from);
                                           });
  const auto all = came.pages + came.no_room;
  const double part = all == 0 ? 0 : static_cast<double>(came.pages) / static_cast<double>(all);
  const double exposed = prices_.exposed_ns * static_cast<double>(came.pages) /
                         static_cast<double>(memory_->leaf_pages());
  result.pages_clean = came.pages;
  result.pages_already = came.already;
  result.refused[HMK_REFUSED_NO_ROOM] = came.no_room;
  result.copy_ns = static_cast<__u64>(cost_ns * part);
  result.commit_ns = static_cast<__u64>(exposed);
  program_->stall(exposed);
  risen_ += risen * Memory::kPage;
  fallen_ += (moved - risen) * Memory::kPage;
  exposed_ns_ += exposed;
  spent_ns_ += cost_ns * part + exposed;
  return result;
}

std::uint64_t Tickets::end() {
  const Ticket ticket = std::move(waiting_.front());
  waiting_.pop_front();
  std::vector<hmk_range_result>& results = ended_[ticket.cookie];
  for (const hmk_range& range : ticket.ranges) {
    hmk_range_result cancelled{};
    cancelled.error = -ECANCELED;
    results.push_back(ticket.is_cancelled ? cancelled : move(range));
  }
  return ticket.cookie;
}

std::optional<std::vector<hmk_range_result>> Tickets::result(std::uint64_t cookie) {
  const auto found = ended_.find(cookie);
  if (found == ended_.end()) return std::nullopt;
  std::vector<hmk_range_result> results = std::move(found->second);
  ended_.erase(found);
  return results;
}

}  // namespace hmk::sim
