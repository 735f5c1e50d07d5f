// SPDX-License-Identifier: MIT
#include "screen.hpp"

#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace hmkctl {
namespace {

class Plain : public Screen {
 public:
  void draw(const std::vector<Line>& lines) override {
    for (const Line& line : lines) std::fprintf(stdout, "%s\n", line.text.c_str());
    std::fflush(stdout);
  }
  int wait(std::chrono::milliseconds time) override {
    // A reader that has left ("top | head") shows as an error here, long before
    // the next interval would be written to it.
    pollfd out{STDOUT_FILENO, 0, 0};
    const bool is_read =
        ::poll(&out, 1, static_cast<int>(time.count())) <= 0 && std::ferror(stdout) == 0;
    return is_read ? kNoKey : kEnd;
  }
  std::size_t lines() const override { return 0; }
};

class Curses : public Screen {
 public:
  explicit Curses(SCREEN* terminal) : terminal_(terminal) {
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    if (!is_colour_wanted() || !has_colors() || start_color() == ERR) return;
    use_default_colors();
    init_pair(1, COLOR_YELLOW, -1);
    warm_ = A_BOLD | COLOR_PAIR(1);
  }
  ~Curses() override {
    endwin();
    delscreen(terminal_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

  void draw(const std::vector<Line>& lines) override {
    erase();
    for (int row = 0; row < LINES && row < static_cast<int>(lines.size()); ++row) {
      const Line& line = lines[static_cast<std::size_t>(row)];
      const attr_t look = line.look == Look::warm      ? warm_
                          : line.look == Look::reverse ? A_REVERSE
                                                       : A_NORMAL;
      attron(look);
      mvaddnstr(row, 0, line.text.c_str(), COLS);
      attroff(look);
    }
    refresh();
  }
  int wait(std::chrono::milliseconds time) override {
    timeout(static_cast<int>(time.count()));
    const int key = getch();
    if (key != ERR) return key;
    // A terminal that has gone reads as its end at once, for ever.
    pollfd in{STDIN_FILENO, POLLIN, 0};
    return ::poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR)) != 0 ? kEnd : kNoKey;
  }
  std::size_t lines() const override { return static_cast<std::size_t>(LINES); }

 private:
  SCREEN* terminal_;
  attr_t warm_ = A_BOLD;
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

bool is_colour_wanted() {
  const char* const refused = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return refused == nullptr || *refused == '\0';
}

}  // namespace hmkctl
