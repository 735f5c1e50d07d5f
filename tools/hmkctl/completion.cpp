// SPDX-License-Identifier: MIT
//
// Completion scripts, made from the very description that parses the command line.
#include <cstdio>
#include <sstream>

#include "config/keys.hpp"
#include "util/cli.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

/// What may follow `app`, separated by spaces: a verb takes the options of hmkctl too.
std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* const verb : hmk::subcommands(app)) words += verb->get_name() + " ";
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent())
    for (const std::string& name : hmk::long_options(*at))
      if ((" " + words).find(" " + name + " ") == std::string::npos) words += name + " ";
  words.pop_back();
  return words;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

/// The lines of a `case` over $word: what may follow each key that has words for values.
std::string value_cases(const std::string& before, const std::string& after) {
  std::string cases;
  for (const std::string_view key : hmk::live_key_names())
    if (const auto words = hmk::words_of(key); !words.empty()) {
      cases.append("      ").append(key).append(") ").append(before);
      cases.append(joined(words)).append(after).append(" ;;\n");
    }
  return cases;
}

/// Text between single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* const verb : hmk::subcommands(app))
    cases += "      " + verb->get_name() + ") words=" + quoted(words_after(*verb)) + "; break ;;\n";
  // Without a match bash falls back to file names: for 'record' and 'heatmap --record'.
  return "# bash completion of hmkctl\n"
         "_hmkctl() {\n"
         "  local word= words=" +
         quoted(words_after(app)) +
         "\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in\n" +
         cases +
         "    esac\n"
         "  done\n"
         "  case $word:${COMP_WORDS[COMP_CWORD]} in\n"
         "    *:-*) ;;\n"
         "    get:*) words=" +
         quoted(joined(hmk::key_names())) +
         " ;;\n"
         "    set:*) words=\n"
         "      case ${COMP_WORDS[COMP_CWORD-1]} in\n"
         "      set | -*) words=" +
         quoted(joined(hmk::live_key_names())) + " ;;\n" + value_cases("words='", "'") +
         "      esac ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _hmkctl hmkctl\n";
}

std::string zsh_script(const CLI::App& app) {
  std::ostringstream out;
  out << "#compdef hmkctl\n_hmkctl() {\n  local -a verbs=(\n";
  for (const CLI::App* const verb : hmk::subcommands(app))
    out << "    " << quoted(verb->get_name() + ":" + verb->get_description()) << "\n";
  out << "  )\n  local word verb=\n  for word in ${words[2,CURRENT-1]}; do\n"
         "    (( ${verbs[(I)$word:*]} )) && verb=$word && break\n  done\n  case $verb in\n";
  for (const CLI::App* const verb : hmk::subcommands(app)) {
    out << "    " << verb->get_name() << ") compadd -- " << words_after(*verb);
    if (verb->get_name() == "get") out << " " << joined(hmk::key_names());
    if (verb->get_name() == "set")
      out << "\n      case ${words[CURRENT-1]} in\n      set | -*) compadd -- "
          << joined(hmk::live_key_names()) << " ;;\n"
          << value_cases("compadd -- ", "") << "      esac";
    out << " ;;\n";
  }
  out << "    *) _describe verb verbs ;;\n  esac\n";
  // Whatever the verb, a word that no option begins may be a file.
  out << "  [[ $PREFIX = -* ]] || [[ -z $verb ]] || _files\n}\n"
         // As a file of fpath it is the function itself, sourced it names it.
         "if [[ $funcstack[1] = _hmkctl ]]; then _hmkctl \"$@\"; else compdef _hmkctl hmkctl; fi\n";
  return out.str();
}

void fish_options(std::ostream& out, const CLI::App& of, const std::string& when) {
  for (const CLI::Option* const option : of.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty())
        out << "complete -c hmkctl" << when << " -l " << name << " -d "
            << quoted(option->get_description()) << "\n";
}

std::string fish_script(const CLI::App& app) {
  std::ostringstream out;
  out << "# fish completion of hmkctl\n";
  fish_options(out, app, "");
  for (const CLI::App* const verb : hmk::subcommands(app)) {
    out << "complete -c hmkctl -n __fish_use_subcommand -f -a " << verb->get_name() << " -d "
        << quoted(verb->get_description()) << "\n";
    fish_options(out, *verb, " -n '__fish_seen_subcommand_from " + verb->get_name() + "'");
  }
  const auto keys = [&](const char* verb, std::span<const std::string_view> names) {
    out << "complete -c hmkctl -n '__fish_seen_subcommand_from " << verb << "' -f -a "
        << quoted(joined(names)) << "\n";
  };
  keys("get", hmk::key_names());
  keys("set", hmk::live_key_names());
  for (const std::string_view key : hmk::live_key_names())
    if (const auto words = hmk::words_of(key); !words.empty())
      out << "complete -c hmkctl -n '__fish_seen_subcommand_from set; and "
             "__fish_seen_subcommand_from "
          << key << "' -f -a " << quoted(joined(words)) << "\n";
  return out.str();
}

}  // namespace

Run make_completion(CLI::App& verb) {
  auto shell = std::make_shared<std::string>();
  verb.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &verb](const Context& /*context*/) {
    const CLI::App& app = *verb.get_parent();
    const std::string text = *shell == "bash"  ? bash_script(app)
                             : *shell == "zsh" ? zsh_script(app)
                                               : fish_script(app);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? kOk : kFailed;
  };
}

}  // namespace hmkctl
