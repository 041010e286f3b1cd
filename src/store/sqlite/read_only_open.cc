// read_only_open.cc: see read_only_open.h.
#include "store/sqlite/read_only_open.h"

#include <filesystem>
#include <system_error>

#include "generated/sqlite_sql.h"

namespace eventq::sqlite {

Result<SqliteConnection> open_read_only(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) {
    return Error{ErrorCode::not_found, "There is no file " + path + ".", "store"};
  }
  // SQLite follows symbolic links, so its -wal file is next to the file that the link names.
  const std::string log = std::filesystem::canonical(path, none).string() + "-wal";
  const bool logged = std::filesystem::exists(log, none) && std::filesystem::file_size(log, none) > 0;
  // OpenMode::inspect would copy a killed server's log into the file at close; an empty log has no commits.
  auto connection = SqliteConnection::open(
      path, logged ? SqliteConnection::OpenMode::read : SqliteConnection::OpenMode::inspect);
  if (!connection) return connection;
  if (auto done = connection->run(sql::open_read_only); !done) return done.error();
  return connection;
}

}  // namespace eventq::sqlite
