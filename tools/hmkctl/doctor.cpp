// SPDX-License-Identifier: MIT
#include "doctor.hpp"

#include <algorithm>
#include <cerrno>

#include "device/kernel_device.hpp"
#include "util/file.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using State = Finding::State;

void check_daemon(const Context& context, Findings& out) {
  const Reply version = ask(context.socket, "version", {});
  if (version.exit_code != kOk)
    return out.push_back({State::warn, "hmkd", "not reachable at " + context.socket,
                          "systemctl start hmkd, or name its socket with --socket"});
  const std::string theirs = version.data.value(json::json_pointer("/version/hmkd"), "?");
  const Reply status = ask(context.socket, "status", {});
  const std::size_t targets = status.data.value("targets", json::array()).size();
  out.push_back({theirs == HMK_VERSION ? State::ok : State::warn, "hmkd",
                 "version " + theirs + ", mode " +
                     status.data.value(json::json_pointer("/daemon/mode"), "?") + ", " +
                     std::to_string(targets) + (targets == 1 ? " process" : " processes"),
                 theirs == HMK_VERSION ? "" : "hmkctl is " HMK_VERSION ": install one release"});
  check_balanced(ask(context.socket, "stats", {}).data, out);
}

}  // namespace

json to_json(const Findings& findings) {
  constexpr const char* kStates[]{"ok", "note", "warn"};
  json rows = json::array();
  for (const Finding& finding : findings)
    rows.push_back({{"check", finding.check},
                    {"state", kStates[static_cast<int>(finding.state)]},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
  return {{"checks", rows}};
}

Findings diagnose(const Context& context, const fs::path& root) {
  Findings findings;
  check_kernel(root, findings);
  check_loadable(root, findings);
  check_module(root, findings);
  check_daemon(context, findings);
  check_rights(root, findings);
  check_tiers(root, findings);
  check_samples(root, findings);
  check_rivals(root, findings);
  return findings;
}

namespace {

int run_doctor(const Context& context, const fs::path& root) {
  const Findings findings = diagnose(context, root);
  static const std::vector<Table> kTables{
      {"checks",
       {{"state", "STATE"}, {"check", "CHECK"}, {"found", "FOUND"}, {"remedy", "REMEDY"}}}};
  print(to_json(findings), kTables, context.as_json);
  const bool is_fine = std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.state == State::warn; });
  return is_fine ? kOk : kFailed;
}

}  // namespace

void check_module(const fs::path& root, Findings& out) {
  const auto info = hmk::probe_kernel(root / "dev/hmk");
  if (!info && hmk::is_missing(info.error()))
    return out.push_back({State::warn, "module", "hmk.ko is not loaded", info.error().remedy});
  if (!info)
    return out.push_back({info.error().err == EACCES ? State::note : State::warn, "module",
                          info.error().what, info.error().remedy});
  const std::string version = hmk::read_text(root / "sys/module/hmk/version").value_or("?");
  out.push_back({State::ok, "module",
                 "version " + version.substr(0, version.find('\n')) + ", ABI " +
                     std::to_string(info->abi_version)});
  check_features(*info, out);
}

Run make_doctor(CLI::App& verb) {
  auto root = std::make_shared<std::string>("/");
  verb.add_option("--root", *root, "look at a machine recorded below this directory")->group("");
  return [root](const Context& context) { return run_doctor(context, *root); };
}

}  // namespace hmkctl
