// SPDX-License-Identifier: MIT
#include "shared_memory.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

namespace hmk {
namespace {

using policy::RegionView;

constexpr double kPart = 256;       // of a power of two, in rate_q8
constexpr double kMuchMore = 1.25;  // of an object than its owner has

double most_of(std::uint32_t hotness_max) {
  return static_cast<double>(hotness_max) * policy::kOneQ16;
}

/// Accesses a second to a page; 0 where none was ever seen.
double rate_of(const RegionView& region) {
  return region.whi_q16 == 0 ? 0 : std::exp2(region.rate_q8 / kPart + 12 - region.leaf_shift);
}

policy::HotnessQ16 to_q16(double hotness, std::uint32_t hotness_max) {
  return static_cast<policy::HotnessQ16>(std::lround(hotness * most_of(hotness_max)));
}

/// A look finds a page accessed when any of two has accessed it.
double either(double a, double b) {
  return 1 - (1 - std::min(a, 1.0)) * (1 - std::min(b, 1.0));
}

template <typename Integer>
Integer clamped(double value) {
  using Limits = std::numeric_limits<Integer>;
  return static_cast<Integer>(std::lround(
      std::clamp(value, static_cast<double>(Limits::min()), static_cast<double>(Limits::max()))));
}

}  // namespace

/// Another one takes over when it has clearly more: where all have much the same of it nobody does.
void SharedMemory::Object::choose_owner() {
  const auto claim = [](const auto& sharer) {
    return std::pair(sharer.second.moves, sharer.second.resident);
  };
  const auto most = std::ranges::max_element(sharers, {}, claim);
  const auto now = sharers.find(owner);
  if (now == sharers.end() || most->second.moves != now->second.moves ||
      most->second.resident > kMuchMore * now->second.resident)
    owner = most->first;
}

void SharedMemory::saw(std::int32_t pid, const Seen& seen) {
  drop(pid);
  Process& process = processes_[pid];
  process.mappings.assign(seen.mappings.begin(), seen.mappings.end());
  process.hotness_max = seen.hotness_max;
  process.cpu = seen.cpu;
  auto region = seen.regions.begin();
  for (const SharedMapping& mapping : seen.mappings) {
    while (region != seen.regions.end() && end_of(*region) <= mapping.start) ++region;
    for (; region != seen.regions.end() && region->start < mapping.end; ++region) {
      const std::uint64_t start = std::max(region->start, mapping.start),
                          end = std::min(end_of(*region), mapping.end);
      const double rate = rate_of(*region), most = most_of(seen.hotness_max);
      Sharer& sharer = objects_[mapping.object].sharers[pid];
      sharer.moves = seen.moves;
      sharer.resident += static_cast<double>(region->resident) * static_cast<double>(end - start) /
                         static_cast<double>(region->length);
      sharer.stretches.push_back(
          {.offset = mapping.offset + (start - mapping.start),
           .end = mapping.offset + (end - mapping.start),
           .hotness = region->whi_q16 / most,
           .last_hotness = region->hi_q16 / most,
           .rate = rate,
           .rate_dev = rate * std::numbers::ln2 * region->rate_dev_q8 / kPart,
           .written = region->written});
      if (end_of(*region) > mapping.end) break;  // the next mapping has the rest
    }
  }
  for (auto& [id, object] : objects_)  // parts of one may lie in another order than it has them
    if (const auto sharer = object.sharers.find(pid); sharer != object.sharers.end())
      std::ranges::sort(sharer->second.stretches, {}, &Stretch::offset);
  choose_owners();
}

void SharedMemory::forget(std::int32_t pid) {
  if (!processes_.contains(pid)) return;
  drop(pid);
  choose_owners();
}

/// Owners stay for now: it may be seen again at once.
void SharedMemory::drop(std::int32_t pid) {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  for (const SharedMapping& mapping : process->second.mappings)
    if (const auto object = objects_.find(mapping.object); object != objects_.end())
      object->second.sharers.erase(pid);
  processes_.erase(process);
}

void SharedMemory::choose_owners() {
  std::erase_if(objects_, [](const auto& object) { return object.second.sharers.empty(); });
  for (auto& [id, object] : objects_) object.choose_owner();
}

const SharedMapping* SharedMemory::mapping_at(const Process& process, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(process.mappings, address, {}, &SharedMapping::start);
  if (after == process.mappings.begin()) return nullptr;
  const SharedMapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

/// Of each the mean over the stretch, since their regions have other borders; of all the sum.
SharedMemory::Stretch SharedMemory::of_others(const Object& object, std::int32_t pid,
                                              std::uint64_t offset, std::uint64_t end) {
  Stretch all{.offset = offset, .end = end};
  double variance = 0;
  for (const auto& [other, sharer] : object.sharers) {
    if (other == pid) continue;
    Stretch mean;
    auto at = std::ranges::upper_bound(sharer.stretches, offset, {}, &Stretch::end);
    for (; at != sharer.stretches.end() && at->offset < end; ++at) {
      const double part =
          static_cast<double>(std::min(at->end, end) - std::max(at->offset, offset)) /
          static_cast<double>(end - offset);
      mean.hotness += part * at->hotness;
      mean.last_hotness += part * at->last_hotness;
      mean.rate += part * at->rate;
      mean.rate_dev += part * at->rate_dev;
      mean.written |= at->written;
    }
    all.hotness = either(all.hotness, mean.hotness);
    all.last_hotness = either(all.last_hotness, mean.last_hotness);
    all.rate += mean.rate;
    all.written |= mean.written;
    variance += mean.rate_dev * mean.rate_dev;
  }
  all.rate_dev = std::sqrt(variance);
  return all;
}

void SharedMemory::apply(std::int32_t pid, std::span<RegionView> regions) const {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  const std::uint32_t hotness_max = found->second.hotness_max;
  for (RegionView& region : regions) {
    const SharedMapping* const mapping = mapping_at(found->second, region.start);
    if (mapping == nullptr) continue;
    const auto object = objects_.find(mapping->object);
    if (object == objects_.end() || object->second.sharers.size() < 2) continue;
    if (object->second.owner != pid) {
      region.movable = false;
      continue;
    }
    const std::uint64_t offset = mapping->offset + (region.start - mapping->start),
                        end = offset + std::min(region.length, mapping->end - region.start);
    const Stretch others = of_others(object->second, pid, offset, end);
    if (others.rate == 0) continue;
    const double most = most_of(hotness_max), own = rate_of(region), rate = own + others.rate,
                 own_dev = own * std::numbers::ln2 * region.rate_dev_q8 / kPart,
                 dev = std::hypot(own_dev, others.rate_dev) / rate / std::numbers::ln2;
    region.whi_q16 = to_q16(either(region.whi_q16 / most, others.hotness), hotness_max);
    region.hi_q16 = to_q16(either(region.hi_q16 / most, others.last_hotness), hotness_max);
    region.rate_q8 = clamped<std::int16_t>(kPart * (std::log2(rate) + region.leaf_shift - 12));
    region.rate_dev_q8 = clamped<std::uint16_t>(kPart * dev);
    region.written |= others.written;
  }
}

bool SharedMemory::is_of_another(std::int32_t pid, std::uint64_t address) const {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return false;
  const SharedMapping* const mapping = mapping_at(process->second, address);
  if (mapping == nullptr) return false;
  const auto object = objects_.find(mapping->object);
  return object != objects_.end() && object->second.owner != pid &&
         object->second.sharers.contains(object->second.owner);
}

double SharedMemory::cpu_of_others(std::int32_t pid) const {
  std::set<std::int32_t> others;
  for (const auto& [id, object] : objects_)
    if (object.owner == pid)
      for (const auto& [other, sharer] : object.sharers) others.insert(other);
  double cpu = 0;
  for (const std::int32_t other : others)
    if (other != pid) cpu += processes_.at(other).cpu;
  return cpu;
}

}  // namespace hmk
