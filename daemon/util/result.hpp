// SPDX-License-Identifier: MIT
//
// A value or the reason why there is none: the interface of std::expected,
// which GCC 12 lacks. For what can be expected (kernel says no, process gone).
//
//   Result<Fd> fd = open_device(path);
//   if (!fd) return fd.error();
//   use(*fd);
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace hmk {

/// What went wrong, said to an operator: the failing thing and place first,
/// then the remedy. `err` is the errno behind it, 0 when there is none.
struct Error {
  std::string what;
  std::string remedy = {};
  int err = 0;

  std::string line() const { return remedy.empty() ? what : what + "; " + remedy; }
};

/// Remedy of an errno nobody is known to return.
inline constexpr const char* kUnexpected =
    "run 'hmkctl doctor'; if it finds nothing, report this line as a bug";

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  Error error_{};
  bool failed_ = false;
};

}  // namespace hmk
