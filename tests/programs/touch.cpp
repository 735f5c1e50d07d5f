// SPDX-License-Identifier: MIT
// hmk-touch: does to its own memory what it is told on stdin, so that a test knows exactly which
// pages were touched, and when. Prints "ready PID" and one answer per command:
//
//   map PAGES [4KiB|thp|shmem]     ok ID START LENGTH      maps, touches nothing
//   read|write ID FIRST END STEP   ok NR_TOUCHED           pages FIRST, FIRST+STEP, .. below END
//   loop read|write ID FIRST END STEP      ok              the same, over and over, until
//   stop                           ok ROUNDS
//   unmap ID FIRST END             ok
//   dontneed ID FIRST END          ok
//   protect ID FIRST END none|r|rw ok
//   remap ID PAGES                 ok ID START LENGTH      mremap(2), may move
//   fork                           ok CHILD                the child sleeps until
//   reap                           ok
//   hints                          ok ERR                 hmk_hints_open(): 0 or a negative errno
//   register ID LABEL              ok OBJECT              libhmk's, of the whole area
//   say OBJECT will_read|will_write|will_use|archive|retire|unregister     ok
//   will OBJECT PASSES             ok                     hmk_will(), to read and to write
//   exec                           (nothing; "ready PID" again from the new program)
//   exit
//
// A command that fails answers "error ..." and changes nothing.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <hmk/hints.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

#include "common.hpp"

namespace {

using namespace hmk::test;

struct Area {
  char* start;
  std::size_t length;
};

struct Pattern {
  bool is_write;
  char* start;
  std::size_t first, end, step;

  std::size_t touch() const {
    std::size_t touched = 0;
    for (std::size_t i = first; i < end; i += step, ++touched) {
      volatile char* at = start + i * kPage;
      const char seen = *at;
      if (is_write) *at = static_cast<char>(seen + 1);
    }
    return touched;
  }
};

class Toucher {
 public:
  ~Toucher() { stop(); }

  /// The answer to one line.
  std::string act(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "map") return map(words);
    if (verb == "read" || verb == "write")
      return "ok " + std::to_string(pattern(verb, words).touch());
    if (verb == "loop") return loop(words);
    if (verb == "stop") return "ok " + std::to_string(stop());
    if (verb == "remap") return remap(words);
    if (verb == "unmap" || verb == "dontneed" || verb == "protect") return change(verb, words);
    if (verb == "fork") return fork_child();
    if (verb == "reap") return reap();
    if (verb == "hints") return "ok " + std::to_string(hmk_hints_open());
    if (verb == "register") return give_a_name(words);
    if (verb == "say") return say(words);
    if (verb == "will") {
      const auto object = next<hmk_object>(words, "an object");
      hmk_will(object, HMK_READ_WRITE, next<double>(words, "a number of passes"));
      return "ok";
    }
    if (verb == "exec") {
      execl("/proc/self/exe", "hmk-touch", nullptr);
      fail("exec");
    }
    throw std::runtime_error("unknown command: " + verb);
  }

 private:
  template <typename T>
  static T next(std::istringstream& words, const char* what) {
    T value;
    if (!(words >> value)) throw std::runtime_error(std::string("want ") + what);
    return value;
  }

  Area& area(std::istringstream& words) {
    const auto id = next<std::size_t>(words, "an area");
    if (id >= areas_.size()) throw std::runtime_error("no area " + std::to_string(id));
    return areas_[id];
  }

  std::string describe(std::size_t id) const {
    return "ok " + std::to_string(id) + " " +
           std::to_string(reinterpret_cast<std::uintptr_t>(areas_[id].start)) + " " +
           std::to_string(areas_[id].length);
  }

