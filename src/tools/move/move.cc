// move.cc: see move.h.
#include "tools/move/move.h"

#include <memory>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "tools/move/endpoint.h"

namespace eventq::move {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_sqlite(std::string_view url) { return url.starts_with(kSqlite) && url.size() > kSqlite.size(); }
bool is_postgres(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<std::unique_ptr<MoveEndpoint>> open_end(const std::string& url, bool source) {
  if (is_sqlite(url)) return open_sqlite(url.substr(kSqlite.size()), source);
  return open_postgres(url, source);
}

// The number of rows, for progress and to tell an empty target.
Result<std::int64_t> count_all(MoveEndpoint& end) {
  std::int64_t all = 0;
  for (const TableSpec& table : all_tables()) {
    const auto rows = end.count(table);
    if (!rows) return rows.error();
    all += *rows;
  }
  return all;
}

// The position to continue from, or the start after begin() on an empty target.
// Errors: conflict when the target holds a move from another source or another state of this one.
Result<MoveMark> starting_mark(MoveEndpoint& from, MoveEndpoint& to, bool& resumed) {
  const auto state = from.state();
  if (!state) return state.error();
  // With the state of the source, so that a mark is not used after a server changed the source.
  const std::string source = from.name() + " " + *state;
  auto mark = to.mark();
  if (!mark) return mark.error();
  resumed = mark->has_value();
  if (resumed && (*mark)->source == source) return std::move(**mark);
  if (resumed) {
    return Error{
        ErrorCode::conflict,
        to.name() + " holds part of another move, or of this one before " + from.name() +
            " was served again. Empty it (DROP SCHEMA eventq CASCADE, or remove the file), and move again.",
        "store"};
  }
  const auto rows = count_all(to);
  if (!rows) return rows.error();
  if (*rows > 0) {
    return Error{ErrorCode::conflict,
                 to.name() + " is not empty. Name a target to which nothing was ever published.", "store"};
  }
  if (auto begun = to.begin(source); !begun) return begun.error();
  return MoveMark{source, 0, {}};
}

Row key_of(const TableSpec& table, const Row& row) {
  Row key;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key) key.push_back(row[i]);
  }
  return key;
}

// Copies the rows after `mark`, chunk by chunk. Counts them in `done`, of `all`.
Result<void> copy_rows(MoveEndpoint& from, MoveEndpoint& to, MoveMark mark, const MoveOptions& options,
                       std::int64_t all, std::int64_t& done) {
  while (mark.step < all_tables().size()) {
    const TableSpec& table = all_tables()[mark.step];
    if (options.on_progress && !options.on_progress(done, all)) {
      return Error{ErrorCode::unavailable, "The move was stopped. Run the same command again to continue it.",
                   ""};
    }
    auto rows = from.read(table, mark.last_key.empty() ? first_key(table) : mark.last_key);
    if (!rows) return rows.error();
    if (rows->empty()) {
      // The table is complete. Its end is stored with the first chunk of the next one.
      mark.step += 1;
      mark.last_key.clear();
      continue;
    }
    mark.last_key = key_of(table, rows->back());
    if (auto written = to.write(table, *rows, mark); !written) return written;
    done += static_cast<std::int64_t>(rows->size());
  }
  return {};
}

Error differs(std::string_view what, std::int64_t from, std::int64_t to) {
  return {ErrorCode::corrupt,
          "The source has " + std::to_string(from) + " rows in " + std::string(what) + ", the target has " +
              std::to_string(to) + ". The move is not complete; empty the target and move again.",
          "store"};
}

// Counts the rows of both ends, because a move that lost rows must not be finished. event_ready is not copied
// but filled by each end, so it is compared, too.
Result<void> compare(MoveEndpoint& from, MoveEndpoint& to) {
  for (const TableSpec& table : all_tables()) {
    const auto before = from.count(table);
    const auto after = to.count(table);
    if (!before) return before.error();
    if (!after) return after.error();
    if (*before != *after) return differs(table.name, *before, *after);
  }
  const auto before = from.count_ready();
  const auto after = to.count_ready();
  if (!before) return before.error();
  if (!after) return after.error();
  if (*before != *after) return differs("event_ready", *before, *after);
  return {};
}

}  // namespace

std::vector<std::string> key_to_texts(const Row& key) {
  std::vector<std::string> texts(3);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto* number = std::get_if<std::int64_t>(&key[i]);
    texts[i] = number != nullptr ? std::to_string(*number) : std::get<std::string>(key[i]);
  }
  return texts;
}

Result<MoveMark> make_mark(std::string_view source, std::int64_t step,
                           const std::vector<std::string>& key_texts) {
  const Error damaged{ErrorCode::corrupt,
                      "The position of the unfinished move cannot be read. Empty the target and move again.",
                      "store"};
  if (step < 0 || step >= std::ssize(all_tables())) return damaged;
  MoveMark mark{std::string(source), static_cast<std::size_t>(step), {}};
  // Empty texts are the position before the first row, because the key of a row has a part that is not empty.
  if (key_texts[0].empty() && key_texts[1].empty()) return mark;
  const auto keys = key_columns(all_tables()[mark.step]);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].kind == ColumnSpec::ColumnKind::text) {
      mark.last_key.emplace_back(key_texts[i]);
      continue;
    }
    const auto number = parse_whole_signed<std::int64_t>(key_texts[i]);
    if (!number) return damaged;
    mark.last_key.emplace_back(*number);
  }
  return mark;
}

Result<MoveResult> move(const MoveOptions& options) {
  if (!(is_sqlite(options.from) && is_postgres(options.to)) &&
      !(is_postgres(options.from) && is_sqlite(options.to))) {
    return Error{ErrorCode::invalid_argument,
                 "A store can be moved from sqlite:FILE to postgres://USER@HOST/DB, or back.", "store"};
  }
  auto from = open_end(options.from, true);
  if (!from) return from.error();
  auto to = open_end(options.to, false);
  if (!to) return to.error();

  MoveResult moved;
  const auto all = count_all(**from);
  if (!all) return all.error();
  auto mark = starting_mark(**from, **to, moved.resumed);
  if (!mark) return mark.error();
  if (moved.resumed) {
    const auto there = count_all(**to);
    if (!there) return there.error();
    moved.rows = *there;  // progress counts the rows of earlier runs, too
  }

  if (auto copied = copy_rows(**from, **to, *mark, options, *all, moved.rows); !copied) return copied.error();
  if (auto same = compare(**from, **to); !same) return same.error();
  const auto ids = (*from)->last_ids();
  if (!ids) return ids.error();
  // Deletes the mark, so a server can open the target from here on.
  if (auto finished = (*to)->finish(*ids); !finished) return finished.error();
  const auto events = (*to)->count(all_tables()[1]);  // event_body
  if (!events) return events.error();
  moved.events = *events;
  return moved;
}

}  // namespace eventq::move
