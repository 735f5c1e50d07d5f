// SPDX-License-Identifier: MIT
#include "mappings.hpp"

#include <algorithm>

#include "record/mappings.hpp"
#include "util/file.hpp"

namespace hmkctl {

Mappings::Mappings(std::vector<Mapping> all) : all_(std::move(all)) {
  for (Mapping& one : all_)
    if (one.name.starts_with('/')) one.name.erase(0, one.name.rfind('/') + 1);
}

const Mapping* Mappings::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(all_, address, {}, &Mapping::end);
  return after == all_.end() || after->start > address ? nullptr : &*after;
}

std::string Mappings::name(std::uint64_t address) const {
  const Mapping* const found = at(address);
  return found == nullptr ? "" : found->name;
}

Mappings mappings_of(const std::filesystem::path& root, int pid, const std::string& comm) {
  const auto proc = root / "proc" / std::to_string(pid);
  if (hmk::read_text(proc / "comm").value_or("") != comm + "\n") return {};
  return Mappings(hmk::parse_mappings(hmk::read_text(proc / "maps").value_or("")));
}

}  // namespace hmkctl
