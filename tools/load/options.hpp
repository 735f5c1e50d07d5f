// SPDX-License-Identifier: MIT
// Command lines of the loads and test programs: "--name value", "--name=value" and bare "--name".
//
//   Options options(argc, argv, "hmk-load-gups [--size 1GiB]");
//   const std::uint64_t size = options.bytes("--size", 1 << 30);
//   options.finish();                           // anything left over is a usage error
//
// Every error is one line on stderr and exit code 2.
#ifndef HMK_LOAD_OPTIONS_HPP
#define HMK_LOAD_OPTIONS_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmk::load {

inline constexpr int kExitUsage = 2;

class Options {
 public:
  Options(int argc, char** argv, std::string_view usage)
      : program_(argv[0]), words_(argv + 1, argv + argc), usage_(usage) {
    program_.erase(0, program_.rfind('/') + 1);
    if (flag("--help") || flag("-h")) {
      std::printf("%s\n", usage_.c_str());
      std::exit(0);
    }
  }

  /// True when the bare word is given.
  bool flag(std::string_view name) {
    for (auto it = words_.begin(); it != words_.end(); ++it) {
      if (*it != name) continue;
      words_.erase(it);
      return true;
    }
    return false;
  }

  std::optional<std::string> text(std::string_view name) {
    for (auto it = words_.begin(); it != words_.end(); ++it) {
      if (it->starts_with(std::string(name) + "=")) {
        std::string value = it->substr(name.size() + 1);
        words_.erase(it);
        return value;
      }
      if (*it != name) continue;
      if (it + 1 == words_.end()) fail(std::string(name) + " needs a value");
      std::string value = it[1];
      words_.erase(it, it + 2);
      return value;
    }
    return std::nullopt;
  }

  std::string text(std::string_view name, std::string_view otherwise) {
    return text(name).value_or(std::string(otherwise));
  }

  /// A count without unit.
  std::uint64_t number(std::string_view name, std::uint64_t otherwise) {
    const auto value = text(name);
    return value ? parse(name, *value, {{"", 1}}) : otherwise;
  }

  /// Numbers with commas between: 0,1,2; empty where the option is not given and `otherwise` is.
  std::vector<int> numbers(std::string_view name, std::string_view otherwise, std::string_view of) {
    const std::string list = text(name, otherwise);
    std::vector<int> found;
    const char* at = list.c_str();
    for (char* end = nullptr; *at != '\0' || !found.empty(); at = end + 1) {
      found.push_back(static_cast<int>(std::strtol(at, &end, 10)));
      if (end == at || *at < '0' || *at > '9' || (*end != ',' && *end != '\0'))
        fail(std::string(name) + " " + list + ": want numbers with commas between, " +
             std::string(of));
      if (*end == '\0') break;
    }
    return found;
  }

  /// A size with its unit: 4KiB, 512MiB, 1GiB, or plain B.
  std::uint64_t bytes(std::string_view name, std::uint64_t otherwise) {
    const auto value = text(name);
    if (!value) return otherwise;
    return parse(name, *value,
                 {{"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}});
  }

  /// A duration with its unit, in milliseconds: 500ms, 10s, 2min.
  std::uint64_t milliseconds(std::string_view name, std::uint64_t otherwise) {
    const auto value = text(name);
    return value ? parse(name, *value, {{"ms", 1}, {"s", 1000}, {"min", 60000}}) : otherwise;
  }

  /// A share, 0..1, from 0%..100%.
  double share(std::string_view name, double otherwise) {
    const auto value = text(name);
    if (!value) return otherwise;
    char* end = nullptr;
    const double percent = std::strtod(value->c_str(), &end);
    if (end == value->c_str() || std::string_view(end) != "%" || !(percent >= 0 && percent <= 100))
      fail(std::string(name) + " " + *value + ": want a share from 0% to 100%");
    return percent / 100;
  }

  /// A size, or a share of `whole`, in bytes.
  std::uint64_t bytes_or_share(std::string_view name, double otherwise, std::uint64_t whole) {
    const auto value = text(name);
    if (value) words_.insert(words_.end(), {std::string(name), *value});
    if (value && !value->ends_with("%")) return bytes(name, 0);
    return static_cast<std::uint64_t>(share(name, otherwise) * static_cast<double>(whole));
  }

  /// The first word that is no option.
  std::optional<std::string> verb() {
    if (words_.empty() || words_.front().starts_with("-")) return std::nullopt;
    std::string value = words_.front();
    words_.erase(words_.begin());
    return value;
  }

  /// Call last: whatever nobody asked for is an error.
  void finish() {
    if (!words_.empty()) fail("unknown argument: " + words_.front());
  }

  /// What `act` returns; 1, and one line on stderr, where it throws.
  template <typename Act>
  int attempt(Act act) const {
    try {
      return act();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", program_.c_str(), error.what());
      return 1;
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    std::fprintf(stderr, "%s: %s (try %s --help)\n", program_.c_str(), why.c_str(),
                 program_.c_str());
    std::exit(kExitUsage);
  }

 private:
  struct Unit {
    std::string_view name;
    std::uint64_t factor;
  };

  std::uint64_t parse(std::string_view name, const std::string& value,
                      std::initializer_list<Unit> units) const {
    char* end = nullptr;
    const std::uint64_t count = std::strtoull(value.c_str(), &end, 10);
    const bool has_digits = end != value.c_str() && value.front() >= '0' && value.front() <= '9';
    std::string known;
    for (const Unit& unit : units) {
      if (has_digits && unit.name == end && count <= UINT64_MAX / unit.factor)
        return count * unit.factor;
      known += (known.empty() ? "" : ", ") + std::string(unit.name.empty() ? "none" : unit.name);
    }
    fail(std::string(name) + " " + value + ": want a whole number with unit (" + known + ")");
  }

  std::string program_;
  std::vector<std::string> words_;
  std::string usage_;
};

}  // namespace hmk::load

#endif
