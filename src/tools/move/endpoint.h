// endpoint.h: one end of a move: a store as tables and rows. It is locked, so that no server runs on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "tools/move/table.h"

namespace eventq::move {

// The size of a chunk: at most this many rows, and fewer when their text reaches kChunkBytes.
inline constexpr std::size_t kChunkRows = 1000;
inline constexpr std::size_t kChunkBytes = 8 * 1024 * 1024;

// The position of a move into this endpoint.
struct MoveMark {
  std::string source;    // name() and state() of the source
  std::size_t step = 0;  // an index into all_tables()
  Row last_key;          // the key of the last row written; empty: before the first
};

struct LastIds {
  std::int64_t event = 0;
  std::int64_t log = 0;
};

class MoveEndpoint {
 public:
  virtual ~MoveEndpoint() = default;

  [[nodiscard]] virtual std::string name() const = 0;  // without a password

  // A text that changes when a server works on the store, so that a resumed move detects it.
  virtual Result<std::string> state() = 0;
  virtual Result<std::int64_t> count(const TableSpec& table) = 0;
  virtual Result<std::int64_t> count_ready() = 0;
  virtual Result<std::vector<Row>> read(const TableSpec& table, const Row& after) = 0;
  virtual Result<LastIds> last_ids() = 0;

  // Empty when no move was begun.
  virtual Result<std::optional<MoveMark>> mark() = 0;
  virtual Result<void> begin(const std::string& source) = 0;
  // Writes rows and mark in one transaction, and the ready rows of live events, too.
  virtual Result<void> write(const TableSpec& table, const std::vector<Row>& rows, const MoveMark& mark) = 0;
  // Writes the last ids and deletes the mark in one transaction.
  virtual Result<void> finish(const LastIds& ids) = 0;
};

// Errors: not_found; unavailable when another process has the store open; conflict for a shard, or a source
// that is the target of an unfinished move; corrupt for a file that is not a store of this version.
Result<std::unique_ptr<MoveEndpoint>> open_sqlite(const std::string& path, bool source);
Result<std::unique_ptr<MoveEndpoint>> open_postgres(const std::string& url, bool source);

// A key as the three texts that a mark stores, and a mark from stored texts. Errors: corrupt.
std::vector<std::string> key_to_texts(const Row& key);
Result<MoveMark> make_mark(std::string_view source, std::int64_t step,
                           const std::vector<std::string>& key_texts);

// A row in the columns of sqlite_read_mark.sql.
template <typename MarkRow>
Result<MoveMark> make_mark(const MarkRow& row) {
  return make_mark(row.text(0), row.integer(1),
                   {std::string(row.text(2)), std::string(row.text(3)), std::string(row.text(4))});
}

}  // namespace eventq::move
