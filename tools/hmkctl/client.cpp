// SPDX-License-Identifier: MIT
#include "client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/fd.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestAnswer = 256u << 20;  // a broken peer must not fill our memory

Reply unreachable(const std::string& path, const std::string& why, const std::string& remedy) {
  return {kUnreachable, {"hmkd not reachable at " + path + ": " + why, remedy}};
}

Reply explain_connect(const std::string& path, int err) {
  if (err == EACCES || err == EPERM)
    return unreachable(path, "this user may not open the socket",
                       "run as root or as a member of the group hmk (hmk-admin may change things)");
  return unreachable(path, std::strerror(err),
                     "start it with 'systemctl start hmkd' or name its socket with --socket");
}

/// 0 or the errno.
int connect_to(const hmk::Fd& fd, const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const timeval limit{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0
             ? 0
             : errno;
}

bool send_all(const hmk::Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Up to the newline; what came so far when the peer stops early. What comes behind it is `rest`.
std::string receive_line(const hmk::Fd& fd, std::string& rest) {
  std::string line = std::exchange(rest, {});
  std::array<char, 65536> part{};
  std::size_t end = line.find('\n');
  while (end == line.npos && line.size() < kLongestAnswer) {
    const ssize_t got = ::recv(fd.get(), part.data(), part.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return line;
    const std::size_t before = line.size();
    line.append(part.data(), static_cast<std::size_t>(got));
    end = line.find('\n', before);
  }
  rest = line.substr(std::min(end, line.size() - 1) + 1);
  line.resize(line.size() - rest.size());
  return line;
}

std::string text_of(const json& error, const char* member) {
  const auto found = error.find(member);
  return found != error.end() && found->is_string() ? found->get<std::string>() : "";
}

Reply read_reply(const std::string& path, const std::string& line) {
  const json reply = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!reply.is_object() || !reply.contains("ok"))
    return unreachable(path, "it does not answer in hmkd's protocol",
                       "check that hmkd runs there and is not stuck (journalctl -u hmkd)");
  if (reply["ok"] == true) return {kOk, {}, reply.value("data", json::object())};
  const json error = reply.value("error", json::object());
  return {text_of(error, "kind") == "usage" ? kUsage : kFailed,
          {text_of(error, "what"), text_of(error, "remedy"), error.value("errno", 0)}};
}

}  // namespace

Reply Connection::ask(const std::string& verb, const json& args) {
  if (!fd_) {
    fd_ = hmk::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (const int err = fd_ ? connect_to(fd_, path_) : errno) return explain_connect(path_, err);
  }
  json request{{"verb", verb}};
  if (!args.empty()) request["args"] = args;
  // Even when sending fails hmkd may have answered why ("too many clients").
  send_all(fd_, request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  return read_reply(path_, receive_line(fd_, rest_));
}

std::optional<json> Connection::next() {
  const timeval forever{};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
  json value = json::parse(receive_line(fd_, rest_), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return std::nullopt;
  return value;
}

Connection::Came Connection::receive(std::string& bytes, std::chrono::milliseconds limit) {
  if (!rest_.empty()) {
    bytes += std::exchange(rest_, {});
    return Came::bytes;
  }
  pollfd readable{fd_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(limit.count())) <= 0) return Came::nothing;
  std::array<char, 65536> part{};
  const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), 0);
  if (got < 0 && errno == EINTR) return Came::nothing;
  if (got <= 0) return Came::end;
  bytes.append(part.data(), static_cast<std::size_t>(got));
  return Came::bytes;
}

Reply ask(const std::string& path, const std::string& verb, const json& args) {
  return Connection(path).ask(verb, args);
}

}  // namespace hmkctl
