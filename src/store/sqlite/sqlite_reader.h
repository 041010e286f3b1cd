// sqlite_reader.h: Reader on a connection of its own that only reads, briefly.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace eventq::sqlite {

class SqliteReader final : public Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  explicit SqliteReader(Connection&& opened) : connection_(std::move(opened)) {}

  Result<std::optional<Event>> get(EventId id) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<Page> list(const ListFilter& filter) override;

 private:
  Statement& list_statement(const ListFilter& filter);
  // Calls `take` with each event that matches, in the order of ids, until it returns false.
  Result<void> walk(const ListFilter& filter, const std::function<bool(Event&&)>& take);
  Result<std::int64_t> kept_count(const ListFilter& filter);

  Connection connection_;
  Statement load_live_, load_archived_, event_log_, list_all_, list_live_, list_archived_, list_rare_,
      read_count_;
};

}  // namespace eventq::sqlite
