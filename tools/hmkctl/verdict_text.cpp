// SPDX-License-Identifier: MIT
#include "verdict_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "table.hpp"

namespace hmkctl {
namespace {

std::string size(std::uint64_t bytes) {
  return to_text(bytes, Unit::bytes);
}

std::string gain_text(const Outlook& outlook) {
  const Serving& fastest = outlook.tiers.front();
  return "there is something to gain: tier 1 serves " + percent_text(fastest.now) +
         " of its accesses, with the best placement it would serve " + percent_text(fastest.best) +
         ".";
}

std::string placed_text(const Outlook& outlook) {
  const Serving& fastest = outlook.tiers.front();
  return "nothing to gain: tier 1 serves " + percent_text(fastest.now) +
         " of its accesses already, and could serve " + percent_text(fastest.best) + " at most.";
}

}  // namespace

std::string percent_text(double share) {
  const double percent = 100 * share;
  char text[32];
  // 99.97 % is not all, and 0.2 % is not nothing.
  std::snprintf(
      text, sizeof(text),
      percent > 0 && (percent < 1 || (percent > 99 && percent < 100)) ? "%.1f %%" : "%.0f %%",
      percent);
  return text;
}

std::string verdict_text(const Outlook& outlook) {
  switch (outlook.verdict) {
    case Verdict::gain:
      return gain_text(outlook);
    case Verdict::placed:
      return placed_text(outlook);
    case Verdict::fits:
      return "nothing to gain: it fits in DRAM. All of its " + size(outlook.measured_bytes) +
             " are in tier 1.";
    case Verdict::alike:
      return "nothing to gain: all pages are equally warm, so no part of them is worth more of "
             "tier 1.";
    case Verdict::huge_pages:
      return "nothing to gain as it is: " + percent_text(outlook.huge) +
             " of its memory is in huge pages, and all of them are equally warm. Hot and cold "
             "parts "
             "of one huge page look alike.";
    case Verdict::streams:
      return "little to gain: it streams through its memory. What is hot in one interval is not "
             "hot in the next, so moved pages would come too late.";
    case Verdict::unmeasured:
      return "unknown: only " + size(outlook.measured_bytes) +
             " of its memory can be measured, less than half. File mappings, page cache and "
             "hugetlb pages are not measured.";
    case Verdict::idle:
      return "unknown: it accessed none of its memory while it was watched.";
    case Verdict::one_tier:
      return "nothing to gain: it can use one memory tier only.";
    case Verdict::virtual_machine:
      return "nothing to gain: it is a virtual machine, or a device uses its memory. Such accesses "
             "do not show in the process's page table.";
  }
  return "";
}

std::string verdict_remedy(const Outlook& outlook, int pid) {
  switch (outlook.verdict) {
    case Verdict::gain:
      return "manage it with 'hmkctl attach " + std::to_string(pid) +
             "' and 'hmkctl set mode manage'";
    case Verdict::huge_pages:
      return "'hmkctl set split_huge yes' splits huge pages whose parts differ; then try again";
    case Verdict::idle:
      return "try again while it has work to do";
    case Verdict::one_tier:
      return "'hmkctl doctor' lists the tiers of this machine";
    case Verdict::virtual_machine:
      return "run hmkd inside the virtual machine";
    default:
      return "";
  }
}

std::string curve_text(const Outlook& outlook) {
  constexpr std::size_t kWide = 40, kBars = 8;
  std::string text = "HOTTEST     SHARE OF ACCESSES\n";
  for (std::size_t halvings = kBars; halvings-- > 0;) {
    const std::uint64_t bytes = outlook.curve.bytes() >> halvings;
    const double share = outlook.curve.share(bytes);
    const auto full = static_cast<std::size_t>(std::lround(share * kWide));
    char line[64];
    std::snprintf(line, sizeof(line), "%10s  ", size(bytes).c_str());
    text += line + std::string(full, '#') + std::string(kWide - full, '.') + " " +
            percent_text(share) + "\n";
  }
  return text + "tier 1 has room for " + size(outlook.tiers.front().room_bytes) + "\n";
}

}  // namespace hmkctl
