// SPDX-License-Identifier: MIT
#include "service.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace hmk {

Service::Service(boost::asio::io_context& loop) {
  std::uint64_t limit_us = 0;
  if (sd_watchdog_enabled(0, &limit_us) <= 0 || limit_us == 0) return;
  watchdog_.emplace(loop, std::chrono::microseconds(limit_us / 2),
                    [] { sd_notify(0, "WATCHDOG=1"); });
}

void Service::ready() {
  sd_notify(0, "READY=1");
}

void Service::stopping() {
  if (watchdog_) watchdog_->stop();
  sd_notify(0, "STOPPING=1");
}

void Service::status(const std::string& text) {
  sd_notify(0, ("STATUS=" + text).c_str());
}

}  // namespace hmk
