// state_gone.cc: deleted files that may return, and files by content. See notebook_state.h.
#include <limits>

#include "notebook/state/state_connection.h"

namespace eventq::notebook {

Result<void> NotebookState::remove_to_gone(std::int64_t notebook, std::int64_t id, TimePoint now) {
  return db_->atomically([&]() -> Result<void> {
    auto kept = finish(db_->use(sql::add_gone).bind(notebook).bind(id).bind(millis_of(now)));
    return kept ? remove_file(notebook, id) : kept;
  });
}

Result<std::optional<FileRow>> NotebookState::gone_at(std::int64_t notebook, std::string_view path,
                                                      TimePoint since) {
  return one_row(db_->use(sql::gone_path).bind(notebook).bind(path).bind(millis_of(since)), read_file_row);
}

Result<std::vector<FileRow>> NotebookState::gone_with(std::int64_t notebook, std::string_view hash,
                                                      TimePoint since, std::size_t limit) {
  sqlite::Statement& find = db_->use(sql::gone_hash).bind(notebook).bind(hash).bind(millis_of(since));
  return all_rows(find.bind(static_cast<std::int64_t>(limit)), read_file_row);
}

Result<std::vector<FileRow>> NotebookState::files_with(std::int64_t notebook, std::string_view hash,
                                                       std::optional<std::uint64_t> inode,
                                                       std::size_t limit) {
  using Range = std::numeric_limits<std::int64_t>;  // inodes are stored as signed numbers
  sqlite::Statement& find = db_->use(sql::files_hash).bind(notebook).bind(hash);
  find.bind(inode ? static_cast<std::int64_t>(*inode) : Range::min());
  find.bind(inode ? static_cast<std::int64_t>(*inode) : Range::max());
  return all_rows(find.bind(static_cast<std::int64_t>(limit)), read_file_row);
}

Result<void> NotebookState::expire_gone(std::int64_t notebook, TimePoint until) {
  return db_->write(db_->use(sql::expire_gone).bind(notebook).bind(millis_of(until)));
}

}  // namespace eventq::notebook
