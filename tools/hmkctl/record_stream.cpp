// SPDX-License-Identifier: MIT
#include "record_stream.hpp"

#include <utility>

#include "record/format.hpp"

namespace hmkctl {
namespace {

using namespace hmk::record_format;

constexpr std::size_t kLongestBlock = 256u << 20;  // a broken peer must not fill our memory

/// The regions of a frame, as it tells them behind its number, its times and its scans.
std::uint64_t regions_of(std::string_view payload) {
  hmk::Unpacker in(payload);
  for (int i = 0; i < 4; ++i) (void)in.number();
  return in.number();
}

RecordStream::Piece trouble_of(std::string_view payload) {
  hmk::Unpacker in(payload);
  const std::string what = in.text(), remedy = in.text();
  return {.trouble = Reply{kFailed, {what, remedy}}};
}

}  // namespace

Reply RecordStream::begin(int pid) {
  return connection_.ask("record", {{"pid", pid}});
}

RecordStream::Piece RecordStream::lost(const std::string& why) const {
  return {.trouble = Reply{kUnreachable,
                           {"hmkd not reachable at " + socket_ + ": " + why,
                            "check that hmkd runs there (journalctl -u hmkd)"}}};
}

std::optional<std::string> RecordStream::take(std::size_t bytes) {
  if (waiting_.size() - taken_ < bytes) return std::nullopt;
  std::string out = waiting_.substr(taken_, bytes);
  taken_ += bytes;
  if (taken_ == waiting_.size()) waiting_.clear(), taken_ = 0;
  return out;
}

RecordStream::Piece RecordStream::next(std::chrono::milliseconds limit) {
  for (;;) {
    const std::string_view left = std::string_view(waiting_).substr(taken_);
    if (!has_head_ && left.size() >= hmk::kHeadBytes) {
      has_head_ = true;
      return {.bytes = *take(hmk::kHeadBytes)};
    }
    if (has_head_ && left.size() >= hmk::kBlockHeadBytes) {
      const std::size_t length = hmk::u32_at(left, 0);
      if (length == 0 || length > kLongestBlock) return lost("what it sends is no recording");
      if (auto bytes = take(hmk::kBlockHeadBytes + length)) {
        const std::string_view payload = std::string_view(*bytes).substr(hmk::kBlockHeadBytes);
        if (payload.front() == kTrouble) return trouble_of(payload);
        if (payload.front() == kEnd) return {.is_end = true};
        const bool is_frame = payload.front() == kFrame;
        const std::uint64_t regions = is_frame ? regions_of(payload) : 0;
        return {.bytes = *std::move(bytes), .is_frame = is_frame, .regions = regions};
      }
    }
    waiting_.erase(0, std::exchange(taken_, 0));
    switch (connection_.receive(waiting_, limit)) {
      case Connection::Came::bytes:
        break;
      case Connection::Came::nothing:
        return {};
      case Connection::Came::end:
        return lost("the connection has ended");
    }
  }
}

}  // namespace hmkctl
