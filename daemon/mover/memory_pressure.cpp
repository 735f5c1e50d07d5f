// SPDX-License-Identifier: MIT
#include "mover/memory_pressure.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "util/file.hpp"

namespace hmk {
namespace {

constexpr double kBpOfPercent = 100;

/// Of "some avg10=1.53 avg60=0.87 avg300=0.73 total=265" and a line "full ..."; nothing of a kernel
/// without PSI.
std::optional<std::uint32_t> some_avg10_bp(const std::filesystem::path& root) {
  constexpr std::string_view kWord = "some avg10=";
  const std::string text = read_text(root / "proc/pressure/memory").value_or("");
  const std::size_t at = text.find(kWord);
  if (at == text.npos) return std::nullopt;
  const double percent = std::strtod(text.c_str() + at + kWord.size(), nullptr);
  return static_cast<std::uint32_t>(std::lround(percent * kBpOfPercent));
}

}  // namespace

void MemoryPressure::saw(const std::filesystem::path& root, std::uint32_t limit_bp) {
  now_bp_ = some_avg10_bp(root);
  const bool was_high = is_high_;
  is_high_ = limit_bp > 0 && now_bp_ && 2 * *now_bp_ >= (was_high ? limit_bp : 2 * limit_bp);
  if (is_high_ == was_high) return;
  spdlog::info("promotions {} memory_pressure={:.2f}% limit={:.2f}%{}",
               is_high_ ? "paused" : "resumed", now_bp_.value_or(0) / kBpOfPercent,
               limit_bp / kBpOfPercent,
               is_high_ ? " hint=\"programs wait for memory; see pressure_limit\"" : "");
}

}  // namespace hmk
