// SPDX-License-Identifier: MIT
//
// A scenario of the machine simulator, as its file has it: phases, and in each of them what an
// operation executes and which memory it visits. Heat is what that makes of every page. Where the
// lab has counted the misses of every page, those are the heat.
//
//   const Workload load = read_workload("scenarios/gups-jump.yaml");
//   const Heat heat = heat_of(load, load.phases[0], seed);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/lines.hpp"
#include "world.hpp"

namespace hmk::sim {

/// Some of the memory, and how often an operation visits a page of it.
struct Layer {
  Bytes bytes = 0;
  Bytes at = 0;             // where it begins, when it is in one piece
  Bytes piece = 0;          // else it is pieces of so many bytes at random places; 0: in one piece
  unsigned draw = 0;        // the same number is at the same places
  double visits = 0;        // of an operation, to all of it
  double lines = 1;         // of the cache that a visit misses
  double written = 0;       // share of them that are written
  double zipf = 0;          // exponent; 0: all pages alike
  bool by_address = false;  // the first page is the hottest; else they lie anywhere
};

/// What an operation takes wherever the memory lies.
struct Execution {
  double instructions = 0;
  double other_ns = 0;  // walks and what the kernel does for it
};

/// Lines and visits of a phase by page, as they were counted.
struct Counted {
  std::vector<std::uint32_t> misses = {}, streamed = {}, written = {}, visits = {};
};

struct Phase {
  double seconds = 0;     // under first touch; 0: as the next says
  double share = 0;       // of the whole run; 0: to the end
  double operations = 0;  // counted, in all phases, instead of time; 0: as time says
  Execution execution = {};
  std::vector<Layer> layers = {};
  std::shared_ptr<const Counted> counted = {};  // instead of layers
};

struct Workload {
  std::string name;
  Bytes memory = 0;
  double seconds = 0;     // under first touch, unless the user says otherwise; 0: was counted
  bool is_cycle = false;  // begins again after the last phase
  std::vector<std::uint32_t> nodes =
      {};  // by page, where it was counted; another number: not known
  std::vector<Phase> phases = {};
};

/// Throws std::invalid_argument with one line: file, place, problem.
Workload read_workload(const std::string& path);

/// The scenarios that ship, by name, and where one is: a name of theirs or a path ending in .yaml.
/// Throws std::invalid_argument for an unknown name.
std::vector<std::string> workload_names();
std::string workload_path(const std::string& name);

/// Of an operation, by page of 4 KiB.
struct Heat {
  explicit Heat(std::size_t pages)
      : visits(pages), misses(pages), streamed(pages), written(pages) {}
  Lines lines(std::size_t page) const {
    return {static_cast<double>(misses[page]), static_cast<double>(streamed[page]),
            static_cast<double>(written[page])};
  }

  std::vector<float> visits, misses, streamed, written;
};

Heat heat_of(const Workload& load, const Phase& phase, std::uint64_t seed);

}  // namespace hmk::sim
