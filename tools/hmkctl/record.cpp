// SPDX-License-Identifier: MIT
#include "watch.hpp"

namespace hmkctl {
namespace {

struct RecordOptions {
  std::string file, root = "/";
  WatchOptions watch;
};

void report(const Context& context, const RecordOptions& options, const hmk::RecordedTarget& target,
            const hmk::RecordWriter& writer) {
  static const std::vector<Table> kTables{
      {"recording",
       {{"file", "FILE"},
        {"pid", "PID"},
        {"comm", "COMM"},
        {"intervals", "INTERVALS"},
        {"bytes", "SIZE", Unit::bytes},
        {"bytes_per_region", "BYTES PER REGION", Unit::decimal}}}};
  const auto regions = static_cast<double>(std::max<std::uint64_t>(writer.regions(), 1));
  print({{"recording",
          {{"file", options.file},
           {"pid", target.pid},
           {"comm", target.comm},
           {"intervals", writer.frames()},
           {"bytes", writer.bytes()},
           {"bytes_per_region", static_cast<double>(writer.bytes()) / regions}}}},
        kTables, context.as_json);
}

int run_record(const Context& context, const RecordOptions& options) {
  end_watch_on_signals();
  Watch watch(context, options.watch);
  if (watch.trouble()) return fail(context, *watch.trouble());
  auto writer = hmk::RecordWriter::create(options.file, watch.target());
  if (!writer) return fail(context, writer.error());
  const hmk::RecordedContext begin = context_of(context, options.root, watch.target());
  if (const auto done = writer->describe(begin); !done) return fail(context, done.error());
  while (const auto frame = watch.next())
    if (const auto done = writer->append(*frame); !done) return fail(context, done.error());
  // What has been mapped since; a process that has ended has no mappings any more.
  const hmk::RecordedContext end = context_of(context, options.root, watch.target());
  if (!end.mappings.empty() && !end.tiers.empty() && end != begin)
    if (const auto done = writer->describe(end); !done) return fail(context, done.error());
  // Whatever ended it, what was seen is kept whole.
  if (const auto done = writer->finish(); !done) return fail(context, done.error());
  report(context, options, watch.target(), *writer);
  return watch.trouble() ? fail(context, *watch.trouble()) : kOk;
}

}  // namespace

Run make_record(CLI::App& verb) {
  auto options = std::make_shared<RecordOptions>();
  verb.add_option("file", options->file, "the file to write")->required();
  verb.add_option("--root", options->root, "look at a machine recorded below this directory")
      ->group("");
  add_watch_options(verb, options->watch);
  return [options](const Context& context) { return run_record(context, *options); };
}

}  // namespace hmkctl
