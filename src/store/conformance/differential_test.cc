// differential_test.cc: the same random sequence of operations on two stores gives the same
// answers. The store in memory is the model: it has no index that could be wrong.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "store/conformance/store_conformance.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/describe.h"
#include "support/faulty_vfs.h"
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
};

// One operation, with all that is random about it already drawn, and its answer as text.
using Step = std::function<std::string(Side&)>;

std::string text_of(const Event& event) { return describe(event) + "\n"; }
std::string text_of(const LogEntry& entry) { return describe(entry) + "\n"; }

std::string text_of(const Stored& stored) {
  return text_of(stored.event) + (stored.archived ? " archived" : " live") + (stored.ready ? " ready" : "") +
         " guard " + std::string(name_of(stored.guard.status)) + " " + std::to_string(stored.guard.attempts) +
         " " + stored.guard.worker_id + "\n";
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

// A change that the lifecycle could make, or one that only the store allows.
std::function<void(Event&, TimePoint)> random_edit(Random& random) {
  const Millis wait = std::chrono::seconds(random.below(40));
  const std::string worker = random.worker();
  const auto status = static_cast<Status>(2 + random.below(5));  // the ended ones
  switch (random.below(3)) {
    case 0: return [=](Event& event, TimePoint now) { hold(event, worker, now + wait); };
    case 1: return [=](Event& event, TimePoint now) { requeue(event, now + wait); };
    default: return [=](Event& event, TimePoint now) { end(event, status, now); };
  }
}

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
    event.due_at = TimePoint(std::chrono::seconds(random.below(30)));  // from the transaction's time
  }
  return [drafts](Side& side) {
    std::vector<Stored> events = drafts;
    const TimePoint now = side.transaction->now();
    for (Stored& stored : events) stored.event.due_at = now + stored.event.due_at.time_since_epoch();
    must(side.transaction->insert(events));
    return text_of(events);
  };
}

Step change(Random& random, EventId id) {
  return [id, edit = random_edit(random)](Side& side) {
    auto loaded = must(side.transaction->load({{id}}, Transaction::Part::head));
    if (!loaded.at(0)) return std::string("missing");
    edit(loaded[0]->event, side.transaction->now());
    loaded[0]->event.updated_at = side.transaction->now();
    must(side.transaction->save({&*loaded[0], 1}));
    return text_of(*loaded[0]);
  };
}

Step claim(Random& random) {
  const Selector selector{random.queue(), random.tags()};
  return [selector, limit = random.below(6), edit = random_edit(random)](Side& side) {
    std::vector<Stored> claimed = must(side.transaction->claim(selector, limit));
    const std::string found = text_of(claimed);
    for (Stored& stored : claimed) {
      edit(stored.event, side.transaction->now());
      stored.event.updated_at = side.transaction->now();
    }
    must(side.transaction->save(claimed));
    return found + text_of(claimed);
  };
}

Step append(Random& random, EventId id) {
  std::vector<LogEntry> drafts(1 + random.below(3));
  for (LogEntry& entry : drafts) {
    entry = new_entry({}, random.of<Action>(8), random.worker());
    if (random.one_in(2)) entry.status_code = 500;
    if (random.one_in(3)) entry.errors = {"x", "y"};
    if (random.one_in(3)) entry.next_retry_at = TimePoint(5s);
  }
  return [drafts, id](Side& side) {
    std::vector<LogEntry> entries = drafts;
    for (LogEntry& entry : entries) entry.event_id = id;
    must(side.transaction->append(entries));
    return text_of(entries) + text_of(must(side.transaction->log(id)));
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

// `inserted` counts the events ever made, also those rolled back: the ids go up with it.
Step random_step(Random& random, std::size_t& inserted) {
  const auto id = static_cast<EventId>(random.below(inserted + 2));
  switch (random.below(10)) {
    case 0:
    case 1: return insert(random, inserted);
    case 2:
    case 3: return change(random, id);
    case 4:
    case 5: return claim(random);
    case 6: return append(random, id);
    case 7: return use_key(random);
    case 8:
      return
          [limit = random.below(5)](Side& side) { return text_of(must(side.transaction->promote(limit))); };
    default:
      return [id, part = random.of<Transaction::Part>(2)](Side& side) {
        const auto due = must(side.transaction->next_due());
        return text_of(must(side.transaction->load({{id, EventId{1}}}, part))) +
               (due ? describe(*due) : "nothing due") +
               (must(side.transaction->find("e" + std::to_string(static_cast<std::int64_t>(id))))
                    ? " found"
                    : " not found");
      };
  }
}

Step random_read(Random& random, std::size_t inserted) {
  ListFilter filter;
  if (random.one_in(2)) filter.status = random.of<Status>(7);
  if (random.one_in(2)) filter.queue = random.queue();
  if (random.one_in(3)) filter.tags = random.some_tags();
  if (random.one_in(4)) filter.worker_id = random.worker();
  if (random.one_in(4)) filter.correlation_id = "c1";
  if (random.one_in(2)) filter.offset = static_cast<std::int64_t>(random.below(10));
  filter.limit = random.below(30);
  const bool deep = random.one_in(2);
  const auto id = static_cast<EventId>(random.below(inserted + 2));
  return [=](Side& side) {
    ListFilter asked = filter;
    if (deep) asked.after = id;
    const Page page = must(side.reader->list(asked));
    return text_of(page.events) + "total " + std::to_string(page.total) +
           (page.total_exact ? "\n" : " or more\n") + text_of(must(side.reader->get(id))) +
           text_of(must(side.reader->log(id)));
  };
}

class StoreDifferential : public testing::Test {
 protected:
  StoreDifferential() {
    disk_.skip_syncs();  // they would cost most of the time
    model_.store = memory::open_store(clock_);
    real_.store = must(sqlite::open_store(directory_.file("store.db"), clock_));
    for (Side* side : {&model_, &real_}) side->reader = must(side->store->reader());
  }

  void run(const Step& step) {
    ++operations_;
    const std::string expected = step(model_);
    ASSERT_EQ(step(real_), expected) << "operation " << operations_;
  }

  void run_transaction(Random& random) {
    clock_.advance(Millis(random.below(5000)));
    for (Side* side : {&model_, &real_}) side->transaction = must(side->store->begin());
    for (std::size_t steps = 1 + random.below(5); steps > 0 && !HasFatalFailure(); --steps) {
      run(random_step(random, inserted_));
    }
    const bool keep = !random.one_in(5);
    for (Side* side : {&model_, &real_}) {
      if (keep) must(side->transaction->commit());
      side->transaction.reset();
    }
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  TemporaryDirectory directory_;
  FaultyVfs disk_;
  Side model_;
  Side real_;
  std::size_t inserted_ = 0;
  int operations_ = 0;
};

TEST_F(StoreDifferential, SqliteAnswersAsTheModelDoesWhateverTheSequence) {
  constexpr std::uint64_t kSeed = 20'260'101;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);

  while (operations_ < 5000 && !HasFatalFailure()) {
    run_transaction(random);
    run(random_read(random, inserted_));
  }

  EXPECT_EQ(audit(directory_.file("store.db")), "");
}

}  // namespace
}  // namespace eventq
