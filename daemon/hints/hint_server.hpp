// SPDX-License-Identifier: MIT
//
// hints.sock on the loop: managed programs hand over their tables and ring. Anybody may connect;
// who is not managed is told so and costs no more than that.
//
//   HintServer hints(loop, {.is_welcome = ..., .on_news = ...});
//   Result<void> open = hints.listen("/run/hmk/hints.sock");
//   if (const HintTable* table = hints.table_of(pid)) table->read();
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hints/hint_table.hpp"
#include "util/result.hpp"

namespace hmk {

class HintServer {
 public:
  struct Handlers {
    std::function<bool(std::int32_t pid)> is_welcome;
    std::function<void(std::int32_t pid)> on_news;  ///< its table may say something new
  };
  struct Limits {
    std::chrono::milliseconds introduction{5'000};  ///< from the connection to the table
    std::chrono::milliseconds rest{8};              ///< between two readings, at least
    unsigned parts = 50;  ///< of the time; on_news takes one of them, of all programs together
    std::chrono::milliseconds pause{10};  ///< after each connection
  };

  HintServer(boost::asio::io_context& loop, Handlers handlers, Limits limits);
  HintServer(boost::asio::io_context& loop, Handlers handlers)
      : HintServer(loop, std::move(handlers), Limits{}) {}
  ~HintServer();

  /// For all users (mode 0666). A socket file that nobody serves any more is replaced.
  Result<void> listen(const std::string& path);
  /// Null: it has handed over none, or has left.
  const HintTable* table_of(std::int32_t pid) const;
  /// It is managed no more.
  void forget(std::int32_t pid);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hmk
