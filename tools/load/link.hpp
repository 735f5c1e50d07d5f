// SPDX-License-Identifier: MIT
// A pipelined connection to redis-server over a Unix socket.
//
//   Link link("/run/redis.sock");
//   link.command({"GET", key});
//   link.flush();                       // sends what was collected
//   Link::Reply reply = link.reply();   // points into the receive buffer until the next call
//
// Speaks the protocol itself because each reply is checked where it was received: the client
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

class Link {
 public:
  struct Reply {
    char kind;              // '+' status, '-' error, ':' integer, '$' string, '0' no such key
    std::string_view text;  // without the framing
  };

  explicit Link(const std::string& socket_path);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void command(std::initializer_list<std::string_view> words);
  void flush();
  Reply reply();

 private:
  std::string_view line();
  void need(std::size_t bytes);  // at least so many unread bytes are in the buffer

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
