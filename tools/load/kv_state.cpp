// SPDX-License-Identifier: MIT
#include <fstream>
#include <stdexcept>

#include "kv.hpp"

namespace hmk::load {
namespace {

struct Header {
  std::uint64_t magic, value_bytes, keys;
};
constexpr std::uint64_t kMagic = 0x3176'6b6b'6d68;  // "hmkkv1"

}  // namespace

KvState KvState::load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Header header{};
  in.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (!in || header.magic != kMagic || header.keys > UINT32_MAX)
    throw std::runtime_error(file + ": no state of a fill; run 'fill' first");
  KvState state;
  state.value_bytes = header.value_bytes;
  state.versions.resize(header.keys);
  in.read(reinterpret_cast<char*>(state.versions.data()),
          static_cast<std::streamsize>(header.keys * sizeof(std::uint32_t)));
  if (!in) throw std::runtime_error(file + ": truncated; run 'fill' again");
  return state;
}

void KvState::save(const std::string& file) const {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  const Header header{kMagic, value_bytes, versions.size()};
  out.write(reinterpret_cast<const char*>(&header), sizeof(header));
  out.write(reinterpret_cast<const char*>(versions.data()),
            static_cast<std::streamsize>(versions.size() * sizeof(std::uint32_t)));
  out.close();
  if (!out) throw std::runtime_error(file + ": cannot be written");
}

}  // namespace hmk::load
