// SPDX-License-Identifier: MIT
#include "record/reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "record/format.hpp"
#include "record/parts.hpp"

namespace hmk {
namespace {

using namespace record_format;

/// `r` is what it is expected to be; before format 3 its rate did not count for that.
void unpack_values(Unpacker& in, RecordedRegion& r, bool is_fresh, std::uint32_t version) {
  const std::uint64_t changed = in.number();
  in.require(changed <= (kHi | kWhi | kNode | kResident | kRate | kSampled | kWrites | kAway));
  if ((changed & kHi) != 0) r.hi_q8 = in.narrow<std::uint32_t>(in.step(r.hi_q8));
  if (is_fresh && version >= 3) r.whi_q8 = r.hi_q8;
  if ((changed & kWhi) != 0) r.whi_q8 = in.narrow<std::uint32_t>(in.step(r.whi_q8));
  if ((changed & kNode) != 0) r.node = static_cast<std::int32_t>(in.whole());
  if ((changed & kResident) != 0) r.resident_pages = in.step(r.resident_pages);
  if ((changed & kRate) != 0)
    r.rate_q4 = static_cast<std::int32_t>(
        in.step(version >= 3 ? static_cast<std::uint64_t>(std::int64_t{r.rate_q4}) : 0));
  if ((changed & kSampled) != 0) {
    r.samples = in.narrow<std::uint16_t>(in.step(r.samples));
    r.rate_dev_q4 = in.narrow<std::uint16_t>(in.step(r.rate_dev_q4));
  }
  if ((changed & kWrites) != 0) r.writes = in.narrow<std::uint16_t>(in.number());
  if ((changed & kAway) != 0) {
    r.away_pages = in.narrow<std::uint32_t>(in.number());
    r.away_node = static_cast<std::int32_t>(in.whole());
  }
}

/// Of format 2.
std::vector<RecordedTier> unpack_tiers(Unpacker& in) {
  std::vector<RecordedTier> tiers;
  for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
    RecordedTier tier{{}, static_cast<std::uint32_t>(in.number())};
    for (std::uint64_t nodes = in.count(); nodes > 0 && in.is_good(); --nodes)
      tier.nodes.push_back(static_cast<std::int32_t>(in.number()));
    tiers.push_back(std::move(tier));
  }
  return tiers;
}

std::vector<RecordedMapping> unpack_mappings(Unpacker& in) {
  std::vector<RecordedMapping> mappings;
  std::uint64_t end = 0;
  for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
    const std::uint64_t gap = in.number(), pages = in.number();
    in.require(gap < kMostRecordedPages && pages > 0 && pages < kMostRecordedPages);
    RecordedMapping mapping{end + gap * kRecordedPage, 0, in.text()};
    in.require(mapping.start >= end &&
               !__builtin_add_overflow(mapping.start, pages * kRecordedPage, &mapping.end));
    end = mapping.end;
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::vector<RecordedMove> unpack_moves(Unpacker& in) {
  std::vector<RecordedMove> moves;
  std::uint64_t end = 0;
  for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
    const std::uint64_t start = in.step(end), pages = in.number();
    in.require(start < kMostRecordedPages && pages < kMostRecordedPages - start);
    RecordedMove move{start * kRecordedPage, pages * kRecordedPage};
    move.from = static_cast<std::int32_t>(in.whole());
    move.to = static_cast<std::int32_t>(in.whole());
    move.moved_pages = in.number();
    in.require(move.moved_pages <= pages);
    move.reason = static_cast<RecordedMove::Reason>(
        std::min(in.number(), static_cast<std::uint64_t>(RecordedMove::Reason::other)));
    end = start + pages;
    moves.push_back(move);
  }
  return moves;
}

std::vector<RecordedRegion> unpack_regions(Unpacker& in, const std::vector<RecordedRegion>& old,
                                           std::uint32_t version) {
  std::vector<RecordedRegion> now;
  const std::uint64_t count = in.count();
  if (!in.is_good()) return now;
  now.reserve(count);
  std::uint64_t end = 0;
  const auto add = [&](const RecordedRegion& expected, bool is_fresh) {
    in.require(expected.start >= end && expected.length > 0 &&
               !__builtin_add_overflow(expected.start, expected.length, &end));
    now.push_back(expected);
    unpack_values(in, now.back(), is_fresh, version);
  };
  for (std::size_t o = 0; now.size() < count && in.is_good();) {
    const std::uint64_t skip = in.number(), take = in.number(), added = in.number();
    in.require(skip <= old.size() - o && take <= old.size() - o - skip &&
               take <= count - now.size() && added <= count - now.size() - take &&
               take + added > 0);
    if (!in.is_good()) break;
    o += skip;
    for (std::uint64_t i = 0; i < take && in.is_good(); ++i) add(old[o++], false);
    for (std::uint64_t i = 0; i < added && in.is_good(); ++i) {
      const std::uint64_t gap = in.number(), pages = in.number();
      in.require(gap < kMostRecordedPages && pages < kMostRecordedPages);
      const RecordedRegion last = now.empty() ? RecordedRegion{} : now.back();
      add(fresh(end + gap * kRecordedPage, pages * kRecordedPage, last), true);
    }
  }
  return now;
}

}  // namespace

