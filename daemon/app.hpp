// SPDX-License-Identifier: MIT
//
// hmkd wired together: targets, control socket, signals, service. The only place
// that knows all stages; everything runs on the one loop.
//
//   App app(loop, config, {.attach = attach});
//   if (Result<void> ok = app.start(); !ok) return fail(ok.error());
//   loop.run();
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "control/server.hpp"
#include "device/device.hpp"
#include "service.hpp"
#include "target.hpp"

namespace hmk {

class App {
 public:
  struct Options {
    Attach attach;                       ///< how a process is attached
    std::filesystem::path root = "/";    ///< of /proc and /sys
    hmk_info module_info = {};           ///< for `version`
    bool ends_with_last_target = false;  ///< --pid: one process, then done
  };

  App(boost::asio::io_context& loop, Config config, Options options);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Serve the control socket, attach what the config names. A PID of the config
  /// that cannot be attached is logged; with ends_with_last_target it is an error.
  Result<void> start();
  void stop();

  // What the control verbs do. Each leaves everything as it was when it fails.
  Result<void> attach(std::int32_t pid);
  Result<void> detach(std::int32_t pid);
  struct Change {
    std::string old_value, new_value;
  };
  Result<Change> set(const std::string& key, const std::string& value);

  // What they show.
  const Config& config() const { return config_; }
  const Options& options() const { return options_; }
  const Machine& machine() const { return machine_; }
  const Machine& machine_now();  ///< with fresh free memory
  Target* find(std::int32_t pid);
  std::vector<Target*> targets();

 private:
  struct Managed;

  Surroundings around();
  void watch(Managed& managed);
  void on_readable(std::int32_t pid);
  void on_gone(std::int32_t pid);
  void forget(std::int32_t pid);
  Result<void> tell_module(const Config& now);
  void report_status();

  boost::asio::io_context& loop_;
  Config config_;
  Options options_;
  Machine machine_;
  Service service_;
  boost::asio::signal_set signals_;
  Server server_;
  std::map<std::int32_t, std::unique_ptr<Managed>> managed_;
};

}  // namespace hmk
