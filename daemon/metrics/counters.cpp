// SPDX-License-Identifier: MIT
#include "metrics/counters.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace hmk {

std::string_view refusal_name(unsigned reason) {
  static constexpr std::array<std::string_view, HMK_REFUSED_NR> kNames{
      "pinned", "shared", "busy", "no_room", "kind", "gone", "policy", "poisoned"};
  return reason < kNames.size() ? kNames[reason] : std::string_view{};
}

std::string_view reason_name(policy::Reason reason) {
  static constexpr std::array<std::string_view, kReasons> kNames{
      "hot",      "gather", "made_room", "exchange", "share",
      "put_back", "plan",   "pin",       "for_pin",  "hint"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::uint64_t moved_pages(const hmk_range_result& result) {
  return result.pages_clean + result.pages_recopied + result.pages_sync;
}

std::uint64_t refused_pages(const hmk_range_result& result) {
  return std::accumulate(std::begin(result.refused), std::end(result.refused), std::uint64_t{0});
}

void MoveCounters::add(const Moved& what, const hmk_range_result& result) {
  const std::uint64_t bytes = moved_pages(result) * HMK_PAGE_SIZE;
  (what.is_promotion ? promoted_bytes : demoted_bytes) += bytes;
  PairCounters& pair = pairs[{what.from_tier, what.to_tier}];
  for (std::size_t reason = 0; reason < refused_bytes.size(); ++reason) {
    refused_bytes[reason] += result.refused[reason] * HMK_PAGE_SIZE;
    pair.refused_bytes[reason] += result.refused[reason] * HMK_PAGE_SIZE;
  }
  if (result.error != 0 && result.error != -ECANCELED) {
    ++failed_ranges;
    failed_bytes += what.length;
  }
  pages_clean += result.pages_clean;
  pages_recopied += result.pages_recopied;
  pages_sync += result.pages_sync;
  chunks += result.chunks;
  chunks_switched += result.chunks_switched;
  copy_ns += result.copy_ns;
  commit_ns += result.commit_ns;
  commit_max_ns = std::max<std::uint64_t>(commit_max_ns, result.commit_max_ns);
  pair.moved_bytes += bytes;
  pair.bytes_by_reason[static_cast<std::size_t>(what.reason)] += bytes;
  ++pair.ranges;
}

std::string_view not_joined_name(NotJoined why) {
  static constexpr std::array<std::string_view, kNotJoined> kNames{"busy", "no_memory", "unfit",
                                                                   "denied", "gone"};
  return kNames[static_cast<std::size_t>(why)];
}

NotJoined why_not_joined(int err) {
  switch (err) {
    case EAGAIN:
    case EBUSY:
      return NotJoined::busy;
    case ENOMEM:
      return NotJoined::no_memory;
    case EPERM:
    case EACCES:
    case ENOSYS:
      return NotJoined::denied;
    case ESRCH:
      return NotJoined::gone;
    default:
      return NotJoined::unfit;
  }
}

void JoinCounters::add(int err, std::uint64_t took_ns) {
  if (err == 0)
    ++joined;
  else
    ++not_joined[static_cast<std::size_t>(why_not_joined(err))];
  ns += took_ns;
  longest_ns = std::max(longest_ns, took_ns);
}

}  // namespace hmk
