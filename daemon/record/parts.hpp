// SPDX-License-Identifier: MIT
//
// What recordings and plans both tell: whose they are, and of which machine.
#pragma once

#include "record/packing.hpp"
#include "record/recording.hpp"

namespace hmk {

void pack(Packer& out, const RecordedTarget& target);
RecordedTarget unpack_target(Unpacker& in);

void pack(Packer& out, const RecordedMachine& machine);
RecordedMachine unpack_machine(Unpacker& in);

}  // namespace hmk