  // Areas live until the program ends or unmaps them itself: mappings are what is tested here.
  std::string map(std::istringstream& words) {
    const auto nr_pages = next<std::size_t>(words, "a number of pages");
    std::string kind = "4KiB";
    words >> kind;
    const int share = kind == "shmem" ? MAP_SHARED : MAP_PRIVATE;
    const std::size_t length = nr_pages * kPage;
    // The rest of the 2 MiB on both sides stays unmapped, so that areas never merge.
    void* hole = mmap(nullptr, length + 2 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (hole == MAP_FAILED) fail("map");
    char* const at =
        static_cast<char*>(hole) + kHuge - reinterpret_cast<std::uintptr_t>(hole) % kHuge;
    munmap(hole, length + 2 * kHuge);
    void* start = mmap(at, length, PROT_READ | PROT_WRITE,
                       share | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (start == MAP_FAILED) fail("map");
    madvise(start, length, kind == "thp" ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    areas_.push_back({static_cast<char*>(start), length});
    return describe(areas_.size() - 1);
  }

  Pattern pattern(const std::string& verb, std::istringstream& words) {
    const Area& where = area(words);
    const auto first = next<std::size_t>(words, "a first page");
    const auto end = next<std::size_t>(words, "an end page");
    const auto step = next<std::size_t>(words, "a step");
    if (step == 0 || first > end || end > where.length / kPage)
      throw std::runtime_error("pages outside the area");
    return {verb == "write", where.start, first, end, step};
  }

  std::string loop(std::istringstream& words) {
    if (looper_.joinable()) throw std::runtime_error("a loop runs already; say stop");
    const auto verb = next<std::string>(words, "read or write");
    is_looping_ = true;
    rounds_ = 0;
    looper_ = std::thread([this, todo = pattern(verb, words)] {
      while (is_looping_) {
        todo.touch();
        ++rounds_;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    return "ok";
  }

  std::size_t stop() {
    is_looping_ = false;
    if (looper_.joinable()) looper_.join();
    return rounds_;
  }

  std::string remap(std::istringstream& words) {
    const auto before = words.tellg();
    Area& old = area(words);
    const auto length = next<std::size_t>(words, "a number of pages") * kPage;
    void* start = mremap(old.start, old.length, length, MREMAP_MAYMOVE);
    if (start == MAP_FAILED) fail("remap");
    old = {static_cast<char*>(start), length};
    words.clear();
    words.seekg(before);
    return describe(next<std::size_t>(words, "an area"));
  }

  std::string change(const std::string& verb, std::istringstream& words) {
    const Area& where = area(words);
    const auto first = next<std::size_t>(words, "a first page");
    const auto end = next<std::size_t>(words, "an end page");
    if (first >= end || end > where.length / kPage)
      throw std::runtime_error("pages outside the area");
    char* start = where.start + first * kPage;
    const std::size_t length = (end - first) * kPage;
    int err = 0;
    if (verb == "unmap") {
      err = munmap(start, length);
    } else if (verb == "dontneed") {
      err = madvise(start, length, MADV_DONTNEED);
    } else {
      const auto access = next<std::string>(words, "none, r or rw");
      err = mprotect(start, length,
                     access == "rw"  ? PROT_READ | PROT_WRITE
                     : access == "r" ? PROT_READ
                                     : PROT_NONE);
    }
    if (err < 0) fail(verb);
    return "ok";
  }

  std::string fork_child() {
    if (child_ > 0) throw std::runtime_error("a child exists already; say reap");
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    child_ = pid;
    return "ok " + std::to_string(pid);
  }

  std::string reap() {
    if (child_ <= 0) throw std::runtime_error("no child");
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
    return "ok";
  }

  std::string give_a_name(std::istringstream& words) {
    const Area& where = area(words);
    const auto label = next<std::string>(words, "a label");
    const hmk_object object =
        hmk_register(where.start, where.length, label.c_str(), HMK_OBJECT_ANON);
    if (object == 0) fail("register");
    return "ok " + std::to_string(object);
  }

  static std::string say(std::istringstream& words) {
    using Say = void (*)(hmk_object);
    static constexpr std::array<std::pair<std::string_view, Say>, 6> kWords{
        {{"will_read", hmk_will_read},
         {"will_write", hmk_will_write},
         {"will_use", hmk_will_use},
         {"archive", hmk_archive},
         {"retire", hmk_retire},
         {"unregister", hmk_unregister}}};
    const auto object = next<hmk_object>(words, "an object");
    const auto word = next<std::string>(words, "what to say");
    for (const auto& [name, act] : kWords)
      if (name == word) {
        act(object);
        return "ok";
      }
    throw std::runtime_error("nothing is said by " + word);
  }

  std::vector<Area> areas_;
  std::thread looper_;
  std::atomic<bool> is_looping_{false};
  std::atomic<std::size_t> rounds_{0};
  pid_t child_ = 0;
};

}  // namespace

int main() {
  Toucher toucher;
  std::cout << "ready " << getpid() << std::endl;
  for (std::string line; std::getline(std::cin, line) && line != "exit";) {
    if (line.empty()) continue;
    try {
      std::cout << toucher.act(line) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
}
