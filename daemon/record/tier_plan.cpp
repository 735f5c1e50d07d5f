// SPDX-License-Identifier: MIT
#include "record/tier_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "record/packing.hpp"
#include "record/parts.hpp"

namespace hmk {
namespace {

constexpr std::string_view kPlanMagic{"hmkplan\n", 8};
constexpr std::uint32_t kPlanVersion = 1;
constexpr std::uint32_t kMostWindows = 4096;
constexpr std::size_t kMostSteps = 1u << 24;  // windows over all pieces: a small file tells many

/// The head tells what it is made from and for; a block for each mapping; how many there were.
enum PlanKind : char { kPlanHead = 'H', kPlanMapping = 'O', kPlanEnd = 'E' };

/// Runs of windows in one tier.
void pack_path(Packer& out, const std::vector<std::uint8_t>& tier) {
  for (std::size_t from = 0; from < tier.size();) {
    const auto end = std::find_if(tier.begin() + static_cast<std::ptrdiff_t>(from), tier.end(),
                                  [&](std::uint8_t one) { return one != tier[from]; });
    const auto until = static_cast<std::size_t>(end - tier.begin());
    out.number(tier[from]);
    out.number(until - from);
    from = until;
  }
}

std::vector<std::uint8_t> unpack_path(Unpacker& in, const TierPlan& plan) {
  std::vector<std::uint8_t> tier;
  while (tier.size() < plan.windows && in.is_good()) {
    const std::uint64_t number = in.number(), windows = in.number();
    in.require(number < plan.machine.tiers.size() && windows > 0 &&
               windows <= plan.windows - tier.size());
    if (in.is_good()) tier.insert(tier.end(), windows, static_cast<std::uint8_t>(number));
  }
  return tier;
}

std::string encode(const PlannedMapping& mapping) {
  Packer out(kPlanMapping);
  out.text(mapping.name);
  out.number(mapping.before);
  out.number(mapping.length / kRecordedPage);
  out.number(mapping.pieces.size());
  std::uint64_t end = 0;
  for (const PlannedPiece& piece : mapping.pieces) {
    out.number((piece.offset - end) / kRecordedPage);
    out.number(piece.length / kRecordedPage);
    pack_path(out, piece.tier);
    end = piece.offset + piece.length;
  }
  return out.block();
}

void decode_head(Unpacker& in, TierPlan& plan) {
  plan.made_from = unpack_target(in);
  plan.machine = unpack_machine(in);
  plan.windows = in.narrow<std::uint32_t>(in.number());
  plan.window_ns = in.number();
  plan.access_ps = in.number();
  plan.bound_ps = in.number();
  in.require(plan.windows > 0 && plan.windows <= kMostWindows && plan.window_ns > 0 &&
             plan.machine.tiers.size() >= 2 && plan.machine.tiers.size() <= 255);
}

/// `steps`: so many are left.
PlannedMapping decode_mapping(Unpacker& in, const TierPlan& plan, std::size_t& steps) {
  PlannedMapping mapping{.name = in.text(), .before = in.number()};
  const std::uint64_t all = in.number();
  in.require(all < kMostRecordedPages);
  mapping.length = all * kRecordedPage;
  std::uint64_t end = 0;
  for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
    const std::uint64_t gap = in.number(), pages = in.number();
    in.require(pages > 0 && gap <= all - end && pages <= all - end - gap && plan.windows <= steps);
    if (!in.is_good()) break;
    steps -= plan.windows;
    PlannedPiece piece{(end + gap) * kRecordedPage, pages * kRecordedPage, unpack_path(in, plan)};
    end += gap + pages;
    mapping.pieces.push_back(std::move(piece));
  }
  return mapping;
}

/// The blocks of a plan, one after the other.
class Blocks {
 public:
  Blocks(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  Result<std::string_view> next() {
    at_ = next_;
    const std::string_view left = bytes_.substr(at_);
    if (left.size() < kBlockHeadBytes || u32_at(left, 0) > left.size() - kBlockHeadBytes)
      return Error{path_ + ": is cut short at byte " + std::to_string(bytes_.size()), kRemedy};
    const std::string_view payload = left.substr(kBlockHeadBytes, u32_at(left, 0));
    if (payload.empty() || crc32(payload) != u32_at(left, 4)) return damaged("checksum");
    next_ = at_ + kBlockHeadBytes + payload.size();
    return payload;
  }
  Error damaged(const std::string& how) const {
    return {path_ + ": is damaged at byte " + std::to_string(at_) + " (" + how + ")", kRemedy};
  }
  bool is_at_end() const { return next_ == bytes_.size(); }

 private:
  static constexpr const char* kRemedy =
      "copy it anew, or make it again with 'hmkctl plan schedule'";
  std::string_view bytes_;
  const std::string& path_;
  std::size_t at_ = 0, next_ = kHeadBytes;
};

}  // namespace

std::string encode(const TierPlan& plan) {
  Packer head(kPlanHead);
  pack(head, plan.made_from);
  pack(head, plan.machine);
  head.number(plan.windows);
  head.number(plan.window_ns);
  head.number(plan.access_ps);
  head.number(plan.bound_ps);
  std::string bytes = head_bytes(kPlanMagic, kPlanVersion) + head.block();
  for (const PlannedMapping& mapping : plan.mappings) bytes += encode(mapping);
  Packer end(kPlanEnd);
  end.number(plan.mappings.size());
  return bytes + end.block();
}

Result<TierPlan> decode_plan(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kHeadBytes || bytes.substr(0, kPlanMagic.size()) != kPlanMagic)
    return Error{path + ": is no plan", "make one with 'hmkctl plan schedule RECORDING -o FILE'"};
  if (const std::uint32_t version = u32_at(bytes, kPlanMagic.size()); version != kPlanVersion)
    return Error{path + ": is a plan of format " + std::to_string(version) +
                     ", this version reads " + std::to_string(kPlanVersion),
                 "use the version that wrote it"};
  Blocks blocks(bytes, path);
  TierPlan plan;
  std::size_t steps = kMostSteps;
  for (bool has_head = false;; has_head = true) {
    const auto payload = blocks.next();
    if (!payload) return payload.error();
    const char kind = (*payload).front();
    Unpacker in(*payload);
    if (kind == kPlanHead && !has_head) {
      decode_head(in, plan);
    } else if (kind == kPlanMapping && has_head) {
      plan.mappings.push_back(decode_mapping(in, plan, steps));
    } else if (kind == kPlanEnd && has_head) {
      in.require(in.number() == plan.mappings.size() && blocks.is_at_end());
    } else {
      in.require(false);
    }
    if (!in.is_done())
      return blocks.damaged(std::string("its block '") + kind + "' makes no sense");
    if (kind == kPlanEnd) return plan;
  }
}

Result<TierPlan> read_plan(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{path + ": cannot be read: " + std::strerror(errno), "check the path", errno};
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return decode_plan(bytes, path);
}

}  // namespace hmk
