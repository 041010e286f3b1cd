// endpoint.h: one end of a move: a store that nobody serves while the move lasts, as tables and rows.
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

// Rows are read and written this many at a time, fewer when they are long.
inline constexpr std::size_t kChunkRows = 1000;
inline constexpr std::size_t kChunkBytes = 8 * 1024 * 1024;

// How far a move into this end is.
struct MoveMark {
  std::string source;    // which move: where from, and in what state that was
  std::size_t step = 0;  // of all_tables()
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

  // Differs when anything was done in between.
  virtual Result<std::string> state() = 0;
  virtual Result<std::int64_t> count(const TableSpec& table) = 0;
  virtual Result<std::int64_t> count_ready() = 0;
  virtual Result<std::vector<Row>> read(const TableSpec& table, const Row& after) = 0;
  virtual Result<LastIds> last_ids() = 0;

  // Nothing: no move was begun.
  virtual Result<std::optional<MoveMark>> mark() = 0;
  virtual Result<void> begin(const std::string& source) = 0;
  // Rows and mark in one transaction. The rows of live events come with their ready rows.
  virtual Result<void> write(const TableSpec& table, const std::vector<Row>& rows, const MoveMark& mark) = 0;
  // The last ids, and no mark any more, in one transaction.
  virtual Result<void> finish(const LastIds& ids) = 0;
};

// Errors: unavailable when somebody else has it open; conflict, corrupt when it is not what is asked for.
Result<std::unique_ptr<MoveEndpoint>> open_sqlite(const std::string& path, bool source);
Result<std::unique_ptr<MoveEndpoint>> open_postgres(const std::string& url, bool source);

// The key of a place as three texts, and a mark from what was stored of it. Errors: corrupt.
std::vector<std::string> key_to_texts(const Row& key);
Result<std::optional<MoveMark>> make_mark(std::string_view source, std::int64_t step,
                                          const std::vector<std::string>& key_texts);

}  // namespace eventq::move
