// SPDX-License-Identifier: MIT
#include "control/server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "control/peer.hpp"
#include "control/served.hpp"

namespace hmk {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using Stream = asio::generic::stream_protocol;
using Code = boost::system::error_code;

Error cannot_listen(const std::string& path, const std::string& why, const std::string& remedy) {
  return {"control socket " + path + ": " + why, remedy};
}

}  // namespace

/// Shared with the handlers in flight, so that none of them outlives what it uses.
class Server::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& loop, Handler handler, Limits limits)
      : acceptor_(loop),
        loopback_(loop),
        rest_(loop),
        loopback_rest_(loop),
        handler_(std::move(handler)),
        limits_(limits) {}

  Result<void> listen(const std::string& path, const Groups& groups);
  Result<void> listen_loopback(const std::string& address);
  void serve_pages(Pages pages) { pages_ = std::move(pages); }
  void keep(std::uint64_t client) { kept_.insert(client); }
  void on_leave(std::function<void(std::uint64_t)> left) { left_ = std::move(left); }
  void close();
  bool subscribe(std::uint64_t client);
  void publish(const nlohmann::json& value, const nlohmann::json& last);
  bool stream(std::uint64_t client, std::string bytes, std::string_view last);
  void end_stream(std::uint64_t client, std::string_view last);
  std::size_t nr_clients() const { return clients_.size(); }
  std::size_t nr_subscribers() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [](const auto& c) { return c->is_subscribed && !c->is_leaving; }));
  }

 private:
  /// Each kind has places of its own, so that none can keep another out.
  enum class Kind { root, member, page_reader };
  struct Client {
    Client(Stream::socket s, Kind k)
        : socket(std::move(s)), deadline(socket.get_executor()), kind(k) {}
    Stream::socket socket;
    asio::steady_timer deadline;
    std::string in, out, waiting;  ///< out: being written; waiting: behind it
    bool is_reading = false, is_writing = false, is_leaving = false;
    bool is_subscribed = false, is_streaming = false;
    /// As long as its queue does not grow.
    bool may_take_its_time() const { return (is_subscribed || is_streaming) && !is_leaving; }
    Kind kind;
    Peer peer;
    std::uint64_t id = 0;
  };
  using ClientPtr = std::shared_ptr<Client>;

  ClientPtr find(std::uint64_t client) const;
  Result<void> make_way(const std::string& path);
  template <class Acceptor>
  void accept(Acceptor& acceptor, asio::steady_timer& rest);
  void welcome(Local::socket socket);
  void welcome(Tcp::socket socket);
  void serve(const ClientPtr& client);
  void read(const ClientPtr& client);
  void handle(const ClientPtr& client, std::size_t bytes);
  void read_head(const ClientPtr& client);
  void answer_get(const ClientPtr& client);
  void send(const ClientPtr& client, std::string_view text, bool is_last);
  void flush(const ClientPtr& client);
  void write(const ClientPtr& client, const nlohmann::json& value, bool is_last);
  void arm(const ClientPtr& client, std::chrono::milliseconds limit);
  void drop(const ClientPtr& client);

  Local::acceptor acceptor_;
  Tcp::acceptor loopback_;
  asio::steady_timer rest_, loopback_rest_;  ///< of each acceptor
  Handler handler_;
  Pages pages_;
  Limits limits_;
  std::optional<gid_t> admins_;
  std::set<ClientPtr> clients_;
  std::set<std::uint64_t> kept_;
  std::uint64_t last_id_ = 0;
  std::function<void(std::uint64_t)> left_;
  std::string path_;
};

Result<void> Server::State::make_way(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directory(std::filesystem::path(path).parent_path(), ignored);
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return {};
  if (!S_ISSOCK(st.st_mode))
    return cannot_listen(path, "a file that is no socket is in the way",
                         "remove it or choose another path with --socket");
  if (is_served(path))
    return cannot_listen(path, "another hmkd serves it",
                         "stop that one or choose another path with --socket");
  ::unlink(path.c_str());
  return {};
}

Result<void> Server::State::listen(const std::string& path, const Groups& groups) {
  if (Result<void> way = make_way(path); !way) return way;
  Code ec;
  acceptor_.open(Local(), ec);
  // Closed to all others until it has its group.
  const mode_t old_mask = ::umask(0177);
  if (!ec) acceptor_.bind(Local::endpoint(path), ec);
  ::umask(old_mask);
  const std::optional<gid_t> readers = find_group(groups.readers);
  // Only root may give the socket away; anybody else keeps it to their own user.
  if (!ec && readers && ::chown(path.c_str(), static_cast<uid_t>(-1), *readers) == 0 &&
      ::chmod(path.c_str(), 0660) != 0)
    ec.assign(errno, boost::system::system_category());
  if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  if (ec)
    return cannot_listen(path, ec.message(),
                         "choose a path this user may write with --socket, or run as root");
  path_ = path;
  admins_ = find_group(groups.admins);
  accept(acceptor_, rest_);
  return {};
}

