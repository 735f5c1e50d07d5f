// SPDX-License-Identifier: MIT
#include "config/classes.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "config/keys.hpp"
#include "config/whom.hpp"
#include "util/suggest.hpp"

namespace hmk {
namespace {

/// What one process can have for itself, beside `match`.
constexpr std::array<std::string_view, 20> kClassKeys{"name",
                                                      "together",
                                                      "mode",
                                                      "overhead",
                                                      "dense",
                                                      "split_huge",
                                                      "join_huge",
                                                      "move",
                                                      "shared",
                                                      "horizon",
                                                      "move_bound",
                                                      "governor",
                                                      "copy_threads",
                                                      "weight",
                                                      "caps",
                                                      "floors",
                                                      "page_out",
                                                      "page_out_after",
                                                      "page_out_refaults",
                                                      "hints"};
constexpr std::size_t kLongestName = 128;
constexpr std::string_view kSigns = "._-/@:";  // in a name
constexpr const char* kWriteClasses = "write none, or [{match: comm=redis-server, mode: manage}]";

/// In place of its rule wherever the class is told of, and one with all of that name.
Result<void> set_name(Config& config, const std::string& text) {
  const bool is_word = std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kSigns.find(c) != kSigns.npos;
  });
  if (text.empty() || text.size() > kLongestName || !is_word)
    return Error{"'" + text + "' is no name", "use up to 128 letters, digits and . _ - / @ :"};
  config.own_class = text;
  return {};
}

/// `config` is one process's: what others have in lists by name is of no use to it.
Result<void> apply(Config& config, const std::string& name, const std::string& text) {
  if (name == "name") return set_name(config, text);
  if (name == "together" && text != "yes" && text != "no")
    return Error{"'" + text + "' is not understood", "use yes or no"};
  if (name == "together") return config.is_together = text == "yes", Result<void>{};
  if (name == "weight") return set_own_weight(config, text);
  if (name == "caps") return set_own_bounds(config.caps, text);
  if (name == "floors") return set_own_bounds(config.floors, text);
  if (name == "governor" && text != "on" && text != "off")
    return Error{"'" + text + "' is not understood", "use on or off"};
  return find_key(name)->set(config, text);
}

/// A word, or words between commas.
Result<std::string> word_of(const YAML::Node& value) {
  std::string text = value.IsScalar() ? value.Scalar() : "";
  for (const YAML::Node& item : value) {
    if (!value.IsSequence() || !item.IsScalar())
      return Error{"has no single value", "give one word, or a list of words"};
    text += (text.empty() ? "" : ",") + item.Scalar();
  }
  return text;
}

Result<void> take_match(ProcessClass& one, const std::string& text) {
  const Result<AttachRule> rule = parse_rule(text);
  if (!rule) return rule.error();
  if (rule->excludes || rule->children || rule->min_size != 0)
    return Error{"'" + text + "' does not name the processes of a class",
                 "leave out 'not', '+children' and '+min-size'"};
  one.match = *rule;
  return {};
}

Result<void> take_setting(ProcessClass& one, const std::string& name, const std::string& text) {
  if (std::ranges::find(kClassKeys, name) == kClassKeys.end())
    return Error{"'" + name + "' is nothing that a class can have for itself",
                 did_you_mean(name, kClassKeys)};
  if (std::ranges::find(one.settings, name, [](auto& s) { return s.first; }) != one.settings.end())
    return Error{"'" + name + "' is given twice", "remove one of them"};
  Config scratch;
  if (const Result<void> done = apply(scratch, name, text); !done)
    return Error{name + ": " + done.error().what, done.error().remedy};
  one.settings.emplace_back(name, text);
  return {};
}

Result<ProcessClass> parse_class(const YAML::Node& value) {
  if (!value.IsMap()) return Error{"a class is no map", kWriteClasses};
  ProcessClass one;
  bool has_match = false;
  for (const auto& field : value) {
    const std::string name = field.first.IsScalar() ? field.first.Scalar() : "";
    const Result<std::string> text = word_of(field.second);
    if (!text) return Error{name + " " + text.error().what, text.error().remedy};
    const bool is_match = name == "match" && !has_match;
    has_match = has_match || is_match;
    if (Result<void> done = is_match ? take_match(one, *text) : take_setting(one, name, *text);
        !done)
      return done.error();
  }
  if (!has_match) return Error{"a class names no processes", "add 'match: unit=redis.service'"};
  if (one.settings.empty())
    return Error{"the class of '" + to_string(one.match) + "' has no setting",
                 "add one, such as 'mode: manage', or remove it"};
  return one;
}

}  // namespace

Result<std::vector<ProcessClass>> parse_classes(std::string_view text) {
  std::vector<ProcessClass> classes;
  if (text == "none") return classes;
  YAML::Node list;
  try {
    list = YAML::Load(std::string(text));
  } catch (const YAML::Exception&) {
    list = {};
  }
  if (!list.IsSequence())
    return Error{"'" + std::string(text) + "' is not understood", kWriteClasses};
  for (const YAML::Node& value : list) {
    Result<ProcessClass> one = parse_class(value);
    if (!one) return one.error();
    if (std::ranges::find(classes, one->match, &ProcessClass::match) != classes.end())
      return Error{"'" + to_string(one->match) + "' is there twice, and the first class counts",
                   "put its settings together"};
    classes.push_back(*std::move(one));
  }
  return classes;
}

std::string classes_text(const std::vector<ProcessClass>& classes) {
  if (classes.empty()) return "none";
  YAML::Emitter out;
  out.SetSeqFormat(YAML::Flow);
  out.SetMapFormat(YAML::Flow);
  out << YAML::BeginSeq;
  for (const ProcessClass& one : classes) {
    out << YAML::BeginMap << YAML::Key << "match" << YAML::Value << to_string(one.match);
    for (const auto& [name, text] : one.settings) out << YAML::Key << name << YAML::Value << text;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
  return out.c_str();
}

Needs needs_of(const std::vector<ProcessClass>& classes) {
  std::vector<AttachRule> rules;
  rules.reserve(classes.size());
  for (const ProcessClass& one : classes) rules.push_back(one.match);
  return needs_of(rules);
}

const ProcessClass* class_of(const Config& config, const Candidate& process) {
  const auto found = std::ranges::find_if(config.classes, [&](const ProcessClass& one) {
    return pid_of(one.match) == process.pid || names(one.match, process);
  });
  return found == config.classes.end() ? nullptr : &*found;
}

Config config_of(const Config& config, const ProcessClass& own) {
  Config result = config;
  result.own_class = to_string(own.match);
  for (const auto& [name, text] : own.settings) (void)apply(result, name, text);
  return result;
}

}  // namespace hmk
