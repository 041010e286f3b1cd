// serve_command.cc: `eventq serve`. Its options are generated from the table of settings.
#include <ostream>

#include "cli/commands/serve_request.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/framework/record.h"
#include "server/serve.h"

namespace eventq::cli {
namespace {

Parameter option_of(const server::ServerSetting& setting) {
  Parameter option{.name = server::flag_name(setting),
                   .value = std::string(setting.placeholder),
                   .help = std::string(setting.help) + " (" + server::variable_name(setting) + ")",
                   .fallback = setting.text(server::ServerSettings{})};
  // --migrate and --migrate=false: the flag may turn off what a variable or the file turned on.
  if (setting.kind == server::SettingKind::truth) {
    option.value = "BOOL";  // so that --flag=false can override the configuration file
    option.bare = true;
  }
  option.many = setting.kind == server::SettingKind::list;
  if (setting.placeholder == "PATH") option.completes = CompletionKind::file;
  return option;
}

ExitCode run_serve(Invocation& invocation) {
  return run_server(invocation, serve_request(invocation.arguments));
}

}  // namespace

server::ServeRequest serve_request(const Arguments& arguments) {
  server::ServeRequest request;
  for (const server::ServerSetting& setting : server::all_settings()) {
    auto value = arguments.text(server::flag_name(setting));
    if (!value) continue;
    // ServeFlags has one text per setting, so the values of a list are joined as in the file.
    if (setting.kind == server::SettingKind::list)
      value = join_list(arguments.texts(server::flag_name(setting)), std::string_view(&server::kListEnd, 1));
    if (setting.kind == server::SettingKind::truth && value->empty()) value = "true";
    request.flags.values[std::string(setting.name)] = *value;
  }
  request.flags.config = arguments.text("--config");
  if (arguments.has("--print-config")) request.mode = server::ServeMode::print_config;
  return request;
}

ExitCode run_server(Invocation& invocation, const server::ServeRequest& request) {
  const auto served = server::serve(request);
  if (served) return ExitCode::done;
  // Not by fail(), which would escape the line ends of PostgreSQL's messages.
  invocation.err << "eventq: " << served.error().message << '\n';
  const bool is_flag = served.error().field.starts_with("--");
  return is_flag ? ExitCode::usage : ExitCode::failed;
}

Parameter config_option() {
  return {.name = "--config",
          .value = "FILE",
          .help = "Read settings from this TOML file (EVENTQ_CONFIG)",
          .completes = CompletionKind::file};
}

CommandSpec serve_command() {
  CommandSpec command{
      .name = "serve",
      .summary = "Run the server",
      .details =
          "A flag overrides the environment, which overrides the configuration file, which "
          "overrides the default.\n\n"
          "Every user of this machine can read a PostgreSQL password in a flag (ps). Put it into "
          "EVENTQ_STORE, the configuration file, PGPASSWORD or ~/.pgpass; eventq never prints it.\n\n"
          "The server refuses a PostgreSQL database with another schema than its own, unless "
          "--migrate is given; see `eventq migrate up`.",
      .examples = {{"eventq serve", "Store events in eventq.db, listen on 127.0.0.1:8080"},
                   {"eventq serve --store postgres://eventq@db/eventq --migrate",
                    "Store events in PostgreSQL, and create the schema if it does not exist"},
                   {"eventq serve --print-config", "Print the effective settings and their origins"}},
      .run = run_serve,
      .server_use = ServerUse::none,
  };
  for (const server::ServerSetting& setting : server::all_settings())
    command.options.push_back(option_of(setting));
  command.options.push_back(config_option());
  command.options.push_back(
      {.name = "--print-config", .help = "Print the effective settings and their origins as TOML, and exit"});
  return command;
}

}  // namespace eventq::cli
