// SPDX-License-Identifier: MIT
// Any bytes as a line of the control protocol: a request that can be printed and read again, or a refusal of one line.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "control/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const hmk::Result<hmk::Request> got = hmk::parse_request(line);
  if (!got) {
    const std::string told = hmk::to_line(hmk::refusal("usage", got.error()));
    if (told.find('\n') != told.size() - 1) std::abort();
    return 0;
  }
  const std::string said = hmk::to_line({{"verb", got->verb}, {"args", got->args}});
  const hmk::Result<hmk::Request> again = hmk::parse_request(said);
  if (!again || hmk::to_line(again->args) != hmk::to_line(got->args)) std::abort();
  return 0;
}
