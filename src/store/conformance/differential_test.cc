// differential_test.cc: runs the same random operations on two stores and compares their answers. The store
// in memory is the model, because it has no index that could be wrong.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "store/conformance/store_conformance.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/stored_event.h"
#include "support/describe.h"
#include "support/describe_records.h"
#include "support/faulty_vfs.h"
#include "support/postgres_cluster.h"
#include "support/rounds.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

// A store and its open transaction.
struct Side {
  std::unique_ptr<Store> store;
  std::unique_ptr<Reader> reader;
  std::unique_ptr<Transaction> transaction;
  std::int64_t last_id = 0;  // the highest event id assigned
  std::map<LogId, LogId> log_numbers = {};

  // A store may skip log ids, so the comparison uses their rank among the ids assigned.
  std::vector<LogEntry> numbered(std::vector<LogEntry> entries) {
    for (LogEntry& entry : entries) {
      const auto next = static_cast<LogId>(log_numbers.size() + 1);
      entry.log_id = log_numbers.emplace(entry.log_id, next).first->second;
    }
    return entries;
  }
};

// One operation that returns its answer as text. Random values are drawn before, so both stores get the same.
using Step = std::function<std::string(Side&)>;

std::string text_of(const Event& event) { return describe(event) + " " + describe_more(event) + "\n"; }
std::string text_of(const LogEntry& entry) { return describe(entry) + "\n"; }

std::string text_of(const Stored& stored) {
  return text_of(stored.event) + (stored.archived ? " archived" : " live") + (stored.ready ? " ready" : "") +
         " guard " + std::string(name_of(stored.guard.status)) + " " + std::to_string(stored.guard.attempts) +
         " " + stored.guard.worker_id + " line " + describe(stored.line) + " " +
         describe(stored.line_before) + (stored.archived ? "" : " turn " + std::to_string(stored.turn)) +
         " cause " + stored.cause + "\n";
}

template <typename T>
std::string text_of(const std::optional<T>& maybe) {
  return maybe ? text_of(*maybe) : "nothing\n";
}

template <typename T>
std::string text_of(const std::vector<T>& all) {
  std::string text;
  for (const T& one : all) text += text_of(one);
  return text;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t limit) { return engine_() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string queue() { return one_in(4) ? "other" : "main"; }

  std::vector<std::string> tags() {
    std::vector<std::string> tags;
    for (const char* tag : {"a", "b", "c", "d"}) {
      if (one_in(2)) tags.emplace_back(tag);
    }
    return tags;
  }

  std::vector<std::string> some_tags() {
    std::vector<std::string> tags = this->tags();
    if (tags.empty()) tags.emplace_back("e");
    return tags;
  }

  std::string worker() { return "w:" + std::to_string(below(3)); }

  template <typename Enum>
  Enum of(std::size_t values) {
    return static_cast<Enum>(below(values));
  }

 private:
  std::mt19937_64 engine_;
};

// A random change of an event; some are allowed by the store but not by the lifecycle.
std::function<void(Event&, TimePoint)> random_edit(Random& random) {
  const Millis wait = std::chrono::seconds(random.below(40));
  const std::string worker = random.worker();
  const auto status = static_cast<Status>(2 + random.below(5));  // the ended statuses
  const std::string result = random.one_in(2) ? "[" + std::to_string(random.below(9)) + "]" : "";
  switch (random.below(3)) {
    case 0:
      return [=](Event& event, TimePoint now) {
        hold(event, worker, now + wait);
        event.picked_at = now;
        event.superseded_by.reset();
      };
    case 1:
      return [=](Event& event, TimePoint now) {
        requeue(event, now + wait);
        event.superseded_by.reset();
      };
    default:
      return [=](Event& event, TimePoint now) {
        end(event, status, now);
        event.superseded_by.reset();
        if (status == Status::superseded) event.superseded_by = EventId{7};
        if (may_have_result(event)) event.result = result;
      };
  }
}

// The place in line of an event with an ordering_key that joins its line.
Line free_place(Transaction& transaction, const Event& event) {
  if (event.ordering_key.empty()) return Line::none;
  return must(transaction.head_of_line(event.queue, event.ordering_key)) ? Line::behind : Line::head;
}

