// SPDX-License-Identifier: MIT
#include "config/read.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/keys.hpp"
#include "util/file.hpp"
#include "util/suggest.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

/// Everything is read as text and parsed by our own units: yaml-cpp would take
/// 010 for 8, .nan for a number and the first of two equal keys.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;  // an empty file: all defaults
    if (!root.IsMap()) return report(root, "", {"is no list of 'key: value' lines", ""});
    std::map<std::string, int> first_line;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) {
        report(entry.first, "", {"a key is no word", "write 'key: value'"});
        continue;
      }
      const std::string& name = entry.first.Scalar();
      const auto [seen, is_new] = first_line.emplace(name, line_of(entry.first));
      if (!is_new) {
        report(entry.first, name,
               {"is given twice, first in line " + std::to_string(seen->second),
                "remove one of them"});
        continue;
      }
      read_key(entry.first, name, entry.second);
    }
  }

  void report(int line, const std::string& key, const Error& error) {
    problems_[line].push_back(file_ + ":" + std::to_string(line) + ": " +
                              (key.empty() ? "" : key + ": ") + error.line());
  }

  ConfigOrProblems take() {
    ConfigOrProblems out{std::move(config_), {}};
    for (auto& [line, texts] : problems_)
      for (std::string& text : texts) out.problems.push_back(std::move(text));
    return out;
  }

 private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  void report(const YAML::Node& where, const std::string& key, const Error& error) {
    report(line_of(where), key, error);
  }

  void read_key(const YAML::Node& where, const std::string& name, const YAML::Node& value) {
    if (name == "tiers") return read_tiers(where, value);
    if (name == "attach") return read_attach(where, value);
    const Key* const key = find_key(name);
    if (key == nullptr)
      return report(where, name, {"unknown key", did_you_mean(name, key_names())});
    if (!value.IsScalar())
      return report(where, name, {"has no single value", "give one: " + std::string(key->help)});
    const Result<void> done = key->set(config_, value.Scalar());
    if (!done) report(where, name, done.error());
  }

  /// A whole number that fits an int, or a report and nothing.
  std::optional<int> read_number(const std::string& key, const YAML::Node& node, std::uint64_t low,
                                 std::uint64_t high, const char* what) {
    if (!node.IsScalar()) {
      report(node, key, {std::string("has an entry that is no ") + what, ""});
      return std::nullopt;
    }
    const Result<std::uint64_t> number = parse_count(node.Scalar());
    if (!number || *number < low || *number > high) {
      report(node, key,
             {"'" + node.Scalar() + "' is no " + what,
              "use " + std::to_string(low) + " .. " + std::to_string(high)});
      return std::nullopt;
    }
    return static_cast<int>(*number);
  }

  void read_tiers(const YAML::Node& where, const YAML::Node& value) {
    if (value.IsScalar() && value.Scalar() == "auto") return;
    if (!value.IsSequence() || value.size() == 0)
      return report(where, "tiers", {"is no list", "write auto, or nodes: [0, 1, 2, 3]"});
    std::set<int> seen;
    for (const YAML::Node& entry : value) {
      const auto node = read_number("tiers", entry, 0, 63, "node number");
      if (!node) continue;
      if (!seen.insert(*node).second)
        report(entry, "tiers",
               {"node " + std::to_string(*node) + " is given twice", "name each node once"});
      config_.tiers.push_back(*node);
    }
  }

  void read_attach(const YAML::Node& where, const YAML::Node& value) {
    if (!value.IsSequence())
      return report(where, "attach", {"is no list", "write PIDs: [1234, 5678], or []"});
    std::set<int> seen;
    for (const YAML::Node& entry : value) {
      const auto pid = read_number("attach", entry, 1, 4194304, "PID");
      if (!pid) continue;
      if (!seen.insert(*pid).second)
        report(entry, "attach",
               {"PID " + std::to_string(*pid) + " is given twice", "remove one of them"});
      config_.attach.push_back(*pid);
    }
  }

  std::string file_;
  Config config_;
  std::map<int, std::vector<std::string>> problems_;  // by line
};

}  // namespace

ConfigOrProblems read_config_text(const std::string& text, const std::string& file_name) {
  Reader reader(file_name);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      reader.report(1, "", {"holds more than one document", "remove the '---' lines"});
    } else if (!documents.empty()) {
      reader.read(documents.front());
    }
  } catch (const YAML::Exception& e) {
    reader.report(e.mark.line + 1, "", {"not YAML: " + e.msg, "check indentation and quotes"});
  }
  return reader.take();
}

ConfigOrProblems read_config_file(const std::filesystem::path& path) {
  const auto text = std::filesystem::is_directory(path) ? std::nullopt : read_text(path);
  if (!text) return {{}, {path.string() + ": cannot be read; check the path and its permissions"}};
  return read_config_text(*text, path.string());
}

}  // namespace hmk
