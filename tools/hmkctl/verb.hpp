// SPDX-License-Identifier: MIT
//
// A verb of hmkctl: its options, and what it does once they are parsed. One file
// per verb; main.cpp holds the table of them all.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client.hpp"
#include "parsed.hpp"
#include "table.hpp"

namespace hmkctl {

/// What every verb is run with.
struct Context {
  std::string socket = "/run/hmk/control.sock";
  bool as_json = false;
};

using Run = std::function<int(const Context&)>;

/// Declares the verb's own options and returns what runs it.
using MakeVerb = Run (*)(CLI::App& verb);

Run make_status(CLI::App& verb);
Run make_tiers(CLI::App& verb);
Run make_regions(CLI::App& verb);
Run make_top(CLI::App& verb);
Run make_stats(CLI::App& verb);
Run make_gain(CLI::App& verb);
Run make_labels(CLI::App& verb);
Run make_why(CLI::App& verb);
Run make_events(CLI::App& verb);
Run make_get(CLI::App& verb);
Run make_config(CLI::App& verb);
Run make_set(CLI::App& verb);
Run make_attach(CLI::App& verb);
Run make_detach(CLI::App& verb);
Run make_record(CLI::App& verb);
Run make_heatmap(CLI::App& verb);
Run make_reload(CLI::App& verb);
Run make_pause(CLI::App& verb);
Run make_resume(CLI::App& verb);
Run make_try(CLI::App& verb);
Run make_ab(CLI::App& verb);
Run make_report(CLI::App& verb);
Run make_plan(CLI::App& verb);
Run make_measure(CLI::App& verb);
Run make_calibrate(CLI::App& verb);
Run make_doctor(CLI::App& verb);
Run make_completion(CLI::App& verb);
Run make_version(CLI::App& verb);

/// A line per problem to stderr, or one JSON object; returns the exit code.
int fail(const Context& context, const Reply& reply);
int fail(const Context& context, const hmk::Error& error);

/// The answer as JSON, or as `print` shows it; kOk.
int tell(const Context& context, const nlohmann::json& answer,
         const std::function<void(const nlohmann::json&)>& print);

/// Declares --pid; gives the arguments of a request for that process, or for all.
std::function<nlohmann::json()> pid_option(CLI::App& verb);

/// A picture that the verb's --svg asked for.
int write_picture(const Context& context, const std::string& path, const std::string& svg);

/// Ask, then print by description or fail: what most verbs are.
int show(const Context& context, const std::string& verb, const nlohmann::json& args,
         const std::vector<Table>& tables);

/// The description of `set` and `reload`.
const std::vector<Table>& change_tables();
/// The description of `status`, shared with `top`.
const std::vector<Table>& status_tables();
/// The description of `regions`, shared with `top`.
const std::vector<Table>& region_tables();
/// Gives each region of a row of `regions` its `mapping`, null where it is not known.
void name_mappings(nlohmann::json& target, const std::string& root);

}  // namespace hmkctl
