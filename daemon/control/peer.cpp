// SPDX-License-Identifier: MIT
#include "control/peer.hpp"

#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace hmk {
namespace {

std::vector<gid_t> peer_groups(int socket_fd) {
  std::vector<gid_t> groups(1024);
  auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) return {};
  groups.resize(bytes / sizeof(gid_t));
  return groups;
}

}  // namespace

std::optional<gid_t> find_group(const std::string& name) {
  const group* const found = getgrnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

Peer read_peer(int socket_fd, std::optional<gid_t> admin_group) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  if (peer.uid == 0 || peer.uid == geteuid()) return {peer.uid, true};
  if (!admin_group) return {peer.uid, false};
  const std::vector<gid_t> groups = peer_groups(socket_fd);
  return {peer.uid,
          peer.gid == *admin_group || std::ranges::find(groups, *admin_group) != groups.end()};
}

}  // namespace hmk
