// SPDX-License-Identifier: MIT
//
// What a hint costs the program that gives it, and hmkd: with nobody who listens, with the server
// of hmkd in a process beside it, from four threads at a time, and at a million a second.
#include "hints/hint_server.hpp"

#include <hmk/hints.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench.hpp"

namespace hmk::bench {

namespace {

constexpr int kBatch = 100'000, kBatches = 101, kThreads = 4;
constexpr std::uint64_t kObjects = 1000, kObjectBytes = 1 << 20;
constexpr double kPacedPerSecond = 1e6, kPacedSeconds = 2;

/// In a process of its own until the object ends.
class Listener {
 public:
  explicit Listener(const std::string& socket) : parent_(::getpid()) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) serve(socket, ready[1]);
    char byte = 0;
    const bool is_ready = child_ > 0 && ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    ::close(ready[1]);
    if (!is_ready) throw std::runtime_error("nobody listens at " + socket);
  }
  ~Listener() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// That it has used, in ns.
  double cpu_ns() const {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(child_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
  }

 private:
  [[noreturn]] void serve(const std::string& socket, int ready) const {
    boost::asio::io_context loop;
    std::unique_ptr<HintServer> server;
    server = std::make_unique<HintServer>(
        loop, HintServer::Handlers{
                  .is_welcome = [this](std::int32_t pid) { return pid == parent_; },
                  .on_news = [&](std::int32_t pid) { (void)server->table_of(pid)->read(); }});
    if (server->listen(socket) && ::write(ready, "r", 1) == 1) loop.run();
    ::_exit(1);
  }

  pid_t parent_, child_ = -1;
};

/// Of a call, in ns of CPU time.
double median_ns(hmk_object object) {
  std::vector<double> each;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = Clock::now();
    for (int i = 0; i < kBatch; ++i) hmk_will_use(object);
    each.push_back(static_cast<double>((Clock::now() - begin).count()) / kBatch);
  }
  return median(each);
}

double ns_of_threads(const std::vector<hmk_object>& objects) {
  std::vector<double> each(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { each[t] = median_ns(objects[t]); });
  for (std::thread& thread : threads) thread.join();
  return median(each);
}

/// Of hmkd's CPU, at kPacedPerSecond hints on all objects in turn.
double listener_percent(const Listener& listener, const std::vector<hmk_object>& objects) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = listener.cpu_ns();
  std::uint64_t given = 0;
  double seconds = 0;
  while (seconds < kPacedSeconds) {
    for (; static_cast<double>(given) < seconds * kPacedPerSecond; ++given)
      hmk_will_use(objects[given % objects.size()]);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return 100 * (listener.cpu_ns() - before) / (seconds * 1e9);
}

std::vector<hmk_object> registered() {
  std::vector<hmk_object> objects;
  for (std::uint64_t i = 0; i < kObjects; ++i)
    objects.push_back(
        hmk_register(reinterpret_cast<void*>((i + 1) * kObjectBytes), kObjectBytes, "bench", 0));
  return objects;
}

}  // namespace

nlohmann::ordered_json hints() {
  std::string folder = (std::filesystem::temp_directory_path() / "hmk-hints-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const std::string socket = folder + "/hints.sock";
  ::setenv("HMK_HINTS_SOCKET", socket.c_str(), 1);
  const std::vector<hmk_object> objects = registered();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  rows.push_back({{"case", "no object"}, {"ns", median_ns(0)}});
  rows.push_back({{"case", "nobody listens"}, {"ns", median_ns(objects[0])}});
  {
    const Listener listener(socket);
    if (const int err = hmk_hints_open(); err != 0)
      throw std::runtime_error("not connected: " + std::to_string(err));
    rows.push_back({{"case", "heard"}, {"ns", median_ns(objects[0])}});
    rows.push_back({{"case", "four threads"}, {"ns", ns_of_threads(objects)}});
    rows.push_back({{"case", "a million a second"},
                    {"listener_percent", listener_percent(listener, objects)}});
  }
  std::filesystem::remove_all(folder);
  return rows;
}

}  // namespace hmk::bench
