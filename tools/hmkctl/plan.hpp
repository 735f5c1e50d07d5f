// SPDX-License-Identifier: MIT
//
// What could be done with a program's memory, worked out beforehand and without hmkd, and what hmkd
// does with it: the parts of `hmkctl plan`.
#pragma once

#include "verb.hpp"

namespace hmkctl {

Run make_plan_bound(CLI::App& verb);
Run make_plan_schedule(CLI::App& verb);
Run make_plan_pins(CLI::App& verb);
Run make_plan_size(CLI::App& verb);
Run make_plan_tune(CLI::App& verb);
Run make_plan_cut(CLI::App& verb);
Run make_plan_load(CLI::App& verb);
Run make_plan_drop(CLI::App& verb);
Run make_plan_status(CLI::App& verb);

}  // namespace hmkctl
