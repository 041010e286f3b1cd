// migrate.cc: see migrate.h. A change of the schema is a new numbered file. The statements of an older file
// never change.
#include "store/postgres/migrate.h"

#include <algorithm>

#include "base/uuid.h"
#include "generated/postgres_migrations.h"
#include "generated/postgres_sql.h"
#include "store/postgres/connection.h"

namespace eventq::postgres {
namespace {

std::string name_of(ShardPosition position) {
  return "shard " + std::to_string(position.shard_index) + " of " + std::to_string(position.shard_count);
}

Error refused(const std::string& url, const std::string& why) {
  return Error{ErrorCode::conflict, "The database " + without_password(url) + " " + why, "store"};
}

Result<DatabaseState> read_state(PgConnection& connection) {
  DatabaseState state;
  auto found = connection.run_one(sql::find_schema);
  if (!found) return found.error();
  state.here = found->number(0, 1) != 0;
  if (found->number(0, 0) == 0) return state;
  auto rows = connection.run({{sql::read_version}, {sql::read_position}, {sql::find_move}});
  if (!rows) return rows.error();
  state.version = static_cast<int>(rows->at(0).number(0, 0));
  state.moving = rows->at(2).number(0, 0) > 0;
  const Rows& shard = rows->at(1);
  if (!shard.empty()) {
    state.position =
        ShardPosition{static_cast<int>(shard.number(0, 0)), static_cast<int>(shard.number(0, 1))};
    state.set = shard.text(0, 2);
    state.whole = shard.number(0, 3) != 0;
  }
  return state;
}

ShardPosition position_in(std::span<const std::string> urls, std::size_t index) {
  return {static_cast<int>(index), static_cast<int>(urls.size())};
}

// Checks that the database is shard `index` of the set that the first database belongs to.
Result<void> check_set(std::span<const std::string> urls, std::size_t index, const DatabaseState& first,
                       const DatabaseState& state) {
  if (index == 0) return {};
  const std::string other = without_password(urls[0]);
  const std::string advice = ". Name the databases that were first served together.";
  if (state.position && !first.position) {
    return refused(urls[index], "is " + name_of(*state.position) + " beside another shard 0 than " + other +
                                    ", which is new" + advice);
  }
  if (state.position && state.set != first.set) {
    return refused(urls[index],
                   "is " + name_of(*state.position) + " beside another shard 0 than " + other + advice);
  }
  if (!state.position && first.whole) {
    return refused(urls[index], "is new, but " + other + " has its " + name_of(position_in(urls, index)) +
                                    " elsewhere" + advice);
  }
  return {};
}

// Checks that this program may use the database: its version, its shard position and its set.
Result<void> check_ours(std::span<const std::string> urls, std::size_t index, const DatabaseState& first,
                        const DatabaseState& state) {
  const std::string& url = urls[index];
  const ShardPosition position = position_in(urls, index);
  const int newest = migrations().back().version;
  if (state.version > newest) {
    return refused(url, "has schema " + std::to_string(state.version) + ", this eventq knows up to " +
                            std::to_string(newest) + ". Use the newer eventq that migrated it.");
  }
  if (state.position && *state.position != position) {
    const std::string right =
        state.position->shard_count == 1
            ? "It is a whole store: serve it alone."
            : "Start `eventq serve` with all " + std::to_string(state.position->shard_count) +
                  " databases, each once and in their order: this one is --store number " +
                  std::to_string(state.position->shard_index + 1) + ".";
    return refused(
        url, "is " + name_of(*state.position) + ", but was given as " + name_of(position) + ". " + right);
  }
  return check_set(urls, index, first, state);
}

// Reads the state of each database. Errors: conflict if they are not one set.
Result<std::vector<DatabaseState>> read_states(std::span<const std::string> urls) {
  std::vector<DatabaseState> states;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const std::string& url = urls[i];
    // Without this check the error would be about a wrong shard position, which hides the cause.
    if (std::ranges::count(urls.first(i), url) > 0) {
      return refused(url, "is given twice. Each shard is a database of its own.");
    }
    auto state = schema_state(url);
    if (!state) return state.error();
    states.push_back(std::move(*state));
  }
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (auto ours = check_ours(urls, i, states[0], states[i]); !ours) return ours.error();
  }
  return states;
}

std::string new_set() { return Uuid7Source::from_entropy().next(system_clock().now()); }

Result<void> apply(PgConnection& connection, const Migration& migration) {
  if (auto begun = connection.run_one(sql::begin_migration); !begun) return begun.error();
  // After an error the connection closes, which rolls the migration back.
  if (auto done = connection.script(migration.sql); !done) {
    return Error{done.error().code, "Migration " + migration.name + " failed: " + done.error().message,
                 "store"};
  }
  return connection.commit({{sql::put_version, params_of(migration.version)}});
}

