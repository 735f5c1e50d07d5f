// SPDX-License-Identifier: MIT
//
// One kdamond of /sys/kernel/mm/damon/admin for each process.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "device/tracker.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

constexpr int kKdamonds = 32;  // as many processes
constexpr std::uint64_t kSampleUs = 5'000, kLookUs = 100'000;
constexpr std::uint32_t kLooks = kLookUs / kSampleUs;

std::uint64_t number_in(const fs::path& file) {
  return std::strtoull(read_text(file).value_or("0").c_str(), nullptr, 10);
}

bool is_on(const fs::path& kdamond) {
  return read_text(kdamond / "state").value_or("").starts_with("on");
}

/// The values of a directory, written in their order; remembers the first refusal.
class Settings {
 public:
  explicit Settings(fs::path folder) : folder_(std::move(folder)) {}

  Settings& put(const std::string& file, const std::string& value) {
    if (failed_) return *this;
    errno = 0;
    std::ofstream out(folder_ / file);
    out << value << std::flush;
    if (!out)
      failed_ = Error{"DAMON refuses " + (folder_ / file).string() + ": " + std::strerror(errno),
                      "run hmkd as root", errno == 0 ? EIO : errno};
    return *this;
  }
  Settings& put(const std::string& file, std::uint64_t value) {
    return put(file, std::to_string(value));
  }
  Result<void> done() const { return failed_ ? Result<void>(*failed_) : Result<void>(); }

 private:
  fs::path folder_;
  std::optional<Error> failed_;
};

/// On while it lives.
class Kdamond {
 public:
  Kdamond(fs::path root, fs::path folder) : root_(std::move(root)), folder_(std::move(folder)) {}
  ~Kdamond() { (void)Settings(folder_).put("state", "off").done(); }
  Kdamond(const Kdamond&) = delete;
  Kdamond& operator=(const Kdamond&) = delete;

  Result<void> start(std::int32_t pid) {
    return Settings(folder_)
        .put("contexts/nr_contexts", 1)
        .put("contexts/0/operations", "vaddr")
        .put("contexts/0/monitoring_attrs/intervals/sample_us", kSampleUs)
        .put("contexts/0/monitoring_attrs/intervals/aggr_us", kLookUs)
        .put("contexts/0/monitoring_attrs/intervals/update_us", 10 * kLookUs)
        .put("contexts/0/monitoring_attrs/nr_regions/min", 100)
        .put("contexts/0/monitoring_attrs/nr_regions/max", 1000)
        .put("contexts/0/targets/nr_targets", 1)
        .put("contexts/0/targets/0/pid_target", static_cast<std::uint64_t>(pid))
        .put("contexts/0/schemes/nr_schemes", 1)
        .put("contexts/0/schemes/0/action", "stat")  // of all regions: they can be read then
        .put("contexts/0/schemes/0/access_pattern/sz/max", UINT64_MAX)
        .put("contexts/0/schemes/0/access_pattern/nr_accesses/max", UINT32_MAX)
        .put("contexts/0/schemes/0/access_pattern/age/max", UINT32_MAX)
        .put("state", "on")
        .done();
  }

  Result<Sight> look() const {
    if (!is_on(folder_)) return Error{"DAMON has stopped watching", "", ESRCH};
    const Result<void> asked =
        Settings(folder_).put("state", "update_schemes_tried_regions").done();
    if (!asked) return asked.error();
    Sight sight;
    std::error_code failed;
    fs::directory_iterator entry(folder_ / "contexts/0/schemes/0/tried_regions", failed);
    for (; !failed && entry != fs::directory_iterator{}; entry.increment(failed)) {
      if (!entry->is_directory()) continue;
      const std::uint64_t start = number_in(entry->path() / "start");
      const std::uint64_t end = number_in(entry->path() / "end");
      const auto found = static_cast<double>(number_in(entry->path() / "nr_accesses"));
      if (start < end) sight.ranges.push_back({start, end - start, std::min(1.0, found / kLooks)});
    }
    std::ranges::sort(sight.ranges, {}, &Seen::start);
    const std::string thread = std::to_string(number_in(folder_ / "pid"));
    sight.kernel_ns = number_in(root_ / "proc" / thread / "schedstat");
    return sight;
  }

 private:
  fs::path root_, folder_;
};

/// One that is off, or that an hmkd which was killed has left to watch the same process.
std::optional<fs::path> find_free(const fs::path& admin, std::int32_t pid) {
  for (int k = 0; k < kKdamonds; ++k) {
    const fs::path folder = admin / std::to_string(k);
    if (!fs::exists(folder)) return std::nullopt;
    const fs::path target = folder / "contexts/0/targets/0/pid_target";
    if (is_on(folder) && number_in(target) != static_cast<std::uint64_t>(pid)) continue;
    (void)Settings(folder).put("state", "off").done();
    return folder;
  }
  return std::nullopt;
}

}  // namespace

Result<Tracker> track_by_damon(const fs::path& root, std::int32_t pid) {
  const fs::path admin = root / "sys/kernel/mm/damon/admin/kdamonds";
  if (!fs::exists(admin)) return Error{"this kernel has no DAMON", "", ENOENT};
  // The number can change only while none runs.
  if (number_in(admin / "nr_kdamonds") == 0)
    if (const Result<void> made = Settings(admin).put("nr_kdamonds", kKdamonds).done(); !made)
      return made.error();
  const std::optional<fs::path> folder = find_free(admin, pid);
  if (!folder) return Error{"all kdamonds of DAMON are in use", "", EBUSY};
  const auto kdamond = std::make_shared<Kdamond>(root, *folder);
  if (const Result<void> started = kdamond->start(pid); !started) return started.error();
  return Tracker{"damon", kLooks, true, [kdamond] { return kdamond->look(); }};
}

}  // namespace hmk
