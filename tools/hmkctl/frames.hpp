// SPDX-License-Identifier: MIT
//
// The frames of a recording, as often as they are needed: a recording can be larger than memory,
// so it is read again each time and never kept.
//
//   const Result<Frames> frames = frames_of("run.hmkrec");
//   if (const auto read = frames->each(use); !read) return read.error();
#pragma once

#include <functional>
#include <memory>

#include "record/recording.hpp"
#include "util/result.hpp"

namespace hmkctl {

struct Frames {
  hmk::RecordedTarget target;
  std::shared_ptr<hmk::RecordedContext> context;  ///< once each() has ended
  bool tells_moves = false;
  std::function<hmk::Result<void>(const std::function<void(const hmk::RecordedFrame&)>&)> each;
};

hmk::Result<Frames> frames_of(const std::string& path);

}  // namespace hmkctl
