// SPDX-License-Identifier: MIT
// Any bytes as a recording: frames whose regions are in order and apart, or an error that names the
// place.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "record/reader.hpp"

namespace {

void read_all(const std::string& path) {
  hmk::Result<hmk::RecordReader> reader = hmk::RecordReader::open(path);
  if (!reader) return;
  hmk::RecordedFrame frame;
  for (hmk::Result<bool> more = reader->next(frame); more && *more; more = reader->next(frame)) {
    std::uint64_t end = 0;
    for (const hmk::RecordedRegion& region : frame.regions) {
      if (region.start < end || region.length == 0 || (region.start | region.length) % 4096 ||
          region.start + region.length < region.start)
        std::abort();
      end = region.start + region.length;
    }
    for (const hmk::RecordedMove& move : frame.moves)
      if ((move.start | move.length) % 4096 || move.start + move.length < move.start ||
          move.moved_pages > move.length / 4096)
        std::abort();
    end = 0;
    for (const hmk::RecordedMapping& mapping : reader->context().mappings) {
      if (mapping.start < end || mapping.end <= mapping.start) std::abort();
      end = mapping.end;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("recording", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  read_all("/proc/self/fd/" + std::to_string(fd));
  close(fd);
  return 0;
}
