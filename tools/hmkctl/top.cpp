// SPDX-License-Identifier: MIT
#include <algorithm>
#include <sstream>

#include "mappings.hpp"
#include "progress.hpp"
#include "region_rows.hpp"
#include "screen.hpp"
#include "tier_bar.hpp"
#include "top_keys.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kAsked = 1000;  ///< regions: hmkd works on nothing else while it answers
constexpr std::size_t kPrinted = 20;  ///< rows without a terminal
constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kLeastRows = 5;  ///< of the list, below what stays at the top

struct TopOptions {
  int pid = 0;
  bool once = false;
  std::string order = kRegionOrders.front().word, root = "/";
};

/// The intervals shown: a new number anywhere means that there is news.
json intervals_of(const json& status) {
  json seen = json::array();
  const json::json_pointer seq("/last_interval/seq");  // absent before the first interval
  for (const json& target : status.value("targets", json::array()))
    seen.push_back({target.value("pid", 0), target.contains(seq) ? target.at(seq) : json()});
  return seen;
}

std::chrono::nanoseconds interval_of(const json& status) {
  return std::chrono::nanoseconds(
      status.value("daemon", json::object()).value("interval_ns", std::int64_t{10'000'000'000}));
}

/// Asks four times per interval, so that a new one shows soon after it ends.
std::chrono::milliseconds pause_of(const json& status) {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(interval_of(status) / 4),
                    std::chrono::milliseconds(50), std::chrono::milliseconds(1000));
}

/// The first of its order, joined, with the names of their mappings.
Reply ask_regions(const Context& context, const TopOptions& options) {
  json args{{"limit", kAsked}, {"order", options.order}};
  if (options.pid != 0) args["pid"] = options.pid;
  Reply reply = ask(context.socket, "regions", args);
  if (reply.exit_code != kOk) return reply;
  for (json& target : reply.data.at("targets")) {
    name_mappings(target, options.root);
    RegionRows rows = join_neighbours(target.at("regions").get<RegionRows>());
    sort_rows(rows, options.order);
    target["regions"] = std::move(rows);
  }
  return reply;
}

/// The row of `status` with what only `top` shows of it.
json with_progress(json target, std::chrono::nanoseconds interval) {
  for (json& tier : target.at("tiers"))
    tier["bar"] = tier_bar({.hot = tier.value("hot_bytes", std::uint64_t{0}),
                            .resident = tier.at("resident_bytes"),
                            .free = tier.at("free_bytes"),
                            .total = tier.at("total_bytes")},
                           kBarWidth);
  const Progress progress = progress_of(target, interval);
  target["progress"] = {{"text", progress.text},
                        {"rest_ns", progress.rest ? json(progress.rest->count()) : json()}};
  return target;
}

const std::vector<Table>& top_tables() {
  static const std::vector<Table> kTables = [] {
    std::vector<Table> tables = status_tables();
    Table& targets = tables.back();
    targets.inner.front().columns.push_back({"bar", "# HOT = OTHER - OF OTHERS . FREE"});
    targets.inner.push_back({"progress", {{"text", "MOVES"}, {"rest_ns", ""}}, Layout::fields});
    return tables;
  }();
  return kTables;
}

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back({line});
  return lines;
}

/// What stays at the top, and the list below it.
struct Frame {
  std::vector<Line> head, list;
};

void append(std::vector<Line>& to, std::vector<Line> lines) {
  to.insert(to.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

/// Titles stay where there is one process; of several, each has its own in the list.
void add_regions(Frame& frame, const json& target, bool is_only) {
  constexpr std::size_t kTitles = 3;  // of the process, its values, of the regions
  std::vector<Line> lines =
      lines_of(to_text(json{{"targets", json::array({target})}}, region_tables()));
  const json& rows = target.at("regions");
  for (std::size_t r = 0; r < rows.size() && kTitles + r < lines.size(); ++r)
    if (rows[r].value("hot_slow_bytes", 0) > 0) lines[kTitles + r].look = Look::warm;
  const std::size_t titles = is_only ? std::min(kTitles, lines.size()) : 0;
  for (std::size_t l = 0; l < lines.size(); ++l)
    (l < titles ? frame.head : frame.list).push_back(std::move(lines[l]));
}

Frame frame_of(const json& status, const json& regions) {
  Frame frame{.head = lines_of(to_text(status, top_tables())), .list = {}};
  frame.head.push_back({});
  const json& targets = regions.at("targets");
  if (targets.empty()) append(frame.list, lines_of(to_text(regions, region_tables())));
  for (const json& target : targets) add_regions(frame, target, targets.size() == 1);
  return frame;
}

json with_progress_all(const json& status) {
  json out = status;
  for (json& target : out.at("targets"))
    target = with_progress(std::move(target), interval_of(status));
  return out;
}

/// Shows hmkd's last answers, and what of them the keys ask for.
class Top {
 public:
  Top(const Context& context, TopOptions options)
      : context_(context), options_(std::move(options)) {}
  int run();

 private:
  std::optional<Reply> look();
  void draw();
  void print();
  std::size_t height() const;
  bool wait(Clock::time_point until);
  bool act(const Action& action);

  const Context& context_;
  TopOptions options_;
  std::unique_ptr<Screen> screen_;
  json status_, regions_, shown_;
  Frame frame_;
  Window window_;
};

int Top::run() {
  for (;;) {
    if (const auto trouble = look()) {
      screen_.reset();  // leave the full screen before a word to the user
      return fail(context_, *trouble);
    }
    if (options_.once || !wait(Clock::now() + pause_of(status_))) return kOk;
  }
}

/// Asks hmkd, and draws when there is news.
std::optional<Reply> Top::look() {
  const Reply status = ask(context_.socket, "status", {});
  if (status.exit_code != kOk) return status;
  status_ = with_progress_all(status.data);
  if (!screen_) screen_ = make_screen(options_.once || context_.as_json);
  const json now = {intervals_of(status_), options_.order};
  const bool is_news = now != shown_;
  if (is_news) {
    const Reply regions = ask_regions(context_, options_);
    if (regions.exit_code != kOk) return regions;
    regions_ = regions.data;
    shown_ = now;
  }
  if (screen_->lines() == 0) {
    if (is_news) print();
    return std::nullopt;
  }
  frame_ = frame_of(status_, regions_);
  draw();
  return std::nullopt;
}

/// Both answers in one object; a description of each lies side by side.
void Top::print() {
  json regions = regions_;
  for (json& target : regions.at("targets")) {
    json::array_t& rows = target.at("regions").get_ref<json::array_t&>();
    rows.resize(std::min(rows.size(), kPrinted));
  }
  if (context_.as_json) {
    json out = select(status_, status_tables());
    for (std::size_t t = 0; t < out.at("targets").size(); ++t)
      out["targets"][t]["progress"] = status_.at("targets")[t].at("progress");
    out["regions"] = select(regions, region_tables())["targets"];
    std::fputs(json_text(out, -1).c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  Frame frame = frame_of(status_, regions);
  append(frame.head, std::move(frame.list));
  screen_->draw(frame.head);
}

/// Lines of the list that fit, between what stays at the top and the two that name the keys.
std::size_t Top::height() const {
  const std::size_t taken = frame_.head.size() + 2;
  return screen_->lines() > taken ? screen_->lines() - taken : 0;
}

void Top::draw() {
  if (height() < kLeastRows) {  // all of it scrolls
    append(frame_.head, std::move(frame_.list));
    frame_ = {.head = {}, .list = std::move(frame_.head)};
  }
  const std::size_t fits = height(), total = frame_.list.size();
  window_.clamp(total, fits);
  std::vector<Line> lines = frame_.head;
  const std::size_t end = std::min(total, window_.first + fits);
  for (std::size_t l = window_.first; l < end; ++l) lines.push_back(frame_.list[l]);
  lines.resize(frame_.head.size() + fits);
  for (Line& line : lines) line.text.erase(0, std::min(window_.left, line.text.size()));
  append(lines, lines_of(key_help()));
  lines.back().text += " lines " + std::to_string(std::min(window_.first + 1, total)) + "-" +
                       std::to_string(end) + " of " + std::to_string(total) + " by " +
                       options_.order + " ";
  for (std::size_t l = lines.size() - 2; l < lines.size(); ++l) lines[l].look = Look::reverse;
  screen_->draw(lines);
}

/// For keys, until it is time to ask again; false when the user or the reader has left.
bool Top::wait(Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const int key = screen_->wait(std::max(left, std::chrono::milliseconds(0)));
    if (key == Screen::kEnd) return false;
    const auto action = action_of(key);
    if (action && std::holds_alternative<Quit>(*action)) return false;
    if (action && act(*action)) return true;
    if (Clock::now() >= until) return true;
  }
}

/// True when hmkd has to be asked anew for it.
bool Top::act(const Action& action) {
  if (const auto* const order = std::get_if<const RegionOrder*>(&action)) {
    options_.order = (*order)->word;
    window_ = {};
    return true;
  }
  if (const auto* const step = std::get_if<Step>(&action))
    window_.move(*step, frame_.list.size(), height());
  frame_ = frame_of(status_, regions_);  // the screen may have another size now
  draw();
  return false;
}

}  // namespace

Run make_top(CLI::App& verb) {
  auto options = std::make_shared<TopOptions>();
  verb.add_option("--pid", options->pid, "regions of this process only");
  verb.add_flag("--once", options->once, "print once and end");
  std::vector<std::string> words(kRegionOrders.size());
  std::ranges::transform(kRegionOrders, words.begin(), &RegionOrder::word);
  verb.add_option("--sort", options->order,
                  "hot-slow, size, rate, address or tier: what comes first")
      ->capture_default_str()
      ->check(CLI::IsMember(words));
  verb.add_option("--root", options->root, "look at a machine recorded below this directory")
      ->group("");
  return [options](const Context& context) { return Top(context, *options).run(); };
}

}  // namespace hmkctl