Result<void> Server::State::listen_loopback(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Code ec;
  const auto ip = asio::ip::make_address(host, ec);
  const int port = colon == address.npos ? 0 : std::atoi(address.c_str() + colon + 1);
  if (ec || !ip.is_loopback() || port < 1 || port > 65535)
    return Error{"metrics: '" + address + "' is no loopback address with a port",
                 "write for example 127.0.0.1:9464"};
  const Tcp::endpoint endpoint(ip, static_cast<std::uint16_t>(port));
  loopback_.open(endpoint.protocol(), ec);
  if (!ec) loopback_.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) loopback_.bind(endpoint, ec);
  if (!ec) loopback_.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return Error{"metrics: " + address + ": " + ec.message(), "choose another port"};
  accept(loopback_, loopback_rest_);
  return {};
}

void Server::State::close() {
  Code ignored;
  left_ = nullptr;  // who would be told is going, too
  acceptor_.close(ignored);
  loopback_.close(ignored);
  rest_.cancel();
  loopback_rest_.cancel();
  while (!clients_.empty()) drop(*clients_.begin());
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

/// Who cannot be accepted for want of a descriptor stays in the queue: at once again would be a
/// loop that takes a CPU.
template <class Acceptor>
void Server::State::accept(Acceptor& acceptor, asio::steady_timer& rest) {
  using Socket = typename Acceptor::protocol_type::socket;
  acceptor.async_accept(
      [self = shared_from_this(), &acceptor, &rest](const Code& ec, Socket socket) {
        if (!acceptor.is_open()) return;
        if (!ec) self->welcome(std::move(socket));
        if (ec != asio::error::no_descriptors) return self->accept(acceptor, rest);
        rest.expires_after(self->limits_.pause);
        rest.async_wait([self, &acceptor, &rest](const Code&) {
          if (acceptor.is_open()) self->accept(acceptor, rest);
        });
      });
}

void Server::State::welcome(Tcp::socket socket) {
  serve(std::make_shared<Client>(std::move(socket), Kind::page_reader));
}

void Server::State::welcome(Local::socket socket) {
  const Peer peer = read_peer(socket.native_handle(), admins_);
  const auto client =
      std::make_shared<Client>(std::move(socket), peer.user == 0 ? Kind::root : Kind::member);
  client->peer = peer;
  serve(client);
}

void Server::State::serve(const ClientPtr& client) {
  const auto nr = std::ranges::count(clients_, client->kind, [](auto& c) { return c->kind; });
  const std::size_t most = client->kind == Kind::root ? limits_.roots : limits_.clients;
  if (static_cast<std::size_t>(nr) >= most) {
    const std::string line =
        to_line(refusal("failed", {"hmkd serves too many clients", "try again in a moment"}));
    ::send(client->socket.native_handle(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  client->id = ++last_id_;
  clients_.insert(client);
  read(client);
}

void Server::State::arm(const ClientPtr& client, std::chrono::milliseconds limit) {
  client->deadline.expires_after(limit);
  client->deadline.async_wait([self = shared_from_this(), client](const Code& ec) {
    if (!ec) self->drop(client);
  });
}

void Server::State::read(const ClientPtr& client) {
  if (client->is_subscribed || kept_.contains(client->id))
    client->deadline.cancel();
  else
    arm(client, limits_.idle);
  if (std::exchange(client->is_reading, true)) return;
  asio::async_read_until(client->socket, asio::dynamic_buffer(client->in, kFrameBytes), '\n',
                         [self = shared_from_this(), client](const Code& ec, std::size_t bytes) {
                           client->is_reading = false;
                           if (!self->clients_.contains(client)) return;
                           if (ec == asio::error::not_found)
                             return self->write(
                                 client,
                                 refusal("usage", {"request is longer than 64 KiB",
                                                   "send one short JSON object per line"}),
                                 true);
                           if (ec) return self->drop(client);
                           self->handle(client, bytes);
                         });
}

/// The rest of an HTTP head, which is read and not looked at: closing a socket with
/// unread bytes could cost the client its answer.
void Server::State::read_head(const ClientPtr& client) {
  asio::async_read_until(client->socket, asio::dynamic_buffer(client->in, kFrameBytes), "\r\n\r\n",
                         [self = shared_from_this(), client](const Code& ec, std::size_t) {
                           if (!self->clients_.contains(client)) return;
                           if (ec) return self->drop(client);
                           self->answer_get(client);
                         });
}

void Server::State::answer_get(const ClientPtr& client) {
  const std::size_t from = std::string_view("GET ").size();
  const Page page = pages_(client->in.substr(from, client->in.find_first_of(" \r", from) - from));
  const bool is_found = !page.body.empty();
  send(client,
       std::string("HTTP/1.1 ") + (is_found ? "200 OK" : "404 Not Found") +
           "\r\nContent-Type: " + (is_found ? page.type : "text/plain") + "\r\nContent-Length: " +
           std::to_string(page.body.size()) + "\r\nConnection: close\r\n\r\n" + page.body,
       true);
}

void Server::State::handle(const ClientPtr& client, std::size_t bytes) {
  if (pages_ && client->in.starts_with("GET ")) return read_head(client);
  if (client->kind == Kind::page_reader || client->is_streaming) return drop(client);
  Result<Request> request = parse_request(std::string_view(client->in).substr(0, bytes));
  client->in.erase(0, bytes);
  // After garbage the stream cannot be trusted to be in step: answer and close.
  if (!request) return write(client, refusal("usage", request.error()), true);
  request->peer = client->peer;
  request->client = client->id;
  write(client, handler_(*request), false);
}

void Server::State::write(const ClientPtr& client, const nlohmann::json& value, bool is_last) {
  send(client, to_line(value), is_last);
}

void Server::State::send(const ClientPtr& client, std::string_view text, bool is_last) {
  client->waiting += text;
  client->is_leaving |= is_last;
  if (!client->is_writing) flush(client);
}

/// A subscriber may take its time as long as its queue does; all others have a limit.
void Server::State::flush(const ClientPtr& client) {
  if (!client->may_take_its_time()) arm(client, limits_.write);
  client->is_writing = true;
  client->out = std::exchange(client->waiting, {});
  asio::async_write(client->socket, asio::buffer(client->out),
                    [self = shared_from_this(), client](const Code& ec, std::size_t /*bytes*/) {
                      client->is_writing = false;
                      if (!self->clients_.contains(client)) return;
                      if (ec) return self->drop(client);
                      if (!client->waiting.empty()) return self->flush(client);
                      if (client->is_leaving) return self->drop(client);
                      self->read(client);
                    });
}

Server::State::ClientPtr Server::State::find(std::uint64_t id) const {
  const auto client = std::ranges::find(clients_, id, [](const auto& c) { return c->id; });
  return client == clients_.end() ? nullptr : *client;
}

bool Server::State::subscribe(std::uint64_t id) {
  const ClientPtr client = find(id);
  if (client) client->is_subscribed = true;
  return client != nullptr;
}

/// One piece may be larger than the queue: nothing waits before it.
bool Server::State::stream(std::uint64_t id, std::string bytes, std::string_view last) {
  const ClientPtr client = find(id);
  if (!client || client->is_leaving) return false;
  client->is_streaming = true;
  client->deadline.cancel();
  if (bytes.empty()) return true;
  if (!client->waiting.empty() && client->waiting.size() + bytes.size() > limits_.stream) {
    client->waiting.clear();
    end_stream(id, last);
    return false;
  }
  if (client->waiting.empty())
    client->waiting = std::move(bytes);
  else
    client->waiting += bytes;
  if (!client->is_writing) flush(client);
  return true;
}

void Server::State::end_stream(std::uint64_t id, std::string_view last) {
  const ClientPtr client = find(id);
  if (!client || client->is_leaving) return;
  send(client, last, true);
  arm(client, limits_.write);
}

void Server::State::publish(const nlohmann::json& value, const nlohmann::json& last) {
  const std::string line = to_line(value);
  for (const ClientPtr& client : std::vector<ClientPtr>(clients_.begin(), clients_.end())) {
    if (!client->is_subscribed || client->is_leaving) continue;
    if (client->waiting.size() + line.size() <= limits_.queue) {
      send(client, line, false);
      continue;
    }
    client->waiting.clear();
    send(client, to_line(last), true);
    arm(client, limits_.write);
  }
}

void Server::State::drop(const ClientPtr& client) {
  const ClientPtr keep = client;  // NOLINT: `client` may live in the set and go with it
  clients_.erase(keep);
  Code ignored;
  keep->deadline.cancel();
  keep->socket.close(ignored);
  if (kept_.erase(keep->id) != 0 && left_) left_(keep->id);
}

Server::Server(asio::io_context& loop, Handler handler, Limits limits)
    : state_(std::make_shared<State>(loop, std::move(handler), limits)) {}

Server::~Server() {
  try {
    state_->close();
  } catch (const std::exception&) {  // a timer that cannot be cancelled: it goes with its client
    return;
  }
}

Result<void> Server::listen(const std::string& path, const Groups& groups) {
  return state_->listen(path, groups);
}

void Server::serve_pages(Pages pages) {
  state_->serve_pages(std::move(pages));
}

Result<void> Server::listen_loopback(const std::string& address) {
  return state_->listen_loopback(address);
}

void Server::keep(std::uint64_t client) {
  state_->keep(client);
}

void Server::on_leave(std::function<void(std::uint64_t)> left) {
  state_->on_leave(std::move(left));
}

bool Server::subscribe(std::uint64_t client) {
  return state_->subscribe(client);
}

void Server::publish(const nlohmann::json& value, const nlohmann::json& last) {
  state_->publish(value, last);
}

bool Server::stream(std::uint64_t client, std::string bytes, std::string_view last) {
  return state_->stream(client, std::move(bytes), last);
}

void Server::end_stream(std::uint64_t client, std::string_view last) {
  state_->end_stream(client, last);
}

std::size_t Server::nr_subscribers() const {
  return state_->nr_subscribers();
}

std::size_t Server::nr_clients() const {
  return state_->nr_clients();
}

}  // namespace hmk
