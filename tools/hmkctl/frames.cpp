// SPDX-License-Identifier: MIT
#include "frames.hpp"

#include "record/reader.hpp"

namespace hmkctl {

hmk::Result<Frames> frames_of(const std::string& path) {
  auto reader = hmk::RecordReader::open(path);
  if (!reader) return reader.error();
  auto context = std::make_shared<hmk::RecordedContext>();
  return Frames{reader->target(), context, reader->tells_moves(),
                [path, context](const auto& use) -> hmk::Result<void> {
                  auto again = hmk::RecordReader::open(path);
                  if (!again) return again.error();
                  hmk::RecordedFrame frame;
                  for (;;) {
                    const auto more = again->next(frame);
                    if (!more) return more.error();
                    if (!*more) {
                      *context = again->context();
                      return {};
                    }
                    use(frame);
                  }
                }};
}

}  // namespace hmkctl
