// generator.h: random operations. Most of them name existing events and current leases; some name events that
// never existed or leases that have ended.
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

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  // Makes a queue with a long retention, with few settings of its own or with many.
  Operation configure(const std::string& queue, bool plain);
  Operation checkpoint(const std::string& queue);

  Operation next();

  // How far the clock moves now: often not at all. Sometimes it moves exactly to the end of a lease, of a
  // retry's delay, or of a key's day, or one step beside it. The next operation is then about what is due.
  Millis next_advance(TimePoint now);

  // Takes the ids, leases and times from an operation's answer at `now`, for later operations.
  void learn(const Operation& operation, const Answer& answer, TimePoint now);

 private:
  // An operation that makes an event of this queue claimable.
  struct Due {
    TimePoint time;
    std::string queue;
  };
  // A publication with a key that was new.
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

  Operation about_queues();
  Operation set_status();
  Operation set_status(const std::string& queue, QueueStatus status);
  Operation supersede();
  Operation replay();
  Operation retry_failed();
  Operation wait_event();
  Operation wait_correlation();
  Operation queue();
  Operation queues();
  Operation checkpoints();
  Operation correlation();
  Operation failures();
  QueueConfig config(const std::string& queue);

  NewEvent new_event();
  void add_more(NewEvent& event);
  NewEvent on_complete(const std::string& queue);
  std::string some_queue();
  std::string any_queue();
  std::string some_correlation();
  std::vector<std::string> some_tags(int least, int most);
  ClaimRequest claim_request();
  Lease lease();
  enum class ReportKind : std::uint8_t { completions, failures, releases };
  std::vector<Change> changes(const std::string& worker_id, ReportKind kind);
  Outcome outcome();
  Failure failure();
  Release release(bool delayed);
  EventId some_id();
  std::string tags_in_query(const std::vector<std::string>& tags);
  void write_tags(JsonWriter& json, const std::vector<std::string>& tags);
  void write_event(JsonWriter& json, const NewEvent& event, bool in_batch);
  void write_some_tags(JsonWriter& json, EndedFilter& filter);
  void write_from(JsonWriter& json, EndedFilter& filter);
  void write_limit_and_dry_run(JsonWriter& json, Revival& revival, int most);
  static void write_more(JsonWriter& json, const NewEvent& event);
  static void write_retry(JsonWriter& json, const RetryPolicy& retry);
  void learn_queues(const Operation& operation, const Answer& answer);

  std::mt19937 random_;
  std::deque<Lease> leases_;   // given out recently, newest last
  std::deque<Due> due_times_;  // when leases end and retries start
  std::int64_t last_id_ = 0;
  std::vector<std::string> event_ids_;  // chosen by publishers
  std::map<std::string, Operation> by_key_;
  std::optional<Keyed> last_keyed_;
  std::optional<Operation> next_;  // not chosen at random
  TimePoint now_;
  int completions_ = 0;                          // on_complete events requested
  std::map<std::string, QueueStatus> statuses_;  // of queues
  std::vector<std::string> checkpoints_;         // the queues of the checkpoints made by request
  std::deque<std::string> causes_;               // of failures
};

}  // namespace eventq
