// drawn_numbers.h: the numbers of a database's events without gaps, for tests that name them.
//
// What a transaction drew from a sequence and did not use is gone; tests that compare with a store that knows
// no gaps give it back between their requests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "store/postgres/connection.h"
#include "support/test_store.h"

namespace eventq {

class DrawnNumbers {
 public:
  explicit DrawnNumbers(const TestStore& store) {
    if (tests_postgres()) connection_ = postgres::PgConnection::open(store.url()).value();
  }

  // REQUIRES: nobody writes to the store meanwhile.
  void take_back() {
    if (!connection_) return;
    take_back(last_event_, kLastEvent, kDrawEvent);
  }

 private:
  // A turn is drawn as ids are.
  static constexpr std::string_view kLastEvent =
      "SELECT greatest((SELECT max(id) FROM eventq.event_body), (SELECT max(turn) FROM eventq.event_queue), "
      "0)";
  static constexpr std::string_view kDrawEvent =
      "SELECT setval('eventq.event_number', $1::bigint + 1, false)";

  // An event that has ended shows its turn no more, and one that was removed shows nothing.
  void take_back(std::int64_t& last, std::string_view find, std::string_view draw) {
    last = std::max(last, connection_->run_one(find).value().number(0, 0));
    connection_->run_one(draw, std::move(postgres::Params().add(last))).value();
  }

  std::unique_ptr<postgres::PgConnection> connection_;  // nothing on SQLite
  std::int64_t last_event_ = 0;
};

}  // namespace eventq
