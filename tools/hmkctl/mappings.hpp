// SPDX-License-Identifier: MIT
//
// Which mapping of a process holds an address: /proc/PID/maps, neighbours of one name joined.
//
//   const Mappings mappings = mappings_of("/", 4711, "redis-server");
//   mappings.name(0x7f0000000000)   ->  "[heap]"; "" where nothing is known
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/recording.hpp"

namespace hmkctl {

using Mapping = hmk::RecordedMapping;

class Mappings {
 public:
  Mappings() = default;
  /// In address order and disjoint. A file is called by its last name from here on.
  explicit Mappings(std::vector<Mapping> all);

  const Mapping* at(std::uint64_t address) const;
  std::string name(std::uint64_t address) const;
  bool empty() const { return all_.empty(); }
  const std::vector<Mapping>& all() const { return all_; }

 private:
  std::vector<Mapping> all_;
};

/// Empty where this user may not read them, and where the PID has another name: of another PID
/// namespace, it would be another process.
Mappings mappings_of(const std::filesystem::path& root, int pid, const std::string& comm);

}  // namespace hmkctl
