// migrate_commands.cc: `eventq migrate status`, `up` and `sql`: show and migrate the schema of stores.
#include <sys/stat.h>

#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "cli/commands/serve_request.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/framework/store_path.h"
#include "server/config.h"
#include "server/serve.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "store/sqlite/sqlite_store.h"
#include "tools/backup/backup.h"

namespace eventq::cli {
namespace {

// load_config() accepts only stores of one kind, so the first one tells the kind of all.
bool is_postgres(const std::string& url) { return url.starts_with("postgres"); }

// The stores that `eventq serve` would open with the same arguments.
Result<std::vector<std::string>> stores_of(const Arguments& arguments) {
  auto config = server::load_config(serve_request(arguments).flags, server::read_environment());
  if (!config) return config.error();
  return std::move(config->settings.stores);
}

struct StoreSchema {
  std::string store;
  std::int64_t schema = 0;  // 0: none
  std::int64_t newest = 0;
  std::optional<postgres::ShardPosition> position;  // that the database stores; PostgreSQL only
  postgres::ShardPosition expected;                 // from the order of the stores
  [[nodiscard]] bool current() const { return schema == newest && (!position || *position == expected); }
};

// `shard` is the index of one of the stores.
Result<StoreSchema> schema_of(const std::vector<std::string>& stores, std::size_t shard) {
  const std::string& store = stores[shard];
  StoreSchema state{.store = postgres::without_password(store),
                    .expected = {static_cast<int>(shard), static_cast<int>(stores.size())}};
  if (is_postgres(store)) {
    const auto found = postgres::schema_state(store);
    if (!found) return found.error();
    state.schema = found->version;
    state.newest = postgres::migrations().back().version;
    // {-1, 0} equals no position, so a database without one is not current.
    state.position = found->position.value_or(postgres::ShardPosition{-1, 0});
    return state;
  }
  const auto path = store_path(store);
  if (!path) return path.error();
  const auto facts = sqlite::inspect(*path);
  if (!facts) return facts.error();
  if (facts->moving) {
    return Error{ErrorCode::conflict,
                 *path + " holds part of a store that is being moved. Run the same `eventq move` again.",
                 "store"};
  }
  state.schema = facts->schema;
  state.newest = facts->newest_schema;
  return state;
}

std::string to_json(const StoreSchema& state) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("store").string(state.store).key("schema").integer(state.schema);
  json.key("newest").integer(state.newest).key("current").boolean(state.current());
  if (state.position && state.position->shard_count > 0) {
    json.key("shard").integer(state.position->shard_index).key("of").integer(state.position->shard_count);
  }
  json.end_object();
  return text;
}

ExitCode show_status(Invocation& run) {
  const auto stores = stores_of(run.arguments);
  if (!stores) return wrong_usage(run, stores.error().message);
  RecordPrinter printer(run.out, run.output,
                        {{"STORE", "store"},
                         {"SCHEMA", "schema", CellKind::number},
                         {"NEWEST", "newest", CellKind::number},
                         {"CURRENT", "current"},
                         {"SHARD", "shard", CellKind::number},
                         {"OF", "of", CellKind::number}});
  bool current = true;
  for (std::size_t shard = 0; shard < stores->size(); ++shard) {
    const auto state = schema_of(*stores, shard);
    if (!state) return fail(run, state.error().message);
    printer.add(to_json(*state));
    current = current && state->current();
  }
  printer.finish();
  if (is_postgres(stores->front())) {
    // The rows show each database alone. This check compares them: they must be shards of one set.
    if (auto checked = postgres::check_schema(*stores); !checked) return fail(run, checked.error().message);
  }
  return current ? ExitCode::done : ExitCode::failed;
}

Result<void> bring_up(Invocation& run, const std::vector<std::string>& stores) {
  if (is_postgres(stores.front())) {
    const auto done = postgres::migrate(stores);
    if (!done) return done.error();
    for (const postgres::Migrated& one : *done) {
      run.err << postgres::without_password(one.url) << ": " << one.migration.name << '\n';
    }
    return {};
  }
  const auto path = store_path(stores.front());
  if (!path) return path.error();
  // Opening a file for writing migrates it.
  const auto opened = sqlite::open_store(*path, system_clock());
  return opened ? Result<void>() : opened.error();
}

ExitCode migrate_up(Invocation& run) {
  const auto stores = stores_of(run.arguments);
  if (!stores) return wrong_usage(run, stores.error().message);
  umask(077);  // payloads are readable by the owner only
  if (auto done = bring_up(run, *stores); !done) {
    return done.error().code == ErrorCode::invalid_argument ? wrong_usage(run, done.error().message)
                                                            : fail(run, done.error().message);
  }
  for (std::size_t shard = 0; shard < stores->size(); ++shard) {
    const auto state = schema_of(*stores, shard);
    if (!state) return fail(run, state.error().message);
    run.err << state->store << " has schema " << state->schema;
    if (stores->size() > 1) run.err << ", shard " << shard << " of " << stores->size();
    run.err << ".\n";
  }
  return ExitCode::done;
}

ExitCode print_sql(Invocation& run) {
  const auto stores = stores_of(run.arguments);
  if (!stores) return wrong_usage(run, stores.error().message);
  if (!is_postgres(stores->front())) {
    return fail(
        run,
        "The schema of " + stores->front() +
            " is created only by `eventq migrate up` and `eventq serve`; there is no SQL to run by hand.");
  }
  const auto script = postgres::migration_script(*stores);
  if (!script) return fail(run, script.error().message);
  run.out << *script;
  return ExitCode::done;
}

CommandSpec migrate_command(std::string_view name, std::string_view summary, std::string_view details,
                            Example example, ExitCode (*run)(Invocation&)) {
  return {.name = name,
          .summary = summary,
          .details = details,
          // As those of `eventq serve`, because both load the same configuration.
          .options = {{.name = "--store",
                       .value = "URL",
                       .help = "The store; for shards give all of them, in order (EVENTQ_STORE)",
                       .fallback = "sqlite:eventq.db",
                       .completes = CompletionKind::file,
                       .many = true},
                      config_option()},
          .examples = {example},
          .run = run,
          .server_use = ServerUse::none};
}

}  // namespace

