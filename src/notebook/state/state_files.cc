// state_files.cc: the rows of files and folders. See notebook_state.h.
#include <algorithm>

#include "notebook/files/note_path.h"
#include "notebook/files/portable_name.h"
#include "notebook/state/state_connection.h"

namespace eventq::notebook {
namespace {

using sqlite::Statement;

constexpr std::size_t kAllRows = 1'000'000'000;

// The parameters that insert_file.sql and update_file.sql have in common.
Statement& bind_file_row(Statement& statement, std::int64_t notebook, const FileRow& row) {
  return bind_file_state(statement.bind(notebook).bind(std::int64_t{row.folder}).bind(row.path), row.state)
      .bind(row.hash)
      .bind(row.content_type)
      .bind(row.metadata.title)
      .bind(row.metadata.description)
      .bind(row.metadata.extra)
      .bind(millis_of(row.updated_at))
      .bind(row.event_id);
}

// Binds the lowest and the highest value of the column `folder`, which is 0 for files and 1 for folders.
Statement& bind_filter(Statement& statement, FileFilter filter) {
  return statement.bind(std::int64_t{filter == FileFilter::folders})
      .bind(std::int64_t{filter != FileFilter::files});
}

// The folders above row.path that have no row. Errors: conflict when a file, or the row itself, is above it.
Result<std::vector<std::string>> missing_folders(NotebookState& state, std::int64_t notebook,
                                                 const FileRow& row) {
  std::vector<std::string> missing;
  for (std::string& folder : folders_of(row.path)) {
    const auto found = state.file_at(notebook, folder);
    if (!found) return found.error();
    if (!*found) {
      missing.push_back(std::move(folder));
    } else if (!(*found)->folder || (*found)->id == row.id) {
      return Error{ErrorCode::conflict,
                   row.path + " cannot be inside " + folder + ", which is not another folder.", "path"};
    }
  }
  return missing;
}

}  // namespace

FileRow read_file_row(const Statement& row) {
  return {.id = row.integer(0),
          .folder = row.integer(1) != 0,
          .path = std::string(row.text(2)),
          .state = read_file_state(row, 3),
          .hash = std::string(row.text(7)),
          .content_type = std::string(row.text(8)),
          .metadata = {.title = row.optional_text(9),
                       .description = row.optional_text(10),
                       .extra = std::string(row.text(11))},
          .updated_at = time_point(row.integer(12)),
          .event_id = std::string(row.text(13)),
          .git = std::string(row.text(14))};
}

Result<std::optional<FileRow>> NotebookState::file(std::int64_t notebook, std::int64_t id) {
  return one_row(db_->use(sql::file).bind(notebook).bind(id), read_file_row);
}

Result<std::optional<FileRow>> NotebookState::file_at(std::int64_t notebook, std::string_view path) {
  return one_row(db_->use(sql::file_at).bind(notebook).bind(path), read_file_row);
}

Result<std::vector<FileRow>> NotebookState::files(std::int64_t notebook, FileFilter filter,
                                                  std::string_view after, std::size_t limit) {
  Statement& statement = bind_filter(db_->use(sql::files).bind(notebook).bind(after), filter);
  return all_rows(statement.bind(static_cast<std::int64_t>(limit)), read_file_row);
}

Result<std::vector<FileRow>> NotebookState::files_within(std::int64_t notebook, std::string_view folder,
                                                         FileFilter filter) {
  return all_rows(bind_filter(db_->use(sql::files_within).bind(notebook).bind(folder), filter),
                  read_file_row);
}

// "0" is the byte after "/". No path is behind the last character of Unicode.
Result<std::vector<FileRow>> NotebookState::files_in(std::int64_t notebook, const FolderListing& listing,
                                                     FileFilter filter, std::string_view after,
                                                     std::size_t limit) {
  const std::string& folder = listing.folder;
  const std::string prefix = folder.empty() ? "" : folder + "/";
  const std::string end = folder.empty() ? "\U0010FFFF" : folder + "0";
  Statement& bounded =
      db_->use(sql::files_in).bind(notebook).bind(std::max(std::string_view(prefix), after)).bind(end);
  Statement& filtered = bind_filter(bounded, filter);
  filtered.bind(std::int64_t{listing.recursive}).bind(prefix).bind(static_cast<std::int64_t>(limit));
  return all_rows(filtered, read_file_row);
}

// An index finds paths that differ in ASCII letters. SQLite knows no others, so with them the paths beside it
// are compared one by one.
Result<std::optional<std::string>> NotebookState::path_like(std::int64_t notebook, std::string_view path) {
  auto found = one_row(db_->use(sql::like_path).bind(notebook).bind(path),
                       [](const Statement& row) { return std::string(row.text(0)); });
  const bool is_ascii =
      std::none_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (!found || *found || is_ascii) return found;
  const std::string_view parent = parent_of(path);
  const auto rows = parent.empty() ? files(notebook, FileFilter::all, "", kAllRows)
                                   : files_within(notebook, parent, FileFilter::all);
  if (!rows) return rows.error();
  const std::string folded = case_folded(path);
  for (const FileRow& row : *rows) {
    if (row.path != path && case_folded(row.path) == folded) return std::optional(row.path);
  }
  return std::optional<std::string>();
}

Result<FileCounts> NotebookState::counts(std::int64_t notebook) {
  const auto found = one_row(db_->use(sql::counts).bind(notebook), [](const Statement& row) {
    return FileCounts{.files = row.integer(0), .folders = row.integer(1), .bytes = row.integer(2)};
  });
  if (!found) return found.error();
  return found->value_or(FileCounts{});
}

Result<std::int64_t> NotebookState::reserve_file(std::int64_t notebook) {
  return db_->atomically([&]() -> Result<std::int64_t> {
    const auto id = one_row(db_->use(sql::next_file_id), [](const Statement& row) { return row.integer(0); });
    if (!id) return id.error();
    if (!*id) return Error{ErrorCode::corrupt, "The state of the notebooks has lost its ids of files."};
    if (auto done = finish(db_->use(sql::add_reserved).bind(notebook).bind(**id)); !done) return done.error();
    return **id;
  });
}

// In an open transaction nothing is rolled back here, so every check comes before the first write.
Result<std::int64_t> NotebookState::put_file(std::int64_t notebook, const FileRow& row) {
  return db_->atomically([&]() -> Result<std::int64_t> {
    const bool is_new = row.id == 0;
    const auto missing = missing_folders(*this, notebook, row);
    if (!missing) return missing.error();
    const auto promised = one_row(db_->use(sql::is_reserved).bind(notebook).bind(row.reserved),
                                  [](const Statement& found) { return found.integer(0) != 0; });
    if (!promised) return promised.error();
    const std::int64_t wanted = is_new && *promised ? row.reserved : row.id;
    Statement& put = bind_file_row(db_->use(is_new ? sql::insert_file : sql::update_file), notebook, row);
    auto changed = put.bind(wanted).run();
    if (!changed) return changed.error();
    if (*changed == 0) {
      const auto existing = file(notebook, row.id);
      if (!existing) return existing.error();
      if (is_new || *existing) return taken("file or folder", row.path, "path");
      const auto dropped = db_->use(sql::drop_gone).bind(notebook).bind(row.id).run();
      if (!dropped) return dropped.error();
      if (*dropped == 0) {
        return Error{ErrorCode::not_found, "There is no file " + std::to_string(row.id) + " any more."};
      }
      changed = bind_file_row(db_->use(sql::insert_file), notebook, row).bind(row.id).run();
      if (!changed) return changed.error();
      if (*changed == 0) return taken("file or folder", row.path, "path");
    }
    const std::int64_t id = is_new ? db_->last_id() : row.id;
    if (is_new && *promised) {
      auto done = finish(db_->use(sql::drop_reserved).bind(notebook).bind(row.reserved));
      if (!done) return done.error();
    }
    for (const std::string& folder : *missing) {
      const FileRow made{
          .folder = true, .path = folder, .updated_at = row.updated_at, .event_id = row.event_id};
      auto done = finish(bind_file_row(db_->use(sql::insert_file), notebook, made).bind(std::int64_t{0}));
      if (!done) return done.error();
    }
    return id;
  });
}

Result<void> NotebookState::import_files(std::int64_t notebook, const std::vector<FileRow>& rows,
                                         const std::vector<PendingChange>& changes, ImportPart part) {
  return db_->atomically([&]() -> Result<void> {
    std::string_view folder;  // the last one, whose row exists: put_file() would look for it again
    for (const FileRow& row : rows) {
      if (folder.empty() || parent_of(row.path) != folder) {
        auto put = put_file(notebook, row);
        if (!put && put.error().code != ErrorCode::conflict) return put.error();
        folder = put ? parent_of(row.path) : "";
      } else {
        auto put = finish(bind_file_row(db_->use(sql::insert_file), notebook, row));
        if (!put) return put;
      }
    }
    if (auto added = add_pending(notebook, changes); !added) return added;
    if (part == ImportPart::more_follow) return {};
    return finish(db_->use(sql::set_imported).bind(notebook));
  });
}

Result<void> NotebookState::remove_file(std::int64_t notebook, std::int64_t id) {
  return db_->write(db_->use(sql::remove_file).bind(notebook).bind(id));
}

}  // namespace eventq::notebook
