// SPDX-License-Identifier: MIT
// A pipelined connection to redis-server or memcached over a Unix socket.
//
//   Link link(Server::kRedis, "/run/redis.sock");
//   link.get(key);
//   link.flush();                       // sends what was collected
//   Link::Reply reply = link.reply();   // points into the receive buffer until the next call
//
// Speaks the protocols itself because each reply is checked where it was received: the client
// shares a slow emulated machine with what it measures, and hiredis copies every value twice.
// Errors throw std::runtime_error; none of them is expected.
#ifndef HMK_LOAD_LINK_HPP
#define HMK_LOAD_LINK_HPP

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hmk::load {

enum class Server { kRedis, kMemcached };

class Link {
 public:
  struct Reply {
    char kind;              // '+' stored, '-' error, '$' value, '0' no such key
    std::string_view text;  // without the framing
  };

  Link(Server server, const std::string& socket_path);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void get(std::string_view key);
  void set(std::string_view key, std::string_view value);
  /// Where it is, if the server can: memcached always writes beside the old value.
  void overwrite(std::string_view key, std::string_view value);
  void flush();
  Reply reply();

 private:
  void command(std::initializer_list<std::string_view> words);
  Reply redis_reply();
  Reply memcached_reply();
  std::string_view line();
  std::string_view data(std::size_t bytes, std::size_t framing);
  [[noreturn]] void fail(const std::string& what) const;
  void need(std::size_t bytes);  // at least so many unread bytes are in the buffer

  Server server_;
  int fd_;
  std::string out_;
  std::vector<char> in_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Asks and takes with several batches under way, so that client and server work side by side
/// and neither waits for the other to be scheduled. `ask(i)` collects request i with
/// `link.command()` and returns true, or false when there is nothing more to ask; `take(i, reply)`
/// gets the replies in the same order.
template <typename Ask, typename Take>
void pipeline(Link& link, std::uint64_t batch, Ask ask, Take take) {
  constexpr std::uint64_t kBatchesUnderWay = 4;
  std::uint64_t asked = 0, taken = 0;
  bool has_more = true;
  while (has_more || taken < asked) {
    while (has_more && asked - taken <= (kBatchesUnderWay - 1) * batch) {
      for (std::uint64_t i = 0; i < batch && has_more; ++i) {
        has_more = ask(asked);
        asked += has_more;
      }
      link.flush();
    }
    for (std::uint64_t i = 0; i < batch && taken < asked; ++i, ++taken) take(taken, link.reply());
  }
}

}  // namespace hmk::load

#endif
