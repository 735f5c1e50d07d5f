// SPDX-License-Identifier: MIT
#include "link.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace hmk::load {
namespace {

constexpr std::size_t kReceiveBytes = 256 << 10;

void append_header(std::string& out, char kind, std::size_t value) {
  out += kind;
  out += std::to_string(value);
  out += "\r\n";
}

std::size_t number(std::string_view digits) {
  std::size_t number = 0;
  for (const char c : digits) number = number * 10 + static_cast<std::size_t>(c - '0');
  return number;
}

}  // namespace

Link::Link(Server server, const std::string& socket_path)
    : server_(server), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), in_(kReceiveBytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path))
    throw std::runtime_error("socket path too long: " + socket_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0)
    fail("cannot be reached at " + socket_path);
}

void Link::fail(const std::string& what) const {
  const std::string name = server_ == Server::kRedis ? "redis-server" : "memcached";
  throw std::runtime_error(name + " " + what + (errno == 0 ? "" : ": ") +
                           (errno == 0 ? "" : std::strerror(errno)));
}

Link::~Link() {
  close(fd_);
}

void Link::command(std::initializer_list<std::string_view> words) {
  append_header(out_, '*', words.size());
  for (const std::string_view word : words) {
    append_header(out_, '$', word.size());
    out_ += word;
    out_ += "\r\n";
  }
}

void Link::get(std::string_view key) {
  if (server_ == Server::kRedis) return command({"GET", key});
  out_.append("get ").append(key).append("\r\n");
}

void Link::set(std::string_view key, std::string_view value) {
  if (server_ == Server::kRedis) return command({"SET", key, value});
  out_.append("set ").append(key).append(" 0 0 ").append(std::to_string(value.size()));
  out_.append("\r\n").append(value).append("\r\n");
}

void Link::overwrite(std::string_view key, std::string_view value) {
  if (server_ == Server::kRedis) return command({"SETRANGE", key, "0", value});
  set(key, value);
}

void Link::flush() {
  for (std::size_t sent = 0; sent < out_.size();) {
    const ssize_t n = write(fd_, out_.data() + sent, out_.size() - sent);
    if (n < 0 && errno != EINTR) fail("takes no more requests");
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
  out_.clear();
}

void Link::need(std::size_t bytes) {
  if (end_ - begin_ >= bytes) return;
  std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (in_.size() < bytes) in_.resize(bytes);
  while (end_ < bytes) {
    const ssize_t n = read(fd_, in_.data() + end_, in_.size() - end_);
    if (n == 0) errno = 0, fail("closed the connection");
    if (n < 0 && errno != EINTR) fail("sends no more replies");
    if (n > 0) end_ += static_cast<std::size_t>(n);
  }
}

std::string_view Link::line() {
  for (std::size_t length = 0;; ++length) {
    need(length + 2);
    const char* at = in_.data() + begin_ + length;
    if (at[0] != '\r' || at[1] != '\n') continue;
    const std::string_view found(in_.data() + begin_, length);
    begin_ += length + 2;
    return found;
  }
}

/// What comes next, without the framing after it. May move the buffer.
std::string_view Link::data(std::size_t bytes, std::size_t framing) {
  need(bytes + framing);
  const std::string_view text(in_.data() + begin_, bytes);
  begin_ += bytes + framing;
  return text;
}

Link::Reply Link::reply() {
  return server_ == Server::kRedis ? redis_reply() : memcached_reply();
}

Link::Reply Link::redis_reply() {
  const std::string_view head = line();
  if (head == "$-1") return {'0', {}};
  if (head.starts_with('$')) return {'$', data(number(head.substr(1)), 2)};
  const bool is_stored = head.starts_with('+') || head.starts_with(':');
  return {is_stored ? '+' : '-', head};
}

Link::Reply Link::memcached_reply() {
  const std::string_view head = line();
  if (head == "STORED") return {'+', head};
  if (head == "END") return {'0', {}};
  if (!head.starts_with("VALUE ")) return {'-', head};
  constexpr std::string_view kEnd = "\r\nEND\r\n";
  return {'$', data(number(head.substr(head.rfind(' ') + 1)), kEnd.size())};
}

}  // namespace hmk::load
