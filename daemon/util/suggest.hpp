// SPDX-License-Identifier: MIT
//
// The nearest known word to a misspelt one. Header-only, so that hmkctl can use
// it without linking the daemon.
//
//   nearest("intervall", words)  ->  "interval"
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hmk {

/// Edits (insert, delete, replace, swap neighbours) between two words.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Empty when nothing is near enough to be what was meant (a third of the word).
/// Words longer than 64 characters are no typing mistakes: the cost stays bounded.
inline std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  if (word.size() > 64) return best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // A prefix such as "stat" is a likely start of the word, whatever its length.
    const bool is_start = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = is_start ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

/// "; did you mean 'interval'?" or nothing.
inline std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string{} : "did you mean '" + std::string(near) + "'?";
}

}  // namespace hmk
