// SPDX-License-Identifier: MIT
//
// A target and the wait on its descriptor, which the device owns.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <utility>

#include "app.hpp"

namespace hmk {

struct App::Managed {
  Managed(boost::asio::io_context& loop, std::unique_ptr<Target> t, AttachRule by)
      : target(std::move(t)), descriptor(loop, target->device().poll_fd()), rule(std::move(by)) {}
  ~Managed() { descriptor.release(); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  std::unique_ptr<Target> target;
  boost::asio::posix::stream_descriptor descriptor;
  std::uint64_t announced_seq = 0;  ///< of the last interval whose moves were published
  AttachRule rule;                  ///< why it is managed; of its PID when by hand
};

}  // namespace hmk
