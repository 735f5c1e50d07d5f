// SPDX-License-Identifier: MIT
// Any bytes as the mapped table: the reader stays within them (ASan sees it if not) and within its own records.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "hmk/table_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kRoom = 8;
  const std::unique_ptr<std::uint64_t[]> mapped(new std::uint64_t[size / 8 + 1]);  // ends where the bytes do
  if (size) std::memcpy(mapped.get(), data, size);
  hmk_interval interval{};
  const std::unique_ptr<hmk_record[]> records(new hmk_record[kRoom]());
  std::size_t nr = 0;
  for (const std::size_t room : {std::size_t{0}, kRoom}) {
    const int ret = hmk_table_read(mapped.get(), size, &interval, records.get(), room, &nr);
    if ((ret == 0 && nr > room) || (ret != 0 && ret != -ENOSPC && nr != 0)) std::abort();
  }
  return 0;
}