// Changes an event as the core would: when a head leaves its line, the first event behind becomes the head.
class Edit {
 public:
  explicit Edit(Random& random)
      : edit_(random_edit(random)),
        blocks_(random.one_in(2)),
        cause_("cause " + std::to_string(random.below(3))) {}

  std::string apply(Transaction& transaction, Stored& stored) const {
    const Line before = stored.line;
    edit_(stored.event, transaction.now());
    stored.event.updated_at = transaction.now();
    if (has_ended(stored.event.status)) {
      const bool stays = blocks_ && stored.event.status == Status::failed && before == Line::head;
      stored.line = stays ? Line::head : Line::none;
    } else if (before == Line::none) {
      stored.line = free_place(transaction, stored.event);
    }
    const bool fails = stored.event.status == Status::failed && stored.guard.status != Status::failed;
    if (fails) stored.cause = cause_;
    must(transaction.save({&stored, 1}));
    const bool left = before == Line::head && stored.line == Line::none;
    return text_of(stored) + (left ? move_up(transaction, stored.event) : "");
  }

 private:
  static std::string move_up(Transaction& transaction, const Event& left) {
    auto next = must(transaction.first_behind(left.queue, left.ordering_key));
    if (!next) return "nobody behind";
    next->line = Line::head;
    must(transaction.save({&*next, 1}));
    return text_of(*next);
  }

  std::function<void(Event&, TimePoint)> edit_;
  bool blocks_;  // a failed head keeps its place and blocks the line
  std::string cause_;
};

Step insert(Random& random, std::size_t& inserted) {
  std::vector<Stored> drafts(1 + random.below(4));
  for (Stored& draft : drafts) {
    draft = new_event("e" + std::to_string(++inserted), TimePoint());
    Event& event = draft.event;
    event.queue = random.queue();
    event.tags = random.some_tags();
    event.priority = static_cast<int>(random.below(3)) - 1;
    event.payload = std::string(random.below(random.one_in(20) ? 9000 : 50), 'x');
    if (random.one_in(2)) event.description = "d";
    if (random.one_in(3)) event.correlation_id = "c" + std::to_string(random.below(3));
    if (random.one_in(3)) event.ordering_key = "o" + std::to_string(random.below(4));
    if (random.one_in(3)) event.supersede_key = "s" + std::to_string(random.below(4));
    if (random.one_in(3)) event.pattern = "p" + std::to_string(random.below(2));
    if (random.one_in(3)) event.sequence = static_cast<int>(random.below(3));
    if (random.one_in(5)) event.retry = RetryPolicy{};
    if (random.one_in(5)) event.max_attempts = static_cast<int>(1 + random.below(5));
    if (random.one_in(5)) event.timestamp = TimePoint(5s);
    event.due_at = TimePoint(std::chrono::seconds(random.below(30)));  // relative to the transaction's time
  }
  return [drafts](Side& side) {
    std::vector<Stored> events = drafts;
    const TimePoint now = side.transaction->now();
    for (Stored& stored : events) {
      stored.event.due_at = now + stored.event.due_at.time_since_epoch();
      stored.event.created_at = now;
      stored.line = free_place(*side.transaction, stored.event);
      must(side.transaction->insert({&stored, 1}));
      side.last_id = static_cast<std::int64_t>(stored.event.id);
    }
    return text_of(events);
  };
}

Step change(Random& random, EventId id) {
  return [id, edit = Edit(random)](Side& side) {
    auto loaded = must(side.transaction->load({{id}}, Transaction::EventFields::state));
    return loaded.at(0) ? edit.apply(*side.transaction, *loaded[0]) : "missing";
  };
}

Step claim(Random& random) {
  const Selector selector{random.queue(), random.tags()};
  return [selector, limit = random.below(6), edit = Edit(random)](Side& side) {
    std::vector<Stored> claimed = must(side.transaction->claim(selector, limit));
    std::string text = text_of(claimed);
    for (Stored& stored : claimed) text += edit.apply(*side.transaction, stored);
    return text;
  };
}

