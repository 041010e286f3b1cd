// command_line.cc: see command_line.h.
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/nearest.h"
#include "cli/settings.h"

namespace eventq::cli {
namespace {

constexpr const char* kVersionText = "eventq " EVENTQ_VERSION;

std::string help_of(const Setting& setting) {
  const std::string fallback = setting.text(Settings{});
  return std::string(setting.help) + (fallback.empty() ? "" : " [" + fallback + "]") + " (" +
         variable_name(setting) + ")";
}

// The options write into `command` when they are parsed; it must outlive them.
void add_serve_options(CLI::App& serve, ServeCommand& command) {
  for (const Setting& setting : all_settings()) {
    const auto keep = [&command, name = std::string(setting.name)](const std::string& value) {
      command.flags.values[name] = value;
    };
    if (setting.kind == Setting::Kind::truth) {
      // The plain flag is "true"; --flag=false takes back what a file says.
      serve.add_flag(flag_name(setting))->description(help_of(setting))->each(keep);
    } else {
      serve.add_option_function<std::string>(flag_name(setting), keep, help_of(setting))
          ->type_name(std::string(setting.placeholder));
    }
  }
  serve.add_option("--config", command.flags.config, "Read settings from this TOML file (EVENTQ_CONFIG)")
      ->type_name("FILE");
  serve.add_flag_callback(
      "--print-config", [&command] { command.mode = ServeCommand::Mode::print_config; },
      "Print the settings in force as TOML, with where each came from, and exit");
}

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* subcommand : app.get_subcommands({})) words.push_back(subcommand->get_name());
  for (const CLI::Option* option : app.get_options()) words.push_back("--" + option->get_single_name());
  return words;
}

PrintCommand wrong_usage(const CLI::App& app, const std::string& message) {
  const std::string prefix = app.get_parent() == nullptr ? "eventq" : "eventq " + app.get_name();
  return {.err = "eventq: " + message + "\nSee " + prefix + " --help.\n", .exit_code = ExitCode::usage};
}

PrintCommand explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& at = chosen.empty() ? app : *chosen.front();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    return {.out = version ? std::string(kVersionText) + "\n" : app.help()};
  }
  const auto unexpected = app.remaining(true);
  if (unexpected.empty()) return wrong_usage(at, error.what());
  const std::string word = unexpected.front().substr(0, unexpected.front().find('='));
  return wrong_usage(at, "unexpected argument " + toml_string(word) + did_you_mean(word, known_words(at)));
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App app("eventq: a durable event queue", "eventq");
  app.set_version_flag("--version", kVersionText, "Print the version and exit");
  ServeCommand command;
  CLI::App* const serve = app.add_subcommand("serve", "Run the server");
  add_serve_options(*serve, command);
  const CLI::App* const version = app.add_subcommand("version", "Print the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  if (serve->parsed()) return command;
  if (version->parsed()) return PrintCommand{.out = std::string(kVersionText) + "\n"};
  return PrintCommand{.err = app.help(), .exit_code = ExitCode::usage};
}

}  // namespace eventq::cli
