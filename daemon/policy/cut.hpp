// SPDX-License-Identifier: MIT
//
// How much of a region moves when not all of it does.
//
//   const Cut cut = cut_for(region, region.resident(), left, turn);
//   move(region.start + cut.offset, cut.length)
//
// A region is cut from its start on. The pages of one class are scattered over their region: a cut
// holds as large a share of them as of its length. Where such a cut has moved it leaves a hole, so
// the next one begins elsewhere: at another place each turn.
#pragma once

#include <cstdint>

#include "policy/histogram.hpp"

namespace hmk::policy {

/// A piece of a region, in bytes. Its borders are the region's or lie at its leaves.
struct Cut {
  Bytes offset = 0;  // in the region
  Bytes length = 0;  // 0 when not even one leaf fits
  Bytes bytes = 0;   // that move: of a class as expected, else at most
  Bytes leaves = 0;  // that leave the region's node: of a class as expected, else at the least
};

/// The piece for `want` bytes of `all` that could move: all of the region when that is enough.
Cut cut_for(const Histogram::Entry& region, Bytes all, Bytes want, std::uint64_t turn);

/// Where in a region the pieces of it begin: 0, but for a class. Every length is reached by some
/// turn, and neighbours in turn are far apart.
Bytes first_cut(const Histogram::Entry& region, std::uint64_t turn);

/// How much of a region is cut off for `want` bytes: aligned to its leaf,
/// counted from its start; the whole length when `want` reaches it, 0 when not
/// even one leaf fits.
Bytes cut_length(const Histogram::Entry& region, Bytes want);

/// The least number of bytes the first `cut` bytes of a region can hold when
/// `held` of its `length` bytes are somewhere in it.
Bytes at_least_in_cut(Bytes length, Bytes held, Bytes cut);

/// Of `held` bytes that lie evenly over `length`, those before `offset`, in whole pages.
Bytes expected_before(Bytes length, Bytes held, Bytes offset);

/// And the offset before which `bytes` of them are.
Bytes offset_after(Bytes length, Bytes held, Bytes bytes);

/// The bytes [begin, end) of a region holds when its `held` bytes lie evenly over `length`: whole
/// pages, and the pieces of a region add up to all of it.
Bytes expected_in_piece(Bytes length, Bytes held, Bytes begin, Bytes end);

}  // namespace hmk::policy