Step remove(EventId id) {
  return [id](Side& side) {
    const auto loaded = must(side.transaction->load({{id}}, Transaction::EventFields::state));
    const bool free = loaded.at(0) && loaded[0]->archived && loaded[0]->line == Line::none;
    if (!free) return std::string("stays");
    must(side.transaction->remove({&*loaded[0], 1}));
    return text_of(must(side.transaction->load({{id}}, Transaction::EventFields::state)));
  };
}

EndedFilter random_filter(Random& random, TimePoint now) {
  EndedFilter filter;
  filter.queue = random.queue();
  for (const Status status : {Status::completed, Status::failed, Status::cancelled, Status::superseded}) {
    if (random.one_in(3)) filter.statuses.push_back(status);
  }
  if (random.one_in(3)) filter.tags = random.some_tags();
  if (random.one_in(4)) filter.pattern = "p1";
  if (random.one_in(4)) filter.cause = "cause 1";
  if (random.one_in(3)) filter.from = now - std::chrono::seconds(random.below(600));
  if (random.one_in(3)) filter.to = now - std::chrono::seconds(random.below(600));
  filter.limit = random.below(10);
  return filter;
}

Step query(Random& random, TimePoint now) {
  return [filter = random_filter(random, now), order = "o" + std::to_string(random.below(4)),
          supersede = "s" + std::to_string(random.below(4))](Side& side) {
    Transaction& transaction = *side.transaction;
    const auto oldest = must(transaction.oldest_pending(filter.queue));
    return text_of(must(transaction.ended(filter)).events) +
           text_of(must(transaction.head_of_line(filter.queue, order))) +
           text_of(must(transaction.first_behind(filter.queue, order))) +
           describe(must(transaction.with_supersede_key(filter.queue, supersede))) + describe(oldest);
  };
}

