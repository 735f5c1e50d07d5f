// SPDX-License-Identifier: MIT
#include "state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "util/fd.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "hmkd-state";
constexpr int kVersion = 1;
constexpr off_t kMostBytes = 1 << 20;  // ours has 50 for each process

json to_rows(const OperatorState::StartTimes& processes) {
  json rows = json::array();
  for (const auto& [pid, start] : processes) rows.push_back({{"pid", pid}, {"start_time", start}});
  return rows;
}

/// False: they are not what to_rows() makes.
bool take_rows(const json& rows, OperatorState::StartTimes& processes) {
  if (!rows.is_array()) return false;
  for (const json& row : rows) {
    if (!row.is_object()) return false;
    const json pid = row.value("pid", json()), start = row.value("start_time", json());
    if (!pid.is_number_unsigned() || !start.is_number_unsigned() || pid < 1 || pid > 4'194'304)
      return false;
    processes[pid.get<std::int32_t>()] = start.get<std::uint64_t>();
  }
  return true;
}

json to_rows(const OperatorState::Plans& plans) {
  json rows = json::array();
  for (const auto& [pid, plan] : plans)
    rows.push_back({{"pid", pid}, {"start_time", plan.start_time}, {"begun_ns", plan.begun_ns}});
  return rows;
}

/// False: they are not what to_rows() makes. Older files have none.
bool take_plans(const json& rows, OperatorState::Plans& plans) {
  OperatorState::StartTimes started;
  if (rows.is_null()) return true;
  if (!take_rows(rows, started)) return false;
  for (const json& row : rows) {
    const json begun = row.value("begun_ns", json());
    if (!begun.is_number_unsigned()) return false;
    const auto pid = row["pid"].get<std::int32_t>();
    plans[pid] = {started[pid], begun.get<std::uint64_t>()};
  }
  return true;
}

std::optional<OperatorState> parse(const std::string& text, const std::string& boot) {
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || value.value("format", json()) != kFormat ||
      value.value("version", json()) != kVersion || !value.value("paused", json()).is_boolean())
    return std::nullopt;
  OperatorState state{value["paused"] == true, {}, {}};
  if (!take_rows(value.value("attached", json()), state.attached) ||
      !take_rows(value.value("detached", json()), state.detached) ||
      !take_plans(value.value("plans", json()), state.plans))
    return std::nullopt;
  if (value.value("boot_id", json()) != boot) {
    state.attached = state.detached = {};
    state.plans = {};
  }
  return state;
}

/// A file that others could have written says nothing.
bool is_ours(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= kMostBytes &&
         (st.st_uid == ::geteuid() || st.st_uid == 0) && (st.st_mode & 022) == 0;
}

}  // namespace

std::string boot_id(const std::filesystem::path& root) {
  std::string id = read_text(root / "proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string state_text(const OperatorState& state, const std::string& boot) {
  const json value{{"format", kFormat},
                   {"version", kVersion},
                   {"boot_id", boot},
                   {"paused", state.is_paused},
                   {"attached", to_rows(state.attached)},
                   {"detached", to_rows(state.detached)},
                   {"plans", to_rows(state.plans)}};
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<OperatorState> read_state(const std::filesystem::path& path, const std::string& boot) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return OperatorState{};
  if (!fd) return Error{path.string() + ": cannot be read: " + std::strerror(errno), "", errno};
  if (!is_ours(fd.get()))
    return Error{path.string() + ": is no file that only hmkd's own user may write"};
  const auto same = "/proc/self/fd/" + std::to_string(fd.get());  // not another of that name
  if (const auto state = parse(read_text(same).value_or(""), boot)) return *state;
  return Error{path.string() + ": is damaged, or of another version of hmkd"};
}

}  // namespace hmk
