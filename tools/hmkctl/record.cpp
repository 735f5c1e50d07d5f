// SPDX-License-Identifier: MIT
//
// hmkd makes the recording, this writes it: with the rights of whoever asks, and at their pace.
#include <csignal>

#include "record/encoder.hpp"
#include "record_stream.hpp"
#include "util/private_file.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct RecordOptions {
  std::string file;
  WatchOptions watch;
};

/// A recording that is whole up to its last block, whatever ends it.
class RecordFile {
 public:
  explicit RecordFile(hmk::PrivateFile file) : file_(std::move(file)) {}

  hmk::Result<void> add(const RecordStream::Piece& piece) {
    if (auto done = file_.write(piece.bytes); !done) return done;
    before_ = now_;
    now_.bytes += piece.bytes.size();
    now_.frames += piece.is_frame;
    now_.regions += piece.regions;
    return {};
  }
  /// Where there was no room for a block there may be for the end, else in place of the last block.
  hmk::Result<void> finish(bool is_broken) {
    if (is_broken)
      if (auto done = file_.cut(now_.bytes); !done) return done;
    if (now_.bytes == 0) return {};  // without a head it is none
    auto done = write_end();
    if (done || !file_.cut(before_.bytes)) return done;
    now_ = before_;
    if (auto again = write_end(); !again) return again;
    return done;
  }

  std::uint64_t bytes() const { return now_.bytes; }
  std::uint64_t frames() const { return now_.frames; }
  std::uint64_t regions() const { return now_.regions; }

 private:
  struct Size {
    std::uint64_t bytes = 0, frames = 0, regions = 0;
  };
  hmk::Result<void> write_end() {
    const std::string end = hmk::RecordEncoder::end(now_.frames);
    if (auto done = file_.write(end); !done) return done;
    now_.bytes += end.size();
    return {};
  }

  hmk::PrivateFile file_;
  Size now_, before_;  ///< whole blocks, and without the last of them
};

/// Until hmkd ends it, or time or intervals are over, or a signal comes. Why it went wrong.
std::optional<Reply> take(RecordStream& stream, RecordFile& file, const WatchOptions& options) {
  const auto begin = Clock::now();
  while (signals_seen() == 0 && file.frames() < options.intervals) {
    const auto left = options.time - std::chrono::nanoseconds(Clock::now() - begin);
    if (left.count() <= 0) break;
    const RecordStream::Piece piece =
        stream.next(std::min(std::chrono::ceil<milliseconds>(left), milliseconds(1000)));
    if (piece.trouble) return piece.trouble;
    if (piece.is_end) break;
    if (const auto done = file.add(piece); !done) return Reply{kFailed, done.error()};
  }
  return std::nullopt;
}

void report(const Context& context, const RecordOptions& options, const hmk::RecordedTarget& target,
            const RecordFile& file) {
  static const std::vector<Table> kTables{
      {"recording",
       {{"file", "FILE"},
        {"pid", "PID"},
        {"comm", "COMM"},
        {"intervals", "INTERVALS"},
        {"bytes", "SIZE", Unit::bytes},
        {"bytes_per_region", "BYTES PER REGION", Unit::decimal}}}};
  const auto regions = static_cast<double>(std::max<std::uint64_t>(file.regions(), 1));
  print({{"recording",
          {{"file", options.file},
           {"pid", target.pid},
           {"comm", target.comm},
           {"intervals", file.frames()},
           {"bytes", file.bytes()},
           {"bytes_per_region", static_cast<double>(file.bytes()) / regions}}}},
        kTables, context.as_json);
}

int run_record(const Context& context, const RecordOptions& options) {
  end_watch_on_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has died is an error of write(2)
  const Watch watch(context, options.watch);
  if (watch.trouble()) return fail(context, *watch.trouble());
  auto made = hmk::PrivateFile::create(options.file);
  if (!made) return fail(context, made.error());
  RecordFile file(*std::move(made));
  RecordStream stream(context.socket);
  if (const Reply reply = stream.begin(watch.target().pid); reply.exit_code != kOk)
    return fail(context, reply);
  const std::optional<Reply> trouble = take(stream, file, options.watch);
  // Whatever ended it, what was seen is kept whole where that is possible.
  const auto done = file.finish(trouble.has_value());
  if (trouble) return fail(context, *trouble);
  if (!done) return fail(context, done.error());
  report(context, options, watch.target(), file);
  return kOk;
}

}  // namespace

Run make_record(CLI::App& verb) {
  auto options = std::make_shared<RecordOptions>();
  verb.add_option("file", options->file, "the file to write")->required();
  add_watch_options(verb, options->watch);
  return [options](const Context& context) { return run_record(context, *options); };
}

}  // namespace hmkctl
