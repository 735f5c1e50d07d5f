// SPDX-License-Identifier: MIT
//
// Plans from files, and which process follows which.
#include "app.hpp"
#include "record/mappings.hpp"
#include "util/file.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"
#include "util/private_file.hpp"
#include "util/units.hpp"

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

Result<Follower> App::follower_of(const Target& target, TierPlan plan) {
  const auto maps = read_text(options_.root / "proc" / std::to_string(target.pid()) / "maps");
  return Follower::make(std::move(plan), machine_of(target, around()),
                        parse_mappings(maps.value_or("")));
}

Result<void> App::load_plan(std::uint64_t client, std::int32_t pid) {
  Target* const target = find(pid);
  if (target == nullptr)
    return Error{"PID " + std::to_string(pid) + " is not managed",
                 "attach it with 'hmkctl attach " + std::to_string(pid) + "'"};
  auto plan = decode_plan(plan_parts_[client], "the plan");
  plan_parts_.erase(client);
  if (!plan) return plan.error();
  auto follower = follower_of(*target, *std::move(plan));
  if (!follower) return follower.error();
  spdlog::info("plan loaded pid={} made_from={} windows={} found_percent={:.0f}", pid,
               printable_word(follower->plan().made_from.comm), follower->plan().windows,
               follower->found_percent());
  // Before the first interval has ended: with the first question.
  if (const std::uint64_t now_ns = target->snapshot().interval.end_ns; now_ns != 0)
    follower->begin(now_ns);
  keep_plan(pid, follower->plan());
  target->follow(*std::move(follower));
  save_state();
  return {};
}

Result<void> App::drop_plan(std::int32_t pid) {
  Target* const target = find(pid);
  if (target == nullptr || !target->follower())
    return Error{"PID " + std::to_string(pid) + " follows no plan", "see 'hmkctl plan status'"};
  spdlog::info("plan dropped pid={}", pid);
  target->follow(std::nullopt);
  save_state();
  return {};
}

std::filesystem::path App::plan_file(std::int32_t pid) const {
  return options_.state.parent_path() / "plans" / (std::to_string(pid) + ".hmkplan");
}

/// For a restart. Names of mappings are in it: for the owner alone.
void App::keep_plan(std::int32_t pid, const TierPlan& plan) {
  if (options_.state.empty()) return;
  const std::filesystem::path path = plan_file(pid);
  std::error_code failed;
  std::filesystem::create_directory(path.parent_path(), failed);
  auto file = PendingFile::write(path, encode(plan));
  if (const Result<void> done = file ? file->commit() : file.error(); !done)
    spdlog::warn("plan not kept pid={} reason=\"{}\" hint=\"a restart forgets it\"", pid,
                 done.error().line());
}

/// What the process followed before hmkd started, from where it was.
void App::resume_plan(Target& target) {
  const auto before = plans_before_.extract(target.pid());
  if (!before || before.mapped().start_time != target.process().start_time) return;
  auto plan = read_plan(plan_file(target.pid()));
  auto follower = plan ? follower_of(target, *std::move(plan)) : Result<Follower>(plan.error());
  if (!follower) {
    spdlog::warn("plan not resumed pid={} reason=\"{}\"", target.pid(), follower.error().line());
    return;
  }
  if (before.mapped().begun_ns != 0) follower->begin(before.mapped().begun_ns);
  spdlog::info("plan resumed pid={} windows={}", target.pid(), follower->plan().windows);
  target.follow(*std::move(follower));
}

/// Files of plans that nobody follows.
void App::remove_old_plans(const OperatorState::Plans& followed) const {
  std::error_code failed;
  std::filesystem::directory_iterator file(plan_file(0).parent_path(), failed);
  for (; !failed && file != std::filesystem::directory_iterator{}; file.increment(failed)) {
    const auto pid = parse_count(file->path().stem().string());
    if (file->path().extension() == ".hmkplan" &&
        !(pid && followed.contains(static_cast<std::int32_t>(*pid))))
      std::filesystem::remove(file->path(), failed);
  }
}

}  // namespace hmk
