// SPDX-License-Identifier: MIT
//
// A place in a YAML file whose complaints name file, line and place.
//
//   const Document root = Document::load("zipf.yaml");
//   root.allow({"memory", "phases"});
//   root.get("memory").text();          fails in one line when there is none
#pragma once

#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <optional>
#include <string>

namespace hmk::sim {

class Document {
 public:
  /// These and all below throw std::invalid_argument: "FILE:LINE: PLACE: problem".
  static Document load(const std::string& path);
  [[noreturn]] void fail(const std::string& problem) const;

  /// It is a mapping of no other keys.
  void allow(std::initializer_list<const char*> keys) const;
  Document get(const std::string& key) const;
  std::optional<Document> find(const std::string& key) const;
  /// Of a list; 0 of anything else.
  std::size_t size() const { return node_.IsSequence() ? node_.size() : 0; }
  Document at(std::size_t i) const;

  std::string text() const;
  /// A plain number within [least, most].
  double number(double least, double most) const;
  /// "12.5%" is 0.125.
  double share() const;

 private:
  Document(const YAML::Node& node, std::string file, std::string place)
      : node_(node), file_(std::move(file)), place_(std::move(place)) {}

  YAML::Node node_;
  std::string file_, place_;
};

}  // namespace hmk::sim
