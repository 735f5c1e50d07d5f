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

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void append_header(std::string& out, char kind, std::size_t value) {
  out += kind;
  out += std::to_string(value);
  out += "\r\n";
}

}  // namespace

Link::Link(const std::string& socket_path)
    : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), in_(kReceiveBytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path))
    throw std::runtime_error("socket path too long: " + socket_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0)
    fail("cannot reach redis-server at " + socket_path);
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

void Link::flush() {
  for (std::size_t sent = 0; sent < out_.size();) {
    const ssize_t n = write(fd_, out_.data() + sent, out_.size() - sent);
    if (n < 0 && errno != EINTR) fail("cannot send to redis-server");
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
    if (n == 0) throw std::runtime_error("redis-server closed the connection");
    if (n < 0 && errno != EINTR) fail("cannot receive from redis-server");
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

Link::Reply Link::reply() {
  const std::string_view head = line();
  if (head.empty()) throw std::runtime_error("redis-server sent an empty line");
  if (head[0] != '$') return {head[0], head.substr(1)};
  if (head == "$-1") return {'0', {}};
  std::size_t length = 0;
  for (const char c : head.substr(1)) length = length * 10 + static_cast<std::size_t>(c - '0');
  need(length + 2);  // may move the buffer: head is gone from here on
  const std::string_view text(in_.data() + begin_, length);
  begin_ += length + 2;
  return {'$', text};
}

}  // namespace hmk::load
