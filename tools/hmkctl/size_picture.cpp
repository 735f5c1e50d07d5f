// SPDX-License-Identifier: MIT
#include "size_picture.hpp"

#include "chart.hpp"
#include "table.hpp"

namespace hmkctl {

std::string size_picture(const std::string& title, const std::vector<Sized>& sizes,
                         const Prices& prices, std::uint64_t enough) {
  const auto as = [](Unit unit) {
    return [unit](double value) { return to_text(nlohmann::json(value), unit); };
  };
  Chart chart(title, {0, static_cast<double>(sizes.back().bytes), as(Unit::bytes)},
              {prices.fast_ns, prices.slow_ns, as(Unit::ns)});
  const auto line = [&](double Sized::*latency, std::size_t hue, const char* name) {
    std::vector<Chart::Point> points{{0, prices.slow_ns}};
    for (const Sized& sized : sizes)
      points.push_back({static_cast<double>(sized.bytes), sized.*latency});
    chart.line(points, colour(hue), name);
  };
  line(&Sized::stays_ns, 0, "memory stays");
  line(&Sized::moves_ns, 1, "memory moves");
  line(&Sized::bound_ns, 5, "at least");
  chart.mark(static_cast<double>(enough), "enough");
  return chart.file();
}

}  // namespace hmkctl
