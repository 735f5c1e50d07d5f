// SPDX-License-Identifier: MIT
#include "recording.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

namespace hmk {
namespace {

constexpr std::string_view kMagic{"hmkrec\r\n", 8};  // line ends show a copy in text mode
constexpr std::uint32_t kVersion = 2;                // 1 had neither rates nor a context
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kHeadBytes = 12, kBlockHeadBytes = 8;
// A reader passes over small letters that it does not know.
enum Kind : char { kTarget = 'T', kFrame = 'F', kEnd = 'E', kContext = 'c' };
constexpr unsigned kHi = 1, kWhi = 2, kNode = 4, kResident = 8,
                   kRate = 16;  // what differs from the expected

/// CRC-32 of IEEE 802.3, bit by bit: files are small beside what made them.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

std::string u32(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
  return bytes;
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << 8 * i;
  return value;
}

/// Numbers of seven bits a byte, lowest first (LEB128).
class Packer {
 public:
  explicit Packer(Kind kind) : bytes_(1, kind) {}
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  /// How far `now` is from `before`; small steps in either direction are short.
  void step(std::uint64_t now, std::uint64_t before) {
    const std::uint64_t up = now - before;
    number(static_cast<std::int64_t>(up) < 0 ? (~up << 1 | 1) : up << 1);
  }
  void text(std::string_view text) { number(text.size()), bytes_ += text; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes what Packer has put; after the first nonsense is_good() stays false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes.substr(1)) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    is_good_ = false;
    return 0;
  }
  std::uint64_t step(std::uint64_t before) {
    const std::uint64_t coded = number();
    return before + ((coded & 1) != 0 ? ~(coded >> 1) : coded >> 1);
  }
  std::string text() {
    const std::uint64_t length = number();
    if (length > left_.size()) is_good_ = false;
    if (!is_good_) return {};
    std::string out(left_.substr(0, length));
    left_.remove_prefix(length);
    return out;
  }
  void require(bool holds) { is_good_ = is_good_ && holds; }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  bool is_good_ = true;
};

bool is_same_range(const RecordedRegion& a, const RecordedRegion& b) {
  return a.start == b.start && a.length == b.length;
}

/// What a region is expected to be when the interval before had none there.
RecordedRegion fresh(std::uint64_t start, std::uint64_t length, std::int32_t node,
                     std::int32_t rate_q4) {
  return {start, length, 0, 0, node, length / kPage, rate_q4};
}

/// A run of the regions: pass over `skip` old ones, keep `take`, then come `added` new ones.
struct Run {
  std::uint64_t skip = 0, take = 0, added = 0;
};

Run next_run(const std::vector<RecordedRegion>& old, std::size_t& o,
             const std::vector<RecordedRegion>& now, std::size_t& n) {
  Run run;
  const auto pass = [&](std::size_t& at) {
    while (at < old.size() && !is_same_range(old[at], now[n]) && old[at].start <= now[n].start)
      ++at;
    return at < old.size() && is_same_range(old[at], now[n]);
  };
  const std::size_t from = o;
  if (pass(o)) {
    run.skip = o - from;
    for (; o < old.size() && n < now.size() && is_same_range(old[o], now[n]); ++o, ++n) ++run.take;
  } else {
    o = from;
  }
  for (std::size_t ahead = o; n < now.size() && !pass(ahead); ++n) ++run.added;
  return run;
}

void pack_values(Packer& out, const RecordedRegion& r, const RecordedRegion& expected) {
  out.number((r.hi_q8 != expected.hi_q8 ? kHi : 0u) | (r.whi_q8 != expected.whi_q8 ? kWhi : 0u) |
             (r.node != expected.node ? kNode : 0u) |
             (r.resident_pages != expected.resident_pages ? kResident : 0u) |
             (r.rate_q4 != expected.rate_q4 ? kRate : 0u));
  if (r.hi_q8 != expected.hi_q8) out.step(r.hi_q8, expected.hi_q8);
  if (r.whi_q8 != expected.whi_q8) out.step(r.whi_q8, expected.whi_q8);
  if (r.node != expected.node) out.step(static_cast<std::uint64_t>(r.node), 0);
  if (r.resident_pages != expected.resident_pages)
    out.step(r.resident_pages, expected.resident_pages);
  if (r.rate_q4 != expected.rate_q4) out.step(static_cast<std::uint64_t>(r.rate_q4), 0);
}

void unpack_values(Unpacker& in, RecordedRegion& r) {
  const auto low32 = [&](std::uint64_t value) {
    in.require(value <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(value);
  };
  const std::uint64_t changed = in.number();
  in.require(changed < 32);
  if ((changed & kHi) != 0) r.hi_q8 = low32(in.step(r.hi_q8));
  if ((changed & kWhi) != 0) r.whi_q8 = low32(in.step(r.whi_q8));
  if ((changed & kNode) != 0) r.node = static_cast<std::int32_t>(in.step(0));
  if ((changed & kResident) != 0) r.resident_pages = in.step(r.resident_pages);
  if ((changed & kRate) != 0) r.rate_q4 = static_cast<std::int32_t>(in.step(0));
}

void pack_context(Packer& out, const RecordedContext& context) {
  out.number(context.tiers.size());
  for (const RecordedTier& tier : context.tiers) {
    out.number(tier.latency_ns);
    out.number(tier.nodes.size());
    for (const std::int32_t node : tier.nodes) out.number(static_cast<std::uint64_t>(node));
  }
  out.number(context.mappings.size());
  std::uint64_t end = 0;
  for (const RecordedMapping& mapping : context.mappings) {
    out.number((mapping.start - end) / kPage);
    out.number((mapping.end - mapping.start) / kPage);
    out.text(mapping.name);
    end = mapping.end;
  }
}

/// How many follow, each of a byte at least.
std::uint64_t unpack_count(Unpacker& in) {
  const std::uint64_t count = in.number();
  in.require(count <= in.left());
  return in.is_good() ? count : 0;
}

RecordedContext unpack_context(Unpacker& in) {
  RecordedContext context;
  for (std::uint64_t tiers = unpack_count(in); tiers > 0 && in.is_good(); --tiers) {
    RecordedTier tier{{}, static_cast<std::uint32_t>(in.number())};
    for (std::uint64_t nodes = unpack_count(in); nodes > 0 && in.is_good(); --nodes)
      tier.nodes.push_back(static_cast<std::int32_t>(in.number()));
    context.tiers.push_back(std::move(tier));
  }
  std::uint64_t end = 0;
  for (std::uint64_t mappings = unpack_count(in); mappings > 0 && in.is_good(); --mappings) {
    const std::uint64_t gap = in.number(), pages = in.number();
    in.require(gap < (1ull << 52) && pages > 0 && pages < (1ull << 52));
    RecordedMapping mapping{end + gap * kPage, 0, in.text()};
    in.require(mapping.start >= end &&
               !__builtin_add_overflow(mapping.start, pages * kPage, &mapping.end));
    end = mapping.end;
    context.mappings.push_back(std::move(mapping));
  }
  return context;
}

void pack_regions(Packer& out, const std::vector<RecordedRegion>& old,
                  const std::vector<RecordedRegion>& now) {
  out.number(now.size());
  std::uint64_t end = 0;
  std::int32_t node = 0, rate = RecordedRegion::kNoRate;
  for (std::size_t o = 0, n = 0; n < now.size();) {
    const std::size_t first = n, first_old = o;
    const Run run = next_run(old, o, now, n);
    out.number(run.skip);
    out.number(run.take);
    out.number(run.added);
    for (std::size_t i = first; i < n; ++i) {
      const std::size_t in_old = first_old + run.skip + (i - first);
      const bool is_old = i - first < run.take;
      if (!is_old) {
        out.number((now[i].start - end) / kPage);
        out.number(now[i].length / kPage);
      }
      pack_values(out, now[i], is_old ? old[in_old] : fresh(0, now[i].length, node, rate));
      end = now[i].start + now[i].length;
      node = now[i].node;
      rate = now[i].rate_q4;
    }
  }
}

std::vector<RecordedRegion> unpack_regions(Unpacker& in, const std::vector<RecordedRegion>& old) {
  std::vector<RecordedRegion> now;
  const std::uint64_t count = in.number();
  in.require(count <= in.left());  // each takes a byte at least
  if (!in.is_good()) return now;
  now.reserve(count);
  std::uint64_t end = 0;
  const auto add = [&](const RecordedRegion& expected) {
    in.require(expected.start >= end && expected.length > 0 &&
               !__builtin_add_overflow(expected.start, expected.length, &end));
    now.push_back(expected);
    unpack_values(in, now.back());
  };
  for (std::size_t o = 0; now.size() < count && in.is_good();) {
    const Run run{in.number(), in.number(), in.number()};
    in.require(run.skip <= old.size() - o && run.take <= old.size() - o - run.skip &&
               run.take <= count - now.size() && run.added <= count - now.size() - run.take &&
               run.take + run.added > 0);
    if (!in.is_good()) break;
    o += run.skip;
    for (std::uint64_t i = 0; i < run.take && in.is_good(); ++i) add(old[o++]);
    for (std::uint64_t i = 0; i < run.added && in.is_good(); ++i) {
      const std::uint64_t gap = in.number(), pages = in.number();
      in.require(gap < (1ull << 52) && pages < (1ull << 52));
      const RecordedRegion last = now.empty() ? RecordedRegion{} : now.back();
      add(fresh(end + gap * kPage, pages * kPage, last.node, last.rate_q4));
    }
  }
  return now;
}

template <class Ranges, class End>
bool is_in_order(const Ranges& ranges, End end_of) {
  std::uint64_t end = 0;
  for (const auto& r : ranges) {
    const std::uint64_t from = end;
    if (r.start < from || (r.start | end_of(r)) % kPage != 0 || (end = end_of(r)) <= r.start)
      return false;
  }
  return true;
}

}  // namespace

RecordWriter::RecordWriter(PrivateFile file) : file_(std::move(file)) {}

Result<RecordWriter> RecordWriter::create(const std::string& path, const RecordedTarget& target) {
  Result<PrivateFile> file = PrivateFile::create(path);
  if (!file) return file.error();
  RecordWriter writer(*std::move(file));
  writer.put(kMagic);
  writer.put(u32(kVersion));
  Packer payload(kTarget);
  payload.number(static_cast<std::uint64_t>(target.pid));
  payload.text(target.comm);
  if (const Result<void> done = writer.put_block(payload.bytes()); !done) return done.error();
  return writer;
}

void RecordWriter::put(std::string_view bytes) {
  file_.write(bytes);
  bytes_ += bytes.size();
}

Result<void> RecordWriter::put_block(const std::string& payload) {
  put(u32(static_cast<std::uint32_t>(payload.size())));
  put(u32(crc32(payload)));
  put(payload);
  return file_.flush();
}

Result<void> RecordWriter::append(const RecordedFrame& frame) {
  if (!is_in_order(frame.regions, [](const auto& r) { return r.start + r.length; }))
    return Error{"interval " + std::to_string(frame.seq) + ": its regions overlap or are unaligned",
                 "check that hmkd is of this version"};
  Packer payload(kFrame);
  payload.step(frame.seq, before_.seq);
  payload.step(frame.start_ns, before_.end_ns);
  payload.step(frame.end_ns, frame.start_ns);
  payload.number(frame.num_scans);
  pack_regions(payload, before_.regions, frame.regions);
  before_ = frame;
  ++frames_;
  regions_ += frame.regions.size();
  return put_block(payload.bytes());
}

Result<void> RecordWriter::describe(const RecordedContext& context) {
  if (!is_in_order(context.mappings, [](const auto& mapping) { return mapping.end; }))
    return Error{"the mappings overlap or are unaligned", "check that /proc is of this machine"};
  Packer payload(kContext);
  pack_context(payload, context);
  return put_block(payload.bytes());
}

Result<void> RecordWriter::finish() {
  Packer payload(kEnd);
  payload.number(frames_);
  return put_block(payload.bytes());
}

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
  if (const std::uint32_t version = u32_at(view, kMagic.size()); version == 0 || version > kVersion)
    return Error{path + ": is of format " + std::to_string(version) + ", this version reads 1 to " +
                     std::to_string(kVersion),
                 "use the version that wrote it"};
  reader.at_ = kHeadBytes;
  const Result<std::string> payload = reader.block();
  if (!payload) return payload.error();
  Unpacker in(*payload);
  in.require(payload->front() == kTarget);
  reader.target_.pid = static_cast<std::int32_t>(in.number());
  reader.target_.comm = in.text();
  if (!in.is_good() || !in.is_at_end()) return reader.damaged("its head makes no sense");
  reader.at_ += kBlockHeadBytes + payload->size();
  return reader;
}

