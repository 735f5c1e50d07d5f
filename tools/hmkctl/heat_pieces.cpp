// SPDX-License-Identifier: MIT
#include "heat_pieces.hpp"

#include <algorithm>
#include <numeric>

namespace hmkctl {

void Borders::add(const hmk::RecordedFrame& frame) {
  std::vector<std::uint64_t> both;
  both.reserve(addresses_.size() + 2 * frame.regions.size());
  for (const hmk::RecordedRegion& region : frame.regions) {
    both.push_back(region.start & ~(grain_ - 1));
    both.push_back((region.start + region.length + grain_ - 1) & ~(grain_ - 1));
  }
  both.insert(both.end(), addresses_.begin(), addresses_.end());
  std::ranges::sort(both);
  both.erase(std::unique(both.begin(), both.end()), both.end());
  addresses_ = std::move(both);
  while (addresses_.size() > most_) coarsen();
}

/// Both ways, so that the last region still ends at a border.
void Borders::coarsen() {
  grain_ *= 2;
  const std::uint64_t last = (addresses_.back() + grain_ - 1) & ~(grain_ - 1);
  for (std::uint64_t& at : addresses_) at &= ~(grain_ - 1);
  addresses_.push_back(last);
  addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
}

HeatPieces::HeatPieces(const Borders& borders, std::size_t windows, std::size_t frames)
    : borders_(borders.addresses()),
      windows_(std::min(windows, frames)),
      frames_(frames),
      bytes_(borders_.size()),
      resident_(borders_.size()),
      first_(borders_.size()),
      accesses_(borders_.size() * windows_) {}

void HeatPieces::add(const hmk::RecordedFrame& frame) {
  if (added_ == 0) start_ns_ = frame.start_ns;
  end_ns_ = frame.end_ns;
  const std::size_t window = added_++ * windows_ / frames_;
  const double seconds = static_cast<double>(frame.end_ns - frame.start_ns) / 1e9;
  std::ranges::fill(resident_, 0);
  for (const hmk::RecordedRegion& region : frame.regions) add(window, region, seconds);
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) first_[i] = added_;
    bytes_[i] = std::max(bytes_[i], resident_[i]);
  }
}

void HeatPieces::add(std::size_t window, const hmk::RecordedRegion& region, double seconds) {
  has_rates_ = has_rates_ && region.has_rate();
  const auto pages = static_cast<double>(region.resident_pages);
  const std::uint64_t end = region.start + region.length;
  auto i = static_cast<std::size_t>(std::ranges::upper_bound(borders_, region.start) -
                                    borders_.begin()) -
           1;
  for (std::uint64_t from = region.start; from < end; ++i) {
    const std::uint64_t until = std::min(end, borders_[i + 1]);
    const double part = static_cast<double>(until - from) / static_cast<double>(region.length);
    resident_[i] += part * pages * 4096;
    accesses_[i * windows_ + window] += part * pages * region.rate() * seconds;
    from = until;
  }
}

double HeatPieces::accesses() const {
  return std::accumulate(accesses_.begin(), accesses_.end(), 0.0);
}

std::vector<HeatPieces::Piece> HeatPieces::pieces() const {
  std::vector<Piece> found;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == 0) continue;
    const auto first = accesses_.begin() + static_cast<std::ptrdiff_t>(i * windows_);
    found.push_back({bytes_[i],
                     {first, first + static_cast<std::ptrdiff_t>(windows_)},
                     borders_[i],
                     borders_[i + 1] - borders_[i],
                     first_[i]});
  }
  return found;
}

}  // namespace hmkctl