std::vector<CommandSpec> migrate_commands() {
  CommandSpec status = migrate_command(
      "migrate status", "Show which schema a store has, and which this eventq needs",
      "Exits with 0 when all stores have the newest schema and are the shards that their order gives, else "
      "with 1.",
      {"eventq migrate status --store postgres://eventq@db/eventq",
       "Check whether a server can start with this store"},
      show_status);
  status.options.push_back({"-o,--output", "FORMAT", "How to print", "table on a terminal, jsonl in a pipe",
                            "table,json,jsonl,csv"});
  return {
      status,
      migrate_command(
          "migrate up", "Migrate stores to this eventq's schema",
          "Each migration is one transaction that runs once: a second process waits and then finds it done. "
          "In PostgreSQL the command also stores which shard a database is, unless it is stored already. "
          "Stop servers of the old version first.\n\n"
          "The database, and a user that may create a schema in it, must exist.",
          {"eventq migrate up --store postgres://eventq@db/eventq", "Create or upgrade the schema eventq"},
          migrate_up),
      migrate_command("migrate sql", "Print the SQL that migrate up would run",
                      "For databases whose schema only an administrator may change: the command changes "
                      "nothing. It prints nothing when the schema is current. For shards it prints one "
                      "script, which connects psql to each database. PostgreSQL only.",
                      {"eventq migrate sql --store postgres://eventq@db/eventq | psql -v ON_ERROR_STOP=1 "
                       "postgres://postgres@db/eventq",
                       "Run it as another user"},
                      print_sql),
  };
}

}  // namespace eventq::cli
