// SPDX-License-Identifier: MIT
//
// hmkd as a systemd service: ready, status line, watchdog. Does nothing when
// NOTIFY_SOCKET is not set.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>

#include "util/ticker.hpp"

namespace hmk {

class Service {
 public:
  /// The watchdog is fed from the loop itself: a stuck loop is a stuck hmkd.
  explicit Service(boost::asio::io_context& loop);

  void ready();
  void stopping();
  /// The line of `systemctl status`.
  void status(const std::string& text);

 private:
  std::optional<Ticker> watchdog_;
};

}  // namespace hmk
