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

/// True for root, for hmkd's own user and for members of `group`. Asked of the
/// kernel (SO_PEERCRED, SO_PEERGROUPS), so the client cannot lie.
bool peer_may_change(int socket_fd, std::optional<gid_t> group);

}  // namespace hmk
