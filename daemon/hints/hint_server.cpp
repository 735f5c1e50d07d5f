// SPDX-License-Identifier: MIT
#include "hints/hint_server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "control/served.hpp"
#include "util/fd.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using Code = boost::system::error_code;
using Clock = std::chrono::steady_clock;

std::int32_t pid_of(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : -1;
}

void answer(int socket, int err) {
  const std::int32_t word = -err;
  ::send(socket, &word, sizeof(word), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// What came with the next bytes. None: nothing did, and `is_open` says whether more may come.
Fd receive(int socket, bool& is_open) {
  std::array<char, 64> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  iovec data{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  is_open = got > 0 || (got < 0 && errno == EAGAIN);
  const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  return Fd(fd);
}

}  // namespace

/// Shared with the handlers in flight, so that none of them outlives what it uses.
class HintServer::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& loop, Handlers handlers, Limits limits)
      : acceptor_(loop), pause_(loop), handlers_(std::move(handlers)), limits_(limits) {}

  Result<void> listen(const std::string& path);
  const HintTable* table_of(std::int32_t pid) const {
    const auto found = clients_.find(pid);
    return found != clients_.end() && found->second->table ? &*found->second->table : nullptr;
  }
  void forget(std::int32_t pid) {
    drop(pid);
    told_.erase(pid);
  }
  void close();

 private:
  struct Client {
    explicit Client(Local::socket s) : socket(std::move(s)), timer(socket.get_executor()) {}
    Local::socket socket;
    asio::steady_timer timer;  ///< until it has to have introduced itself; then, is read
    Clock::time_point next_read{};
    Clock::duration spent_before{};  ///< of spent_, when it was read last
    std::optional<HintTable> table;
    std::int32_t pid = 0;
  };
  using ClientPtr = std::shared_ptr<Client>;

  bool is_there(const ClientPtr& client) const {
    const auto found = clients_.find(client->pid);
    return found != clients_.end() && found->second == client;
  }
  void drop(std::int32_t pid);
  void accept();
  void welcome(Local::socket socket);
  void wait(const ClientPtr& client);
  void on_readable(const ClientPtr& client);
  void take_table(const ClientPtr& client, Fd fd);
  void read(const ClientPtr& client);
  void read_now(const ClientPtr& client);

  Local::acceptor acceptor_;
  asio::steady_timer pause_;
  Handlers handlers_;
  Limits limits_;
  std::map<std::int32_t, ClientPtr> clients_;  ///< by PID: the last of each counts
  Clock::duration spent_{};                    ///< in on_news
  std::set<std::int32_t> told_;                ///< whom the log knows, until it is forgotten
  std::string path_;
};

Result<void> HintServer::State::listen(const std::string& path) {
  if (is_served(path))
    return Error{"hints socket " + path + ": another hmkd serves it",
                 "choose another folder with --socket"};
  struct stat st {};
  if (::lstat(path.c_str(), &st) == 0 && S_ISSOCK(st.st_mode)) ::unlink(path.c_str());
  Code ec;
  acceptor_.open(Local(), ec);
  if (!ec) acceptor_.bind(Local::endpoint(path), ec);
  if (!ec && ::chmod(path.c_str(), 0666) != 0) ec.assign(errno, boost::system::system_category());
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (ec)
    return Error{"hints socket " + path + ": " + ec.message(),
                 "programs cannot tell hmkd anything"};
  path_ = path;
  accept();
  return {};
}

/// Whoever it was may come again at once.
void HintServer::State::accept() {
  acceptor_.async_accept([self = shared_from_this()](const Code& ec, Local::socket socket) {
    if (!self->acceptor_.is_open()) return;
    if (!ec) self->welcome(std::move(socket));
    self->pause_.expires_after(self->limits_.pause);
    self->pause_.async_wait([self](const Code&) {
      if (self->acceptor_.is_open()) self->accept();
    });
  });
}

void HintServer::State::welcome(Local::socket socket) {
  const std::int32_t pid = pid_of(socket.native_handle());
  if (pid <= 0 || !handlers_.is_welcome(pid)) return answer(socket.native_handle(), ENOTCONN);
  drop(pid);
  const auto client = std::make_shared<Client>(std::move(socket));
  client->pid = pid;
  client->spent_before = spent_;
  clients_[pid] = client;
  client->timer.expires_after(limits_.introduction);
  client->timer.async_wait([self = shared_from_this(), client](const Code& ec) {
    if (!ec && !client->table && self->is_there(client)) self->drop(client->pid);
  });
  wait(client);
}

void HintServer::State::wait(const ClientPtr& client) {
  client->socket.async_wait(Local::socket::wait_read,
                            [self = shared_from_this(), client](const Code& ec) {
                              if (self->is_there(client) && !ec) self->on_readable(client);
                            });
}

void HintServer::State::on_readable(const ClientPtr& client) {
  bool is_open = true;
  Fd fd = receive(client->socket.native_handle(), is_open);
  if (!is_open) return drop(client->pid);
  if (!client->table) return take_table(client, std::move(fd));
  read(client);
}

void HintServer::State::take_table(const ClientPtr& client, Fd fd) {
  Result<HintTable> table =
      fd ? HintTable::adopt(std::move(fd)) : Error{"no table of hints came", "use libhmk", EBADMSG};
  if (!table) {
    if (told_.insert(client->pid).second)
      spdlog::warn("hints refused pid={} reason=\"{}\"", client->pid, table.error().line());
    answer(client->socket.native_handle(), table.error().err);
    return drop(client->pid);
  }
  client->table = *std::move(table);
  answer(client->socket.native_handle(), 0);
  if (told_.insert(client->pid).second) spdlog::info("hints from pid={}", client->pid);
  read_now(client);
}

/// However often it rings, and however long a decision takes: of a large process it may be 100 ms.
void HintServer::State::read(const ClientPtr& client) {
  client->timer.expires_at(client->next_read);
  client->timer.async_wait([self = shared_from_this(), client](const Code&) {
    if (self->is_there(client)) self->read_now(client);
  });
}

/// What is said from now on rings, and what was said before is read.
void HintServer::State::read_now(const ClientPtr& client) {
  client->table->fall_asleep();
  const auto begin = Clock::now();
  handlers_.on_news(client->pid);
  const auto end = Clock::now();
  spent_ += end - begin;
  const auto since = spent_ - std::exchange(client->spent_before, spent_);
  client->next_read = end + std::max<Clock::duration>(limits_.rest, since * (limits_.parts - 1));
  if (is_there(client)) wait(client);
}

void HintServer::State::drop(std::int32_t pid) {
  const auto found = clients_.find(pid);
  if (found == clients_.end()) return;
  const ClientPtr client = found->second;
  clients_.erase(found);
  Code ignored;
  client->timer.cancel();
  client->socket.close(ignored);
}

void HintServer::State::close() {
  Code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  while (!clients_.empty()) drop(clients_.begin()->first);
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

HintServer::HintServer(asio::io_context& loop, Handlers handlers, Limits limits)
    : state_(std::make_shared<State>(loop, std::move(handlers), limits)) {}

HintServer::~HintServer() {
  try {
    state_->close();
  } catch (const std::exception&) {  // a timer that cannot be cancelled: it goes with its client
    return;
  }
}

Result<void> HintServer::listen(const std::string& path) {
  return state_->listen(path);
}

const HintTable* HintServer::table_of(std::int32_t pid) const {
  return state_->table_of(pid);
}

void HintServer::forget(std::int32_t pid) {
  state_->forget(pid);
}

}  // namespace hmk
