// SPDX-License-Identifier: MIT
#include "plan.hpp"

namespace hmkctl {

Run make_plan(CLI::App& verb) {
  const auto add = [&](const char* name, const char* help, MakeVerb make) {
    CLI::App* const part = verb.add_subcommand(name, help);
    part->fallthrough();
    return std::pair(part, make(*part));
  };
  const std::vector parts{
      add("bound",
          "how near a recorded program's memory was to the best placement that is possible",
          make_plan_bound),
      add("schedule",
          "where a recorded program's memory should lie from window to window, for another run",
          make_plan_schedule),
      add("pins", "which of a recorded program's memory belongs in which tier for the whole run",
          make_plan_pins),
      add("size", "how much fast memory a program needs, by a recording of it", make_plan_size),
      add("tune", "which values of hmkd's keys are best for a recorded program, by simulation",
          make_plan_tune),
      add("cut", "which data should live in slow memory, for the least traffic between the two",
          make_plan_cut),
      add("load", "let the memory of a process follow a plan, instead of the policy",
          make_plan_load),
      add("drop", "let the policy decide about a process again", make_plan_drop),
      add("status", "the processes that follow a plan, and how far they are", make_plan_status)};
  verb.require_subcommand(1);
  return [parts](const Context& context) {
    for (const auto& [part, run] : parts)
      if (part->parsed()) return run(context);
    return static_cast<int>(kUsage);
  };
}

}  // namespace hmkctl