// Brings one database to the newest version and stores its position. Sets `first` for shard 0, because the
// checks of the other shards need it.
Result<void> migrate_one(std::span<const std::string> urls, std::size_t index, DatabaseState& first,
                         std::vector<Migrated>& done) {
  auto opened = PgConnection::open(urls[index]);
  if (!opened) return opened.error();
  PgConnection& connection = **opened;
  if (auto locked = connection.script(std::string(sql::lock_schema)); !locked) return locked.error();
  auto state = read_state(connection);
  if (!state) return state.error();
  // Checked again under the lock, because another server may have migrated the database since read_states().
  if (auto ours = check_ours(urls, index, first, *state); !ours) return ours.error();

  for (const Migration& migration : migrations()) {
    if (migration.version <= state->version) continue;
    if (auto applied = apply(connection, migration); !applied) return applied.error();
    done.push_back({urls[index], migration});
  }
  if (!state->position) {
    state->position = position_in(urls, index);
    state->set = index == 0 ? new_set() : first.set;
    auto put = connection.run_one(
        sql::put_position, params_of(state->position->shard_index, state->position->shard_count, state->set));
    if (!put) return put.error();
  }
  if (index == 0) first = std::move(*state);
  return {};
}

// The statement with values in place of its parameters, and a final semicolon.
std::string with_values(std::string_view sql, const std::vector<std::string>& values) {
  // The comments name the parameters, too, so they must not be replaced instead.
  while (sql.starts_with("--")) sql.remove_prefix(sql.find('\n') + 1);
  std::string text(sql.substr(0, sql.find_last_not_of(" ;\n") + 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string parameter = "$" + std::to_string(i + 1);
    text.replace(text.find(parameter), parameter.size(), values[i]);
  }
  return text + ";\n";
}

// The script that brings one database to the newest version.
std::string script_of(const DatabaseState& state, ShardPosition position, const std::string& set) {
  std::string script;
  for (const Migration& migration : migrations()) {
    if (migration.version <= state.version) continue;
    script += with_values(sql::begin_migration, {}) + migration.sql +
              with_values(sql::put_version, {std::to_string(migration.version)}) +
              with_values(sql::commit, {});
  }
  if (state.position) return script;
  return script + with_values(sql::put_position, {std::to_string(position.shard_index),
                                                  std::to_string(position.shard_count), "'" + set + "'"});
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all = [] {
    std::vector<Migration> list;
    for (const auto& [name, text] : migration_files::kAll) {
      // cmake/embed.cmake calls 0001_init.sql m0001_init.
      list.push_back(
          {static_cast<int>(list.size()) + 1, std::string(name.substr(1)) + ".sql", std::string(text)});
    }
    return list;
  }();
  return all;
}

Result<DatabaseState> schema_state(const std::string& url) {
  auto connection = PgConnection::open(url);
  if (!connection) return connection.error();
  return read_state(**connection);
}

Result<std::vector<Migrated>> migrate(std::span<const std::string> urls) {
  if (auto states = read_states(urls); !states) return states.error();
  std::vector<Migrated> done;
  DatabaseState first;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (auto migrated = migrate_one(urls, i, first, done); !migrated) return migrated.error();
  }
  // Stored last, because it says that every other shard has stored its position.
  if (first.whole) return done;
  auto connection = PgConnection::open(urls[0]);
  if (!connection) return connection.error();
  if (auto put = (*connection)->run_one(sql::put_whole); !put) return put.error();
  return done;
}

Result<std::string> migration_script(std::span<const std::string> urls) {
  const auto states = read_states(urls);
  if (!states) return states.error();
  const DatabaseState& first = states->front();
  const std::string set = first.position ? first.set : new_set();
  // psql runs one script for all shards, so each part connects to its own database.
  const auto into = [&](std::size_t index, const std::string& script) {
    if (script.empty() || urls.size() == 1) return script;
    return "\\connect '" + without_password(urls[index]) + "'\n" + script;
  };
  std::string script;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    script += into(i, script_of((*states)[i], position_in(urls, i), set));
  }
  if (!first.whole) script += into(0, with_values(sql::put_whole, {}));
  return script;
}

Result<std::vector<DatabaseState>> check_schema(std::span<const std::string> urls) {
  auto states = read_states(urls);
  if (!states) return states;
  const int newest = migrations().back().version;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const DatabaseState& state = (*states)[i];
    std::string lacks;
    if (state.version == 0) {
      lacks = "has no eventq schema yet";
    } else if (state.version < newest) {
      lacks = "has schema " + std::to_string(state.version) + ", this eventq needs " + std::to_string(newest);
    } else if (!state.position) {
      lacks = "does not store which shard it is";
    } else if (i == 0 && !state.whole) {
      lacks = "was not migrated completely";
    }
    if (!lacks.empty()) {
      return refused(urls[i],
                     lacks + ". Run `eventq migrate up` with the same --store, or `eventq serve --migrate`.");
    }
    if (state.moving) {
      return refused(urls[i], "holds part of a store that is being moved. Run the same `eventq move` again.");
    }
  }
  return states;
}

}  // namespace eventq::postgres
