// SPDX-License-Identifier: MIT
//
// The control socket on the loop. Whatever a client does - garbage, floods,
// silence, never reading - costs that client its connection and nobody else.
//
//   Server server(loop, [&](const Request& r) { return verbs.run(r); });
//   Result<void> open = server.listen("/run/hmk/control.sock", "hmk");
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "control/protocol.hpp"

namespace hmk {

class Server {
 public:
  using Handler = std::function<nlohmann::json(const Request&)>;

  /// What `GET path` gives; an empty body is "404 Not Found".
  struct Page {
    std::string type, body;
  };
  using Pages = std::function<Page(const std::string& path)>;

  struct Limits {
    std::size_t clients = 64;  ///< on the socket, and as many again on the loopback address
    std::size_t roots = 8;     ///< besides these: root's, whom nobody else may keep out
    std::chrono::milliseconds idle{30'000};  ///< for a whole request to arrive
    std::chrono::milliseconds write{5'000};  ///< for an answer to be taken
    std::size_t queue = 64UL * 1024;         ///< bytes of events that wait for one subscriber
    std::size_t stream = 64UL << 20;         ///< bytes that wait for one who takes a stream
    std::chrono::milliseconds pause{1'000};  ///< where no descriptor is left to accept with
  };

  Server(boost::asio::io_context& loop, Handler handler, Limits limits);
  Server(boost::asio::io_context& loop, Handler handler)
      : Server(loop, std::move(handler), Limits{}) {}
  ~Server();

  /// Who may do what on the socket.
  struct Groups {
    std::string readers;  ///< may connect; without such a group only hmkd's own user and root
    std::string admins;   ///< of the readers: may also change things
  };
  /// Make the socket (mode 0660 for the group of the readers, else 0600) and accept. A
  /// socket file that nobody serves any more is replaced; a served one is not.
  Result<void> listen(const std::string& path, const Groups& groups);

  /// Answer `GET` on the socket too: curl --unix-socket PATH http://localhost/metrics
  void serve_pages(Pages pages);
  /// The same on a loopback address, "127.0.0.1:9464" or "[::1]:9464". Pages only:
  /// no verb is taken there, for anybody on this machine may connect.
  Result<void> listen_loopback(const std::string& address);

  /// From now on `client` (Request::client) may be silent: it is told of when it leaves.
  void keep(std::uint64_t client);
  /// Called when such a client has gone, however it went.
  void on_leave(std::function<void(std::uint64_t client)> left);

  /// From now on `client` gets what is published and may be silent; false: it has no connection.
  bool subscribe(std::uint64_t client);
  /// A line to each subscriber, without waiting for any: who lets more wait than its queue holds
  /// gets `last` instead of what waits, and is dropped.
  void publish(const nlohmann::json& value, const nlohmann::json& last);

  /// Bytes for a client that is kept, without waiting for it; it asks nothing more. Who lets more
  /// wait than a stream may hold gets `last` instead of what waits, and is dropped: then false.
  bool stream(std::uint64_t client, std::string bytes, std::string_view last);
  /// Nothing comes behind these.
  void end_stream(std::uint64_t client, std::string_view last);

  std::size_t nr_clients() const;
  std::size_t nr_subscribers() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hmk