// Puts one record that is not an event.
Step put(Random& random, EventId id) {
  const std::string queue = random.queue();
  const auto n = static_cast<std::int64_t>(random.below(1000));
  const std::string name = "n" + std::to_string(random.below(4));
  const std::size_t what = random.below(12);
  return [=](Side& side) {
    Transaction& transaction = *side.transaction;
    const TimePoint now = transaction.now();
    const std::string text = std::to_string(n);
    switch (what) {
      case 0:
        must(transaction.put_queue({queue, {.max_queue_depth = n}, "", {}, text, name, now, now, now}));
        break;
      case 1: must(transaction.add_totals(queue, {.published = n, .failed = 1, .removed = 2}, id)); break;
      case 2: must(transaction.add_failed_in_hour(472'222 + n % 3, n)); break;
      case 3:
      case 9:
        // A checkpoint needs the row of its queue.
        must(transaction.add_queue({queue, {}, "", {}, text, name, now, now, now}));
        must(transaction.put_checkpoint({describe(now) + text, queue, name, n, now, what == 9}));
        break;
      case 10: must(transaction.delete_checkpoint(describe(now) + text)); break;
      case 11:
        must(transaction.append_queue_log({text, queue, QueueAction::paused, name, text, "{}", now}));
        break;
      case 4: must(transaction.put_recovery({text, queue, name, n, now, now, "completed"})); break;
      case 5: must(transaction.add_worker({name, now, now, n, n})); break;
      case 6: must(transaction.put_archive_file({name, n})); break;
      case 7:
        must(transaction.add_queue({queue, {.max_queue_depth = n}, "", {}, text, name, now, now, now}));
        break;
      default: must(transaction.put_correlation({"c1", n, n, n, n, n % 3, text, queue})); break;
    }
    return describe(must(transaction.find_correlation("c1"))) +
           describe(must(transaction.find_checkpoint(describe(now) + text))) +
           std::to_string(must(transaction.count_requested(queue)));
  };
}

Step append(Random& random, EventId id) {
  std::vector<LogEntry> drafts(1 + random.below(3));
  for (LogEntry& entry : drafts) {
    entry = new_entry({}, random.of<Action>(9), random.worker());
    if (random.one_in(2)) entry.status_code = 500;
    if (random.one_in(3)) entry.errors = {"x", "y"};
    if (random.one_in(3)) entry.next_retry_at = TimePoint(5s);
    if (random.one_in(3)) entry.by = "anna";
    if (random.one_in(3) && entry.action == Action::failed) entry.error_detail = "at line 7";
  }
  return [drafts, id](Side& side) {
    std::vector<LogEntry> entries = drafts;
    for (LogEntry& entry : entries) entry.id = id;
    must(side.transaction->append(entries));
    return text_of(side.numbered(entries)) + text_of(side.numbered(must(side.transaction->log(id))));
  };
}

Step use_key(Random& random) {
  const std::string key = "k" + std::to_string(random.below(5));
  const auto print = std::to_string(random.below(3));
  const Millis age = std::chrono::seconds(random.below(60));
  const bool put = random.one_in(2);
  return [=](Side& side) {
    const TimePoint now = side.transaction->now();
    if (put) must(side.transaction->put_key({key, print, {EventId{1}}, now}));
    if (!put) must(side.transaction->purge_keys(now - age, 1));
    const auto found = must(side.transaction->find_key(key));
    return found ? found->fingerprint + " " + describe(found->created_at) : "no key";
  };
}

// `inserted` counts all inserted events, also those rolled back, because their ids stay assigned.
Step random_step(Random& random, std::size_t& inserted, std::int64_t last_id, TimePoint now) {
  const auto id = static_cast<EventId>(random.below(static_cast<std::size_t>(last_id) + 2));
  switch (random.below(13)) {
    case 0:
    case 1: return insert(random, inserted);
    case 2:
    case 3: return change(random, id);
    case 4:
    case 5: return claim(random);
    case 6: return append(random, id);
    case 7: return use_key(random);
    case 8: return remove(id);
    case 9: return query(random, now);
    case 10: return put(random, id);
    case 11:
      return
          [limit = random.below(5)](Side& side) { return text_of(must(side.transaction->promote(limit))); };
    default:
      return [id, fields = random.of<Transaction::EventFields>(2)](Side& side) {
        const auto due = must(side.transaction->next_due());
        return text_of(must(side.transaction->load({{id, EventId{1}}}, fields))) +
               (due ? describe(*due) : "nothing due") +
               (must(side.transaction->find("e" + std::to_string(static_cast<std::int64_t>(id))))
                    ? " found"
                    : " not found");
      };
  }
}

Step random_list(Random& random, EventId id) {
  ListFilter filter;
  if (random.one_in(2)) filter.status = random.of<Status>(7);
  if (random.one_in(2)) filter.queue = random.queue();
  if (random.one_in(3)) filter.tags = random.some_tags();
  if (random.one_in(4)) filter.worker_id = random.worker();
  if (random.one_in(4)) filter.correlation_id = "c1";
  if (random.one_in(2)) filter.offset = static_cast<std::int64_t>(random.below(10));
  filter.limit = random.below(30);
  if (random.one_in(2)) filter.after = id;
  if (random.one_in(4))
    filter.before = EventId{static_cast<std::int64_t>(id) + static_cast<std::int64_t>(random.below(30))};
  if (random.one_in(2)) filter.order = ListOrder::descending;
  if (random.one_in(5)) filter.error = "o";
  filter.include = {.payload = random.one_in(3), .result = random.one_in(3), .logs = random.one_in(3)};
  return [=](Side& side) {
    EventPage page = must(side.reader->list(filter));
    std::string included;
    for (auto& [event, log] : page.logs) included += text_of(side.numbered(std::move(log)));
    for (const Event& event : page.events) included += event.payload + event.result + "\n";
    included += page.next() ? std::to_string(static_cast<std::int64_t>(*page.next())) + "\n" : "last page\n";
    auto details = must(side.reader->details(id));
    if (details) details->log = side.numbered(std::move(details->log));
    return text_of(page.events) + "total " + std::to_string(page.total) +
           (page.total_exact ? "\n" : " or more\n") + included + text_of(must(side.reader->get(id))) +
           text_of(side.numbered(must(side.reader->log(id)))) + describe(details);
  };
}

Step random_read(Random& random, EventId id, TimePoint now) {
  const std::string queue = random.queue();
  const bool one_queue = random.one_in(2);
  const Status status = random.of<Status>(7);
  const TimePoint before = now - std::chrono::seconds(random.below(600));
  std::vector<std::string> asked_tags = random.tags();  // sorted
  return [=, limit = random.below(10)](Side& side) {
    Reader& reader = *side.reader;
    const auto asked = one_queue ? std::optional(queue) : std::nullopt;
    const auto correlation = must(reader.correlation("c1", id, limit));
    auto document = must(reader.queue(queue, limit));
    for (std::size_t i = 0; document && i < document->events.size(); ++i) {
      document->events[i].log = side.numbered(std::move(document->events[i].log));
    }
    return describe(document) + "\n" + describe(must(reader.queues())) + "\n" +
           describe(must(reader.checkpoints(queue, limit))) + "\n" + describe(must(reader.recovery(queue))) +
           "\n" + (correlation ? describe(*correlation) + text_of(correlation->events) : "none") + "\n" +
           describe(must(reader.failures(asked, limit))) + "\n" +
           describe(must(reader.expired(queue, status, before, limit))) + "\n" +
           describe(must(reader.archive_files())) + "\n" +
           describe(must(reader.queue_log({queue, "", limit}))) + "\n" +
           describe(must(reader.queue_log({queue, "5", limit}))) + "\n" +
           std::to_string(must(reader.holding("w:" + std::to_string(limit % 3), queue))) + "\n" +
           testing::PrintToString(must(
               reader.unattended(std::vector<AskedTags>{{queue, asked_tags}, {"none", {}}, {queue, {}}}))) +
           "\n" + describe(must(reader.working()).workers) + "\n" +
           text_of(must(reader.working()).processing);
  };
}

std::string recall(Side& side) {
  side.transaction = must(side.store->begin());
  std::vector<std::string> repaired;
  const std::string text = describe(must(side.transaction->recall(repaired)));
  side.transaction.reset();
  return text + " repaired " + std::to_string(repaired.size());
}

class StoreDifferential : public testing::Test {
 protected:
  // Runs the same operations on the model and on this store.
  void compare_with(std::unique_ptr<Store> real, int operations) {
    model_.store = memory::open_store(clock_);
    real_.store = std::move(real);
    for (Side* side : {&model_, &real_}) side->reader = must(side->store->reader());
    constexpr std::uint64_t kSeed = 20'260'101;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random(kSeed);
    while (operations_ < operations && !HasFatalFailure()) {
      run_transaction(random);
      run_reads(random);
    }
    for (Side* side : {&model_, &real_}) {
      side->reader.reset();
      side->store.reset();
    }
  }

  const Clock& clock() const { return clock_; }

 private:
  void run(const Step& step) {
    ++operations_;
    const std::string expected = step(model_);
    ASSERT_EQ(step(real_), expected) << "operation " << operations_;
  }

  void run_transaction(Random& random) {
    clock_.advance(Millis(random.below(5000)));
    for (Side* side : {&model_, &real_}) side->transaction = must(side->store->begin());
    for (std::size_t steps = 1 + random.below(5); steps > 0 && !HasFatalFailure(); --steps) {
      run(random_step(random, inserted_, model_.last_id, clock_.now()));
    }
    const bool keep = !random.one_in(5);
    for (Side* side : {&model_, &real_}) {
      if (keep) must(side->transaction->commit());
      side->transaction.reset();
    }
  }

  void run_reads(Random& random) {
    const auto id = static_cast<EventId>(random.below(static_cast<std::size_t>(model_.last_id) + 2));
    run(random_list(random, id));
    run(random_read(random, id, clock_.now()));
    if (random.one_in(10)) run(recall);
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  Side model_;
  Side real_;
  std::size_t inserted_ = 0;
  int operations_ = 0;
};

TEST_F(StoreDifferential, SqliteReturnsWhatTheModelReturnsForAnySequence) {
  const TemporaryDirectory directory;
  FaultyVfs disk;
  disk.skip_syncs();  // syncs would take most of the time of this test

  compare_with(must(sqlite::open_store(directory.file("store.db"), clock())), rounds(10'000, 2'000, 200'000));

  EXPECT_EQ(audit(directory.file("store.db")), "");
}

TEST_F(StoreDifferential, PostgresReturnsWhatTheModelReturnsForAnySequence) {
  const TestDatabase database;

  compare_with(postgres::make_store(database.url(), {}, &clock()),
               rounds(3'000, 1'000, 60'000));  // fewer rounds, because each takes a round trip
}

}  // namespace
}  // namespace eventq
