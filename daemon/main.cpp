// SPDX-License-Identifier: MIT
//
// hmkd: decide which memory of which process belongs into which tier.
// Exit codes: 0 ok, 1 failed, 2 usage, 3 the module is required and not loaded.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "app.hpp"
#include "config/saved.hpp"
#include "device/kernel_device.hpp"
#include "device/plain_device.hpp"
#include "topology/process.hpp"
#include "util/cli.hpp"
#include "util/log.hpp"
#include "util/printable.hpp"
#include "util/suggest.hpp"

namespace {

constexpr int kOk = 0, kFailed = 1, kUsage = 2, kNoModule = 3;
constexpr const char* kDefaultConfig = "/etc/hmk/hmkd.yaml";
constexpr const char* kDefaultFolder = "/etc/hmk/conf.d";

struct Flags {
  std::string config;  ///< empty: the default one, if there is one
  std::string folder;  ///< empty: the default one, beside the default config
  bool check_config = false;
  int pid = 0;
  bool track_only = false;
  std::string socket;
  std::string log_level;
  std::string device = HMK_DEVICE_PATH;
  std::string state;  ///< empty: nothing is kept
  bool require_module = false;
};

int fail(const std::string& line) {
  std::fprintf(stderr, "hmkd: %s\n", hmk::printable(line).c_str());
  return kFailed;
}

/// What the command line says counts before the file and what was saved.
void apply(const Flags& flags, hmk::ConfigOrProblems& read) {
  const auto take = [&](const char* key, const char* flag) {
    read.origins[key] = {hmk::Origin::Kind::flag, flag};
  };
  hmk::Config& config = read.config;
  if (flags.track_only) config.mode = hmk::Mode::track_only, take("mode", "--track-only");
  if (!flags.socket.empty()) config.socket = flags.socket, take("socket", "--socket");
  if (!flags.log_level.empty())
    config.log_level = flags.log_level, take("log_level", "--log-level");
  if (flags.pid != 0) config.attach = {hmk::rule_of_pid(flags.pid)}, take("attach", "--pid");
}

/// The files. Without --config a missing default file means the defaults.
hmk::ConfigOrProblems read_files(const Flags& flags) {
  hmk::ConfigOrProblems file;
  if (!flags.config.empty())
    file = hmk::read_config_file(flags.config);
  else if (std::filesystem::exists(kDefaultConfig))
    file = hmk::read_config_file(kDefaultConfig);
  if (!flags.folder.empty() && !std::filesystem::is_directory(flags.folder))
    file.problems.push_back(flags.folder + ": is no folder; check the path of --config-dir");
  if (flags.folder.empty() && !flags.config.empty()) return file;
  return hmk::read_config_folder(flags.folder.empty() ? kDefaultFolder : flags.folder,
                                 std::move(file));
}

/// Nothing where no folder for it is known.
std::filesystem::path kept_file(const Flags& flags, const char* name) {
  return flags.state.empty() ? "" : std::filesystem::path(flags.state) / name;
}

hmk::ConfigOrProblems load_config(const Flags& flags) {
  hmk::ConfigOrProblems got = hmk::read_saved(kept_file(flags, "saved.yaml"), read_files(flags));
  apply(flags, got);
  return got;
}

/// systemd's StateDirectory=, if hmkd is its service; of several the first.
std::string state_of_service() {
  const char* const folders = std::getenv("STATE_DIRECTORY");
  const std::string_view all = folders == nullptr ? "" : folders;
  return std::string(all.substr(0, all.find(':')));
}

int misused(const CLI::App& cli, const CLI::ParseError& error) {
  std::string what = error.what(), remedy;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !cli.remaining().empty()) {
    const std::vector<std::string> options = hmk::long_options(cli);
    const std::string word = cli.remaining().front();
    what = (word.starts_with('-') ? "unknown option '" : "unexpected '") + word + "'";
    remedy = hmk::did_you_mean(word, std::vector<std::string_view>(options.begin(), options.end()));
  }
  fail(what + "; " + (remedy.empty() ? "see 'hmkd --help'" : remedy));
  return kUsage;
}