Result<bool> RecordReader::next(RecordedFrame& frame) {
  Result<std::string> payload = block();
  for (; payload && std::islower(static_cast<unsigned char>(payload->front())); payload = block()) {
    Unpacker in(*payload);
    if (payload->front() == kContext) {
      context_ = unpack_context(in);
      if (!in.is_good() || !in.is_at_end()) return damaged("its context makes no sense");
    }
    at_ += kBlockHeadBytes + payload->size();
  }
  if (!payload) return payload.error();
  Unpacker in(*payload);
  if (payload->front() == kEnd) {
    in.require(in.number() == frames_ && at_ + kBlockHeadBytes + payload->size() == size_);
    if (!in.is_good() || !in.is_at_end()) return damaged("its end makes no sense");
    return false;
  }
  in.require(payload->front() == kFrame);
  frame.seq = in.step(before_.seq);
  frame.start_ns = in.step(before_.end_ns);
  frame.end_ns = in.step(frame.start_ns);
  frame.num_scans = static_cast<std::uint32_t>(in.number());
  frame.regions = unpack_regions(in, before_.regions);
  in.require(frame.num_scans > 0 && frame.num_scans <= 16 && frame.end_ns > frame.start_ns);
  if (!in.is_good() || !in.is_at_end())
    return damaged("interval " + std::to_string(frames_ + 1) + " makes no sense");
  at_ += kBlockHeadBytes + payload->size();
  ++frames_;
  before_ = frame;
  return true;
}

}  // namespace hmk
