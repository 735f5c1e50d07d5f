// SPDX-License-Identifier: MIT
//
// A recording as it comes from hmkd, block by block.
//
//   RecordStream stream("/run/hmk/control.sock");
//   const Reply reply = stream.begin(4711);
//   const RecordStream::Piece piece = stream.next(1s);
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client.hpp"

namespace hmkctl {

class RecordStream {
 public:
  /// The head or a block, as it belongs into the file; empty when none came in time.
  struct Piece {
    std::string bytes = {};
    bool is_frame = false;
    std::uint64_t regions = 0;          ///< of the frame
    bool is_end = false;                ///< hmkd manages the process no longer
    std::optional<Reply> trouble = {};  ///< it cannot go on, for this reason
  };

  explicit RecordStream(std::string socket) : socket_(socket), connection_(std::move(socket)) {}
  Reply begin(int pid);
  /// Waits so long at most; a signal ends it.
  Piece next(std::chrono::milliseconds limit);

 private:
  std::optional<std::string> take(std::size_t bytes);
  Piece lost(const std::string& why) const;

  std::string socket_;
  Connection connection_;
  std::string waiting_;  ///< came and is not taken yet, from taken_ on
  std::size_t taken_ = 0;
  bool has_head_ = false;
};

}  // namespace hmkctl