int serve(const Flags& flags, hmk::ConfigOrProblems read) {
  hmk::Config config = std::move(read.config);
  // What is wrong with the PID is said first: it is what was just typed.
  if (flags.pid != 0)
    if (const auto process = hmk::read_process("/", flags.pid); !process)
      return fail(process.error().line());
  const auto info = hmk::probe_kernel(flags.device);
  const bool is_missing = !info && hmk::is_missing(info.error());
  const bool is_without = is_missing && !flags.require_module;
  if (!info && !is_without) {
    fail(info.error().line());
    return is_missing ? kNoModule : kFailed;  // to start again before it is loaded is of no use
  }

  hmk::open_log(config.log_level);
  if (is_without)
    spdlog::warn(
        "degraded reason=\"{}\" hint=\"goes on with what the kernel offers: costs more, "
        "sees less; moves block the process\"",
        info.error().line());
  const auto waits = hmk::Waits::open();
  const auto newcomers = hmk::Newcomers::open();
  boost::asio::io_context loop(1);
  hmk::App app(loop, std::move(config),
               {.attach =
                    [&](std::int32_t pid, const hmk_params& params) {
                      auto session = hmk::attach_kernel(flags.device, pid, params);
                      if (session || !hmk::is_missing(session.error()) || flags.require_module)
                        return session;
                      return hmk::attach_plain("/", pid, params);
                    },
                .root = "/",
                .module_info = info ? *info : hmk_info{},
                .ends_with_last_target = flags.pid != 0,
                .origins = std::move(read.origins),
                .read_config = [&] { return read_files(flags); },
                .apply_flags = [&](hmk::ConfigOrProblems& all) { apply(flags, all); },
                .saved = kept_file(flags, "saved.yaml"),
                .state = flags.pid != 0 ? "" : kept_file(flags, "state.json"),
                .waits = waits ? waits->get() : nullptr,
                .newcomers = newcomers ? newcomers->get() : nullptr});
  if (const auto started = app.start(); !started) return fail(started.error().line());
  if (!waits) spdlog::info("reason=\"{}\"", waits.error().line());
  if (!newcomers)
    spdlog::info("reason=\"{}\" hint=\"looks for them every attach_poll\"",
                 newcomers.error().line());
  loop.run();
  return kOk;
}

int run(int argc, char** argv) {
  Flags flags;
  CLI::App cli{"Place the memory of processes into the tiers of the machine.", "hmkd"};
  cli.add_option("--config", flags.config,
                 std::string("config file (default ") + kDefaultConfig + ", if it exists)");
  cli.add_option("--config-dir", flags.folder,
                 std::string("folder of files laid over it (default ") + kDefaultFolder +
                     "; with --config none)");
  cli.add_flag("--check-config", flags.check_config, "check the config and end");
  cli.add_option("--pid", flags.pid, "manage this process only; end when it ends")
      ->check(CLI::Range(1, 4194304));
  cli.add_flag("--track-only", flags.track_only, "profile and plan, move nothing");
  cli.add_option("--socket", flags.socket, "control socket");
  cli.add_option("--foreground-log-level,--log-level", flags.log_level,
                 "error, warn, info or debug")
      ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
  cli.add_option("--device", flags.device, "device of the module")->capture_default_str();
  cli.add_flag("--require-module", flags.require_module,
               "end without the module, rather than go on with what the kernel offers");
  cli.add_option(
      "--state", flags.state,
      "folder for what is kept over a restart (default: systemd's $STATE_DIRECTORY, else "
      "nothing is kept)");
  cli.set_version_flag("--version", HMK_VERSION);
  cli.footer("Exit codes: 0 ok, 1 failed, 2 usage, 3 the module is required and not loaded.");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return cli.exit(e);
  } catch (const CLI::ParseError& e) {
    return misused(cli, e);
  }

  if (flags.state.empty()) flags.state = state_of_service();
  hmk::ConfigOrProblems got = load_config(flags);
  for (const std::string& problem : got.problems) fail(problem);
  if (!got.problems.empty()) return kFailed;
  if (flags.check_config) {
    std::printf("config ok\n");
    return kOk;
  }
  return serve(flags, std::move(got));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}
