// SPDX-License-Identifier: MIT
#include "screen.hpp"

#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

namespace hmkctl {
namespace {

class Plain : public Screen {
 public:
  void draw(const std::string& text) override {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  bool wait(std::chrono::milliseconds time) override {
    // A reader that has left ("top | head") shows as an error here, long before
    // the next interval would be written to it.
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, static_cast<int>(time.count())) <= 0 && std::ferror(stdout) == 0;
  }
  int lines() const override { return 40; }
};

class Curses : public Screen {
 public:
  explicit Curses(SCREEN* terminal) : terminal_(terminal) {
    cbreak();
    noecho();
    curs_set(0);
  }
  ~Curses() override {
    endwin();
    delscreen(terminal_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

  void draw(const std::string& text) override {
    erase();
    std::istringstream in(text);
    int row = 0;
    for (std::string line; row < LINES - 1 && std::getline(in, line); ++row)
      mvaddnstr(row, 0, line.c_str(), COLS);
    attron(A_REVERSE);
    mvaddnstr(LINES - 1, 0, " q: leave ", COLS);
    attroff(A_REVERSE);
    refresh();
  }
  bool wait(std::chrono::milliseconds time) override {
    timeout(static_cast<int>(time.count()));
    return getch() != 'q';
  }
  int lines() const override { return LINES; }

 private:
  SCREEN* terminal_;
};

}  // namespace

std::unique_ptr<Screen> make_screen(bool is_plain) {
  if (!is_plain && isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0) {
    // newterm() reports an unusable TERM where initscr() would end the program.
    SCREEN* const terminal = newterm(nullptr, stdout, stdin);
    if (terminal != nullptr) return std::make_unique<Curses>(terminal);
  }
  return std::make_unique<Plain>();
}

}  // namespace hmkctl
