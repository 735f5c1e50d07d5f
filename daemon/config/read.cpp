// SPDX-License-Identifier: MIT
#include "config/read.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

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
  Reader(std::string file, ConfigOrProblems base, Origin::Kind kind, bool adds)
      : file_(std::move(file)), read_(std::move(base)), kind_(kind), adds_(adds) {}

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
    std::string text = (key.empty() ? "" : key + ": ") + error.line();
    // The file's own words are in it: they neither break the line nor steer a terminal.
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    problems_[line].push_back(file_ + ":" + std::to_string(line) + ": " + text);
  }

  ConfigOrProblems take() {
    for (auto& [line, texts] : problems_)
      for (std::string& text : texts) read_.problems.push_back(std::move(text));
    return std::move(read_);
  }

 private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  void report(const YAML::Node& where, const std::string& key, const Error& error) {
    report(line_of(where), key, error);
  }

  void read_key(const YAML::Node& where, const std::string& name, const YAML::Node& value) {
    const Key* const key = find_key(name);
    if (key == nullptr)
      return report(where, name, {"unknown key", did_you_mean(name, key_names())});
    std::string text = value.IsScalar() ? value.Scalar() : "";
    bool is_word = value.IsScalar();
    if (key->is_list && value.IsSequence()) {
      is_word = std::ranges::all_of(value, [](const YAML::Node& item) { return item.IsScalar(); });
      for (const YAML::Node& item : value)
        if (is_word) text += (text.empty() ? "" : ",") + item.Scalar();
      if (!is_word && key->is_nested) {
        text = flow_text(value);
        is_word = true;
      }
    }
    if (!is_word)
      return report(where, name, {"has no single value", "give one: " + std::string(key->help)});
    if (adds_ && key->is_added_to) text = added(key->get(read_.config), text, *key);
    const Result<void> done = key->set(read_.config, text);
    if (!done) return report(where, name, done.error());
    read_.origins[name] = {kind_, file_ + ":" + std::to_string(line_of(where))};
  }

  /// On one line.
  static std::string flow_text(const YAML::Node& value) {
    YAML::Emitter out;
    out.SetSeqFormat(YAML::Flow);
    out.SetMapFormat(YAML::Flow);
    out << value;
    return out.c_str();
  }

  /// Behind what the list has.
  static std::string added(const std::string& before, const std::string& text, const Key& key) {
    if (before.empty() || before == "none" || before == "equal") return text;
    if (!key.is_nested) return before + "," + text;
    if (!before.ends_with(']') || !text.starts_with('[')) return text;
    return before.substr(0, before.size() - 1) + ", " + text.substr(1);
  }

  std::string file_;
  ConfigOrProblems read_;
  Origin::Kind kind_;
  bool adds_;
  std::map<int, std::vector<std::string>> problems_;  // by line
};

/// Counts documents, keeps nothing of them.
class Documents : public YAML::EventHandler {
 public:
  int count = 0;

  void OnDocumentStart(const YAML::Mark&) override { ++count; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// 0, 1, or 2 for more. YAML::LoadAll() must not see more: to yaml-cpp 0.7 a text that begins with
/// "," has documents without end.
int count_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Documents documents;
  while (documents.count < 2 && parser.HandleNextDocument(documents)) {
  }
  return documents.count;
}

ConfigOrProblems read_over(const std::string& text, const std::string& file_name,
                           ConfigOrProblems base, Origin::Kind kind, bool adds) {
  Reader reader(file_name, std::move(base), kind, adds);
  try {
    if (count_documents(text) > 1) {
      reader.report(1, "",
                    {"holds more than one document",
                     "remove the '---' lines and what stands before the first key"});
    } else if (const auto documents = YAML::LoadAll(text); !documents.empty()) {
      reader.read(documents.front());
    }
  } catch (const YAML::Exception& e) {
    reader.report(e.mark.line + 1, "", {"not YAML: " + e.msg, "check indentation and quotes"});
  }
  return reader.take();
}

ConfigOrProblems unreadable(const std::filesystem::path& path, ConfigOrProblems base) {
  base.problems.push_back(path.string() + ": cannot be read; check the path and its permissions");
  return base;
}

}  // namespace

std::string_view to_string(Origin::Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"default", "file", "saved", "flag",
                                                          "set"};
  return kNames[static_cast<std::size_t>(kind)];
}

ConfigOrProblems read_config_text(const std::string& text, const std::string& file_name,
                                  ConfigOrProblems base, Origin::Kind kind) {
  return read_over(text, file_name, std::move(base), kind, false);
}

ConfigOrProblems read_config_file(const std::filesystem::path& path) {
  const auto text = std::filesystem::is_directory(path) ? std::nullopt : read_text(path);
  return text ? read_config_text(*text, path.string()) : unreadable(path, {});
}

ConfigOrProblems read_config_folder(const std::filesystem::path& folder, ConfigOrProblems base) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".yaml" && !at->path().filename().string().starts_with('.'))
      files.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory)
    return unreadable(folder, std::move(base));
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const auto text = std::filesystem::is_directory(file) ? std::nullopt : read_text(file);
    base = text ? read_over(*text, file.string(), std::move(base), Origin::Kind::file, true)
                : unreadable(file, std::move(base));
  }
  return base;
}

}  // namespace hmk
