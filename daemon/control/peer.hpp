// SPDX-License-Identifier: MIT
//
// Who is at the other end of a Unix socket, and may they change anything?
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace hmk {

/// The group's number; nothing when the machine has no such group.
std::optional<gid_t> find_group(const std::string& name);

/// As the kernel knows it (SO_PEERCRED, SO_PEERGROUPS): the client cannot lie.
struct Peer {
  uid_t user = static_cast<uid_t>(-1);  ///< nobody
  bool may_change = false;              ///< root, hmkd's own user or a member of the admin group
};

/// Nobody, who may change nothing, when the kernel does not tell.
Peer read_peer(int socket_fd, std::optional<gid_t> admin_group);

}  // namespace hmk
