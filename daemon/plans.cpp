// SPDX-License-Identifier: MIT
//
// Plans from files, and which process follows which.
#include "app.hpp"
#include "record/mappings.hpp"
#include "util/file.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"

namespace hmk {
namespace {

constexpr std::size_t kMostPlanBytes = 16u << 20;

}  // namespace

Result<void> App::add_plan_part(std::uint64_t client, std::string_view bytes) {
  if (client == 0) return Error{"a plan comes over a connection only", "use 'hmkctl plan load'"};
  std::string& parts = plan_parts_[client];
  if (parts.size() + bytes.size() > kMostPlanBytes)
    return Error{"the plan is larger than " + std::to_string(kMostPlanBytes >> 20) + " MiB",
                 "make one of fewer windows"};
  parts += bytes;
  server_.keep(client);
  return {};
}

Result<void> App::load_plan(std::uint64_t client, std::int32_t pid) {
  Target* const target = find(pid);
  if (target == nullptr)
    return Error{"PID " + std::to_string(pid) + " is not managed",
                 "attach it with 'hmkctl attach " + std::to_string(pid) + "'"};
  auto plan = decode_plan(plan_parts_[client], "the plan");
  plan_parts_.erase(client);
  if (!plan) return plan.error();
  const auto maps = read_text(options_.root / "proc" / std::to_string(pid) / "maps");
  auto follower = Follower::make(*std::move(plan), machine_of(*target, around()),
                                 parse_mappings(maps.value_or("")));
  if (!follower) return follower.error();
  spdlog::info("plan loaded pid={} made_from={} windows={} found_percent={:.0f}", pid,
               printable_word(follower->plan().made_from.comm), follower->plan().windows,
               follower->found_percent());
  target->follow(*std::move(follower));
  return {};
}

Result<void> App::drop_plan(std::int32_t pid) {
  Target* const target = find(pid);
  if (target == nullptr || !target->follower())
    return Error{"PID " + std::to_string(pid) + " follows no plan", "see 'hmkctl plan status'"};
  spdlog::info("plan dropped pid={}", pid);
  target->follow(std::nullopt);
  return {};
}

}  // namespace hmk