RecordReader::RecordReader(std::string path, std::ifstream file, std::uint64_t size)
    : path_(std::move(path)), file_(std::move(file)), size_(size) {}

Error RecordReader::damaged(const std::string& how) const {
  return {path_ + ": is damaged at byte " + std::to_string(at_) + " (" + how + ")",
          "copy it anew or record again"};
}

Error RecordReader::cut() const {
  return {path_ + ": is cut short after " + std::to_string(frames_) + " intervals, at byte " +
              std::to_string(size_),
          "copy it anew or record again"};
}

Result<std::string> RecordReader::block() {
  std::array<char, kBlockHeadBytes> head{};
  if (size_ - at_ < head.size()) return cut();
  file_.read(head.data(), head.size());
  const std::string_view view(head.data(), head.size());
  const std::uint32_t length = u32_at(view, 0);
  if (length > size_ - at_ - head.size()) return cut();
  std::string payload(length, '\0');
  file_.read(payload.data(), length);
  if (!file_) return Error{path_ + ": cannot be read: " + std::strerror(errno), "", errno};
  if (payload.empty() || crc32(payload) != u32_at(view, 4)) return damaged("checksum");
  return payload;
}

Result<RecordReader> RecordReader::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return Error{path + ": cannot be read: " + std::strerror(errno), "check the path", errno};
  const auto size = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  RecordReader reader(path, std::move(file), size);
  std::array<char, kHeadBytes> head{};
  reader.file_.read(head.data(), head.size());
  const std::string_view view(head.data(), head.size());
  if (!reader.file_ || view.substr(0, kMagic.size()) != kMagic)
    return Error{path + ": is no recording", "make one with 'hmkctl record FILE'"};
  reader.version_ = u32_at(view, kMagic.size());
  if (reader.version_ == 0 || reader.version_ > kVersion)
    return Error{path + ": is of format " + std::to_string(reader.version_) +
                     ", this version reads 1 to " + std::to_string(kVersion),
                 "use the version that wrote it"};
  reader.at_ = kHeadBytes;
  const Result<std::string> payload = reader.block();
  if (!payload) return payload.error();
  Unpacker in(*payload);
  in.require(payload->front() == kTarget);
  reader.target_ = unpack_target(in);
  if (!in.is_done()) return reader.damaged("its head makes no sense");
  reader.at_ += kBlockHeadBytes + payload->size();
  return reader;
}

/// What is told beside the intervals; a kind that is not known is passed over.
Result<void> RecordReader::aside(std::string_view payload) {
  Unpacker in(payload);
  switch (payload.front()) {
    case kContext:
      context_.machine.tiers = unpack_tiers(in);
      context_.mappings = unpack_mappings(in);
      break;
    case kMachine:
      context_.machine = unpack_machine(in);
      break;
    case kAddresses:
      context_.mappings = unpack_mappings(in);
      break;
    case kMoves:
      moves_ = unpack_moves(in);
      break;
    default:
      return {};
  }
  if (!in.is_done())
    return damaged(std::string("its block '") + payload.front() + "' makes no sense");
  return {};
}

Result<void> RecordReader::frame(std::string_view payload, RecordedFrame& frame) {
  Unpacker in(payload);
  in.require(payload.front() == kFrame);
  frame.seq = in.step(before_.seq);
  frame.start_ns = in.step(before_.end_ns);
  frame.end_ns = in.step(frame.start_ns);
  frame.num_scans = static_cast<std::uint32_t>(in.number());
  frame.regions = unpack_regions(in, before_.regions, version_);
  in.require(frame.num_scans > 0 && frame.num_scans <= 16 && frame.end_ns > frame.start_ns);
  if (!in.is_done()) return damaged("interval " + std::to_string(frames_ + 1) + " makes no sense");
  frame.moves = std::exchange(moves_, {});
  return {};
}

Result<bool> RecordReader::next(RecordedFrame& frame) {
  Result<std::string> payload = block();
  for (; payload && std::islower(static_cast<unsigned char>(payload->front())); payload = block()) {
    if (const Result<void> done = aside(*payload); !done) return done.error();
    at_ += kBlockHeadBytes + payload->size();
  }
  if (!payload) return payload.error();
  if (payload->front() == kEnd) {
    Unpacker in(*payload);
    in.require(in.number() == frames_ && at_ + kBlockHeadBytes + payload->size() == size_);
    if (!in.is_done()) return damaged("its end makes no sense");
    return false;
  }
  if (const Result<void> done = this->frame(*payload, frame); !done) return done.error();
  at_ += kBlockHeadBytes + payload->size();
  ++frames_;
  before_ = frame;
  return true;
}

}  // namespace hmk
