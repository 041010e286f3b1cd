// drawn_numbers.h: gives a database's events numbers without gaps, for tests with fixed numbers.
//
// A transaction that draws a number from a sequence and does not use it leaves a gap. Tests that compare with
// a store without gaps reset the sequence between their requests.
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

  // REQUIRES: no other connection writes to the store meanwhile.
  void take_back() {
    if (!connection_) return;
    take_back(last_event_, kLastEvent, kDrawEvent);
  }

 private:
  // Ids and turns are drawn from the same sequence.
  static constexpr std::string_view kLastEvent =
      "SELECT greatest((SELECT max(id) FROM eventq.event_body), (SELECT max(turn) FROM eventq.event_queue), "
      "0)";
  static constexpr std::string_view kDrawEvent =
      "SELECT setval('eventq.event_number', $1::bigint + 1, false)";

  // `last` keeps the maximum, because an ended event has no turn any more and a removed event has no row.
  void take_back(std::int64_t& last, std::string_view find, std::string_view draw) {
    last = std::max(last, connection_->run_one(find).value().number(0, 0));
    connection_->run_one(draw, std::move(postgres::Params().add(last))).value();
  }

  std::unique_ptr<postgres::PgConnection> connection_;  // null on SQLite
  std::int64_t last_event_ = 0;
};

}  // namespace eventq
