// command_line.cc: see command_line.h.
#include "cli/framework/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/nearest.h"
#include "cli/framework/help.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

constexpr const char* kVersionText = "eventq " EVENTQ_VERSION;

bool is_flag(const Parameter& parameter) {
  return parameter.name.starts_with('-') && (parameter.value.empty() || parameter.bare);
}

std::vector<const Parameter*> parameters_of(const CommandSpec& command) {
  std::vector<const Parameter*> all;
  for (const Parameter& positional : command.positionals) all.push_back(&positional);
  for (const Parameter& option : command.options) all.push_back(&option);
  for (const Parameter& option : common_options(command.server_use)) all.push_back(&option);
  return all;
}

// CLI11 only splits the words. collect() reads Option::results(), so the values stay the texts that were
// given.
void add_parameter(CLI::App& app, const Parameter& parameter) {
  if (is_flag(parameter)) {
    app.add_flag(parameter.name);
    return;
  }
  CLI::Option* const option = app.add_option(parameter.name, [](const CLI::results_t&) { return true; });
  const bool positional = !parameter.name.starts_with('-');
  option->type_name(positional ? parameter.name : parameter.value)->required(parameter.required);
  if (!parameter.many) return;
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (positional) option->expected(-1);
}

// The choice that `value` is in another letter case, or else `value` itself.
std::string as_spelled(const Parameter& parameter, const std::string& value) {
  for (const std::string& choice : split_list(parameter.choices)) {
    if (equals_ignoring_case(choice, value)) return choice;
  }
  return value;
}

// The error message for an invalid value; empty when it is valid.
std::optional<std::string> judge(const Parameter& parameter, const std::string& value) {
  const std::string name(long_name(parameter));
  if (is_flag(parameter) && !parameter.bare && value != "true" && value != "false") {
    return name + " takes no value, but was given " + in_quotes(value);
  }
  if (parameter.choices.empty()) return std::nullopt;
  const auto choices = split_list(parameter.choices);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return std::nullopt;
  std::string known = choices.front();
  for (std::size_t i = 1; i < choices.size(); ++i) {
    known += (i + 1 == choices.size() ? " or " : ", ") + choices[i];
  }
  return name + " must be " + known + ", not " + in_quotes(value) + did_you_mean(value, choices);
}

// Has one CLI::App per command, and one per group ("queue" of "queue pause").
class CommandLineParser {
 public:
  explicit CommandLineParser(std::span<const CommandSpec> commands) : commands_(commands) {
    root_.set_help_flag("-h,--help");
    root_.set_version_flag("--version", kVersionText);
    root_.require_subcommand(0, 1);
    for (const CommandSpec& command : commands) add(command);
  }

  std::variant<ChosenCommand, Printout> parse(int argc, const char* const* argv) {
    const std::vector<const char*> words = with_default(argc, argv);
    try {
      root_.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
      return explain(error);
    }
    const auto found = by_app_.find(&deepest());
    if (found == by_app_.end()) return Printout{.err = help(), .exit_code = ExitCode::usage};
    return collect(*found->second);
  }

 private:
  // Inserts the command that a group alone means: `eventq failures` is `eventq failures ls`.
  std::vector<const char*> with_default(int argc, const char* const* argv) const {
    std::vector<const char*> words(argv, argv + argc);
    if (words.size() < 2) return words;
    const std::string_view next = words.size() > 2 ? words[2] : "";
    if (!next.empty() && (!next.starts_with('-') || next == "-h" || next == "--help")) return words;
    for (const CommandSpec& command : commands_) {
      const std::size_t blank = command.name.find(' ');
      if (!command.group_default || command.name.substr(0, blank) != words[1]) continue;
      words.insert(words.begin() + 2, command.name.substr(blank + 1).data());
      break;
    }
    return words;
  }

  void add(const CommandSpec& command) {
    add(command, std::string(command.name));
    if (!command.earlier_name.empty()) add(command, std::string(command.earlier_name));
  }

  void add(const CommandSpec& command, const std::string& name) {
    const std::size_t blank = name.find(' ');
    CLI::App* above = &root_;
    if (blank != std::string::npos) {
      CLI::App*& group = groups_[name.substr(0, blank)];
      if (group == nullptr) group = root_.add_subcommand(name.substr(0, blank))->require_subcommand(0, 1);
      above = group;
    }
    CLI::App* const app = above->add_subcommand(name.substr(blank + 1));  // npos + 1 is 0
    by_app_.emplace(app, &command);
    for (const Parameter* parameter : parameters_of(command)) add_parameter(*app, *parameter);
  }

  // The app that the words select: the root, a group, or a command.
  CLI::App& deepest() {
    CLI::App* app = &root_;
    for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands()) {
      app = chosen.front();
    }
    return *app;
  }

  // "queue pause"
  std::string words() {
    std::string words;
    for (const CLI::App* app = &deepest(); app->get_parent() != nullptr; app = app->get_parent()) {
      if (!words.empty()) words.insert(0, " ");
      words.insert(0, app->get_name());
    }
    return words;
  }

  std::string help() { return help_about(commands_, words()).value_or(""); }

  Printout wrong_usage(const std::string& message) {
    const std::string name = words();
    return {.err = "eventq: " + printable(message) + "\nSee eventq " + (name.empty() ? "" : name + " ") +
                   "--help.\n",
            .exit_code = ExitCode::usage};
  }

  Printout explain(const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
      return {.out = version ? std::string(kVersionText) + "\n" : help()};
    }
    // CLI11 lists all unknown words without a suggestion. Name the first one and the nearest valid word.
    const auto unexpected = root_.remaining(true);
    if (unexpected.empty()) return wrong_usage(error.what());
    const std::string word = unexpected.front().substr(0, unexpected.front().find('='));
    return wrong_usage("unexpected argument " + in_quotes(word) + did_you_mean(word, known_words()));
  }

  std::vector<std::string> known_words() {
    const CLI::App& app = deepest();
    std::vector<std::string> words;
    for (const CLI::App* subcommand : app.get_subcommands({})) words.push_back(subcommand->get_name());
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) words.push_back("--" + option->get_single_name());
    }
    return words;
  }

  std::variant<ChosenCommand, Printout> collect(const CommandSpec& command) {
    ChosenCommand chosen{.command = &command, .arguments = {}};
    if (words() == command.earlier_name) chosen.arguments.add(command.earlier_flag, "true");
    for (const Parameter* parameter : parameters_of(command)) {
      const std::string name(long_name(*parameter));
      for (const std::string& given : deepest().get_option(name)->results()) {
        const std::string value = as_spelled(*parameter, given);
        if (const auto wrong = judge(*parameter, value)) return wrong_usage(*wrong);
        if (parameter->bare) {
          chosen.arguments.add(name, value == "true" ? "" : value);
        } else if (!is_flag(*parameter) || value == "true") {
          chosen.arguments.add(name, value);
        }
      }
    }
    return chosen;
  }

  std::span<const CommandSpec> commands_;
  CLI::App root_{"", "eventq"};
  std::map<std::string, CLI::App*> groups_;
  std::map<const CLI::App*, const CommandSpec*> by_app_;
};

}  // namespace

std::variant<ChosenCommand, Printout> parse_command_line(std::span<const CommandSpec> commands, int argc,
                                                         const char* const* argv) {
  return CommandLineParser(commands).parse(argc, argv);
}

}  // namespace eventq::cli
