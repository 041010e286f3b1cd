// generator.h: random operations, most of them about events that are there and leases that are held,
// some about those that never were or are no longer.
//
// The same seed and the same answers give the same operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "against_model/operation.h"
#include "base/json_writer.h"

namespace eventq {

// What operations are made of; few of each, so that they meet.
inline constexpr std::array<std::string_view, 3> kQueues = {"main", "reports", "a/b"};
inline constexpr std::array<std::string_view, 6> kTags = {"email", "email2", "EMAIL",
                                                          "a_b",   "axb",    "a.b/c@d-e"};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  Operation next();

  // How far the clock moves now: often not at all, sometimes to the very end of a lease, of a retry's delay,
  // or of the day for which keys are kept, or just beside it; then the next operation is about what is due.
  Millis next_advance(TimePoint now);

  // What became of an operation at `now`: the ids, leases and times that later ones are about.
  void learn(const Operation& operation, const Answer& answer, TimePoint now);

 private:
  // Something becomes claimable, in this queue.
  struct Due {
    TimePoint time;
    std::string queue;
  };
  // A publication under a key that was new.
  struct Keyed {
    TimePoint time;
    Operation operation;
  };

  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool percent(int chance) { return number(1, 100) <= chance; }
  template <typename Items>
  auto& any_of(Items& items) {
    return items[static_cast<std::size_t>(number(0, static_cast<int>(items.size()) - 1))];
  }

  Operation publish();
  Operation publish_batch();
  Operation with_key(Operation operation);
  Operation subscribe();
  Operation subscribe(ClaimRequest request);
  Operation turn();
  Operation report();
  Operation report_many();
  Operation intervene();
  Operation why();
  Operation get();
  Operation list();

  NewEvent new_event();
  std::string some_queue(int first, int second);
  std::vector<std::string> some_tags(int least, int most);
  ClaimRequest claim_request();
  Lease lease();
  std::vector<Change> changes(const std::string& worker_id, bool failures);
  Outcome outcome();
  Failure failure();
  EventId some_id();
  std::string tags_in_query(const std::vector<std::string>& tags);
  void write_tags(JsonWriter& json, const std::vector<std::string>& tags);
  void write_event(JsonWriter& json, const NewEvent& event, bool in_batch);

  std::mt19937 random_;
  std::deque<Lease> leases_;   // given lately, newest last
  std::deque<Due> due_times_;  // when leases end and retries start
  std::int64_t last_id_ = 0;
  std::vector<std::string> event_ids_;  // publishers' own
  std::map<std::string, Operation> by_key_;
  std::optional<Keyed> last_keyed_;
  std::optional<Operation> next_;  // no dice are thrown for it
};

}  // namespace eventq
