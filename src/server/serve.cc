// serve.cc: see serve.h.
#include "server/serve.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/nearest.h"
#include "engine/engine.h"
#include "http/api/service.h"
#include "http/transport/server.h"
#include "model/policy.h"
#include "notebook/api/api.h"
#include "notebook/notebooks.h"
#include "queue/open.h"
#include "server/config.h"
#include "server/reload.h"
#include "server/stop_signals.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "store/sqlite/sqlite_store.h"

namespace eventq::server {
namespace {

// A complete stop must take less than the ten seconds after which `docker stop` kills the process. systemd
// allows more.
constexpr std::chrono::seconds kDrainTime{8};
static_assert(kDrainTime < std::chrono::seconds(10));

// Descriptors that are not connections: the files of the store, the listener, epoll and stderr. A notebook
// needs about ten more.
constexpr std::size_t kDescriptorsBesideConnections = 64;
constexpr std::size_t kDescriptorsOfNotebooks = 512;

std::size_t io_threads() {
  // Leaves one core to the commit thread.
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 5) - 1;
}

void warn_of_unknown_variables(const Logger& log, const ServerConfig& config) {
  std::vector<std::string> known;
  for (const ServerSetting& setting : all_settings()) known.push_back(variable_name(setting));
  for (const std::string& name : config.unknown_variables) {
    LogLine warning("unknown variable in the environment");
    warning.add("variable", name);
    if (const auto meant = nearest(name, known)) warning.add("nearest", *meant);
    log(LogLevel::warning, warning.str());
  }
}

void log_settings(const Logger& log, const ServerConfig& config) {
  LogLine line("settings");
  for (const ServerSetting& setting : all_settings())
    line.add(setting.name, shown_value(setting, config.settings));
  log(LogLevel::info, line.str());
  for (const auto& [queue, origin] : config.queue_origins) {
    log(LogLevel::info, LogLine("queue settings").add("queue", queue).add("from", origin).str());
  }
  if (!is_loopback(config.settings.listen)) {
    log(LogLevel::warning, LogLine("other machines can connect without authentication")
                               .add("listen", format(config.settings.listen))
                               .str());
  }
}

void log_store(const Logger& log, const std::string& store) {
  LogLine line("store opened");
  line.add("store", postgres::without_password(store));
  constexpr std::string_view kSqlite = "sqlite:";
  if (store.starts_with(kSqlite)) {
    std::error_code ignored;  // the path is empty then; the log line has the URL, too
    line.add("path", std::filesystem::absolute(store.substr(kSqlite.size()), ignored).string());
  }
  log(LogLevel::info, line.str());
}

// The value of the setting `store` in the log.
std::string stores_text(const ServerSettings& settings) {
  const auto all = all_settings();
  return shown_value(
      *std::find_if(all.begin(), all.end(), [](const ServerSetting& s) { return s.name == "store"; }),
      settings);
}

Result<void> migrate_all(const std::vector<std::string>& stores, const Logger& log) {
  if (!stores.front().starts_with("postgres")) return {};
  const auto done = postgres::migrate(stores);
  if (!done) return done.error();
  for (const postgres::Migrated& one : *done) {
    log(LogLevel::info, LogLine("migrated")
                            .add("store", postgres::without_password(one.url))
                            .add("migration", one.migration.name)
                            .str());
  }
  return {};
}

// Names the origin of a setting that load_config() accepted and the engine or the notebooks refused.
Error with_origin(const ServerConfig& config, Error error) {
  const std::string origin = origin_of(config, error.field);
  if (error.code == ErrorCode::invalid_argument && !origin.empty()) error.message.insert(0, origin + ": ");
  return error;
}

using NotebooksPtr = std::unique_ptr<notebook::Notebooks>;

// Null when notebooks are disabled.
Result<NotebooksPtr> open_notebooks(Engine& engine, const ServerSettings& settings, mode_t mask,
                                    const Logger& log) {
  if (settings.notebooks_allow.empty()) return NotebooksPtr();
  for (const std::string& folder : settings.notebooks_allow) {
    std::error_code none;
    if (std::filesystem::is_directory(folder, none)) continue;
    log(LogLevel::warning, LogLine("notebooks.allow: cannot find this folder").add("folder", folder).str());
  }
  return notebook::Notebooks::open(engine, {.state = notebooks_state_file(settings),
                                            .allow = settings.notebooks_allow,
                                            .mask = mask,
                                            .logger = log,
                                            .clock = nullptr});
}

// The number of descriptors left for connections. Errors: unavailable.
Result<std::size_t> room_for_connections(const ServerSettings& settings) {
  const std::size_t descriptors = raise_descriptor_limit();
  const std::size_t others =
      kDescriptorsBesideConnections + (settings.notebooks_allow.empty() ? 0 : kDescriptorsOfNotebooks);
  const std::size_t needed = others + kDescriptorsBesideConnections;
  if (descriptors >= needed) return descriptors - others;
  return Error{ErrorCode::unavailable,
               "the limit on open files is " + std::to_string(descriptors) + "; at least " +
                   std::to_string(needed) + " are needed (ulimit -n).",
               ""};
}

// The order matters. First no new requests; then the last changes and commits of notebooks, which need the
// engine; then an answer to each waiting call, and time to send the answers. The server stops after the
// engine, because the engine's last answers need its threads.
void stop_serving(http::Server& server, notebook::Notebooks* notebooks, Engine& engine, const Logger& log) {
  server.close_listener();
  if (notebooks) notebooks->stop();
  engine.end_all_waits();
  if (!server.drain(kDrainTime)) log(LogLevel::warning, LogLine("some requests stay unanswered").str());
  engine.stop();
  server.stop();
}

// The running server and what SIGHUP may change in it.
struct Reloadable {
  const ServeRequest& request;
  ServerConfig running;
  Engine& engine;
  http::AllowedOrigins& origins;
};

std::string_view signal_name(int signal) {
  if (signal == SIGHUP) return "SIGHUP";
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

// Returns when a signal stops the server. SIGHUP does if the server was started from a terminal, because it
// means that the terminal was closed. Otherwise it reloads the configuration.
void wait_for_stop(StopSignals& signals, Reloadable server, bool from_terminal, const Logger& log) {
  int signal = signals.wait();
  while (signal == SIGHUP && !from_terminal) {
    reload(server.running, load_config(server.request.flags, read_environment()), server.engine,
           server.origins, log);
    signal = signals.wait();
  }
  signals.end_at_next();
  log(LogLevel::info, LogLine("stopping").add("signal", signal_name(signal)).str());
}

// `mask` is the umask for files that other programs read, such as notes.
Result<void> serve_until_signal(const ServeRequest& request, const ServerConfig& config, mode_t mask,
                                const Logger& log) {
  StopSignals stop_signals(HangUp::is_received);
  const bool from_terminal = has_terminal();  // now, because a closed terminal is none
  const ServerSettings& settings = config.settings;
  Options options = settings.queue;
  options.logger = log;

  sqlite::tune_process();
  // Objects are destroyed in reverse order: the server calls the service, which calls the notebooks and the
  // engine. stop_serving() must have stopped both before, because they answer into the service.
  if (settings.migrate) {
    if (auto done = migrate_all(settings.stores, log); !done) return with_origin(config, done.error());
  }
  auto engine = open_engine(settings.stores, options);
  if (!engine) return with_origin(config, engine.error());
  for (const std::string& store : settings.stores) log_store(log, store);
  auto notebooks = open_notebooks(**engine, settings, mask, log);
  if (!notebooks) return with_origin(config, notebooks.error());

  http::ServerOptions server_options{
      .host = settings.listen.host, .port = settings.listen.port, .io_threads = io_threads(), .logger = log};
  const auto connections = room_for_connections(settings);
  if (!connections) return connections.error();
  server_options.connections_max = std::min(server_options.connections_max, *connections);
  http::AllowedOrigins origins(settings.allow_origin);
  const auto service =
      http::make_service(**engine, server_options.io_threads, system_clock(),
                         settings.allow_remote ? http::Hosts::any : http::Hosts::loopback,
                         default_policy(options), notebook::make_api(notebooks->get()), &origins);
  auto server = http::Server::start(server_options, *service);
  if (!server) return server.error();

  const std::string address = http::format({settings.listen.host, (*server)->port()});
  log(LogLevel::info, LogLine("listening")
                          .add("address", address)
                          .add("dashboard", "http://" + address + "/")
                          .add("store", stores_text(settings))
                          .str());

  if (request.on_listening) request.on_listening("http://" + address);

  wait_for_stop(stop_signals, {request, config, **engine, origins}, from_terminal, log);
  if (request.on_stopping) request.on_stopping();
  stop_serving(**server, notebooks->get(), **engine, log);
  log(LogLevel::info, LogLine("stopped").str());
  return {};
}

}  // namespace

Result<void> serve(const ServeRequest& request) {
  const auto config = load_config(request.flags, read_environment());
  if (!config) return config.error();
  // A caller with on_listening prints its own messages, as `eventq dev` does, so only warnings are logged.
  const Logger log = stderr_logger(request.on_listening ? LogLevel::warning : LogLevel::info);
  warn_of_unknown_variables(log, *config);
  if (request.mode == ServeMode::print_config) {
    std::cout << print_config(*config) << std::flush;
    if (std::cout) return {};
    return Error{.code = ErrorCode::unavailable, .message = "cannot write the settings to stdout"};
  }

  // The files of the store contain payloads, so only their owner may read them.
  const mode_t mask = umask(077);
  // write() returns EPIPE for a closed connection; the signal would end the process.
  std::signal(SIGPIPE, SIG_IGN);

  log(LogLevel::info, LogLine("starting").add("version", EVENTQ_VERSION).str());
  log_settings(log, *config);
  return serve_until_signal(request, *config, mask, log);
}

}  // namespace eventq::server
