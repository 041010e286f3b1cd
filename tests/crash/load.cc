// load.cc: see load.h.
#include "crash/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "crash/client.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Kind = ReportCall::Kind;

// High enough that every worker finds events, low enough that events are processed while servers die.
constexpr int kBacklogMax = 400;
constexpr std::chrono::seconds kDrainLimit{300};

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint32_t seed) : random_(seed) {}
  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool percent(int chance) { return number(1, 100) <= chance; }

 private:
  std::mt19937 random_;
};

std::string some_tags(RandomNumbers& random) {
  std::string tags(1, static_cast<char>('a' + random.number(0, 2)));
  if (random.percent(30)) tags += std::string(",") + static_cast<char>('a' + random.number(0, 2));
  return tags;
}

CrashClient::Outages outages_of(Load::Databases databases) {
  return databases == Load::Databases::none ? CrashClient::Outages::never : CrashClient::Outages::expected;
}

// Calls use(client, generation) with a client of each server in turn, until the load is finished.
template <typename Use>
void use_each_server(RunningServers& servers, History& history, Load::Databases databases, const Use& use) {
  int generation = 0;
  while (const auto server = servers.next(generation)) {
    generation = server->generation;
    CrashClient client(server->port, history, outages_of(databases));
    use(client, generation);
  }
}

// The number of these events that the backlog counts.
int counted(const std::vector<DeliveredEvent>& events) {
  return static_cast<int>(std::count_if(events.begin(), events.end(), [](const DeliveredEvent& event) {
    return event.queue != kLimitedQueue;
  }));
}

// Publishes until the load is finished. Repeats a publication without an answer when its key or its event_id
// makes that safe.
class Publisher {
 public:
  Publisher(std::uint32_t seed, int number, RunningServers& servers, History& history,
            Load::Databases databases)
      : random_(seed),
        name_("p" + std::to_string(number)),
        servers_(servers),
        history_(history),
        databases_(databases) {}

  void run() {
    use_each_server(servers_, history_, databases_, [&](CrashClient& client, int generation) {
      if (unanswered_) send(client, *std::exchange(unanswered_, std::nullopt));
      while (client.alive() && servers_.is_current(generation)) {
        if (servers_.wait_for_backlog_below(generation, kBacklogMax)) send(client, next());
      }
    });
  }

 private:
  void send(CrashClient& client, const Publishing& publishing) {
    const CallOutcome outcome = client.publish(publishing);
    // The limit bounds this queue's backlog, so it is not counted here.
    const bool counts = outcome == CallOutcome::ok && !publishing.may_be_full;
    if (counts) servers_.add_backlog(static_cast<int>(publishing.call.sent.size()));
    if (outcome == CallOutcome::unknown && publishing.repeatable) unanswered_ = publishing;
  }

  // The payload has white space and escapes, because the server must keep its bytes.
  PublishCall::Sent new_event() {
    const std::string title = name_ + "-" + std::to_string(++count_);
    std::string payload = R"({ "title":")" + title + R"(",  "text" : "\u00e9\n)";
    payload.append(
        static_cast<std::size_t>(random_.percent(5) ? random_.number(0, 20'000) : random_.number(0, 200)),
        'x');
    return {title, payload + "\" }"};
  }

  struct Keys {
    std::string ordering;   // empty: none
    std::string supersede;  // empty: none
  };
  Keys some_keys() {
    Keys keys;
    if (random_.percent(70)) keys.ordering = "key-" + std::to_string(random_.number(1, 8));
    if (random_.percent(25)) keys.supersede = "price-" + std::to_string(random_.number(1, 6));
    return keys;
  }

  void write(JsonWriter& json, const PublishCall::Sent& sent, bool own_id, const Keys* keys) {
    json.begin_object().key("title").string(sent.title).key("tags").string(some_tags(random_));
    json.key("payload").raw(sent.payload);
    if (random_.percent(20)) json.key("priority").integer(random_.number(-1, 1));
    if (own_id) json.key("event_id").string(sent.title);
    if (keys != nullptr) {
      json.key("queue").string(kLimitedQueue);
      if (!keys->ordering.empty()) json.key("ordering_key").string(keys->ordering);
      if (!keys->supersede.empty()) json.key("supersede_key").string(keys->supersede);
    }
    json.end_object();
  }

  Publishing next() {
    Publishing publishing;
    JsonWriter json(publishing.body);
    const bool shards = databases_ == Load::Databases::shards;
    const int form = shards ? 10 : random_.number(1, 10);  // 1-4 plain, 5-7 with an event_id, 8-10 with a key
    const bool own_id = form >= 5 && form <= 7;
    const bool limited = random_.percent(40);
    publishing.repeatable = form >= 5;
    publishing.may_be_full = limited;
    if (random_.percent(12)) {
      publishing.target = "/events/batch";
      write_batch(json, publishing, own_id, limited);
    } else {
      publishing.target = "/events";
      publishing.call.sent.push_back(new_event());
      const Keys keys = some_keys();
      write(json, publishing.call.sent.back(), own_id, limited ? &keys : nullptr);
    }
    if (form >= 8) publishing.key = "key-" + publishing.call.sent.front().title;
    return publishing;
  }

  void write_batch(JsonWriter& json, Publishing& publishing, bool own_id, bool limited) {
    json.begin_object().key("events").begin_array();
    Keys keys = some_keys();
    for (int i = random_.number(2, 6); i > 0; --i) {
      publishing.call.sent.push_back(new_event());
      if (databases_ != Load::Databases::shards) keys = some_keys();
      write(json, publishing.call.sent.back(), own_id, limited ? &keys : nullptr);
    }
    json.end_array();
    if (limited && random_.percent(50)) json.key("ordered").boolean(true);
    if (limited && random_.percent(50)) {
      publishing.call.on_complete = new_event();
      json.key("on_complete").begin_object();
      json.key("title").string(publishing.call.on_complete->title).key("tags").string(some_tags(random_));
      json.key("payload").raw(publishing.call.on_complete->payload).end_object();
    }
    json.end_object();
  }

  RandomNumbers random_;
  const std::string name_;
  RunningServers& servers_;
  History& history_;
  const Load::Databases databases_;
  int count_ = 0;
  std::optional<Publishing> unanswered_;
};

// Claims events and completes, fails or drops each at random, or reports after its lease has expired.
class Worker {
 public:
  Worker(std::uint32_t seed, int number, RunningServers& servers, History& history, Load::Databases databases)
      : random_(seed),
        worker_id_("w" + std::to_string(number) + ":1"),
        servers_(servers),
        history_(history),
        databases_(databases) {}

  void run() {
    use_each_server(servers_, history_, databases_, [&](CrashClient& client, int generation) {
      repeat_unanswered(client);
      while (client.alive() && servers_.is_current(generation)) take_next(client);
      finished_.clear();  // dropped without a report
    });
  }

 private:
  void take_next(CrashClient& client) {
    report_late(client);
    const CrashClient::Wanted wanted{.worker_id = worker_id_,
                                     .tags = some_tags(random_),
                                     .limit = random_.percent(50) ? 1 : random_.number(2, 6),
                                     .wait_seconds = random_.percent(50) ? 1 : 0,
                                     .queue = random_.percent(45) ? kLimitedQueue : ""};
    const int choice = random_.number(1, 100);
    if (!client.alive()) return;
    if (choice <= 3) {
      client.claim_and_disconnect(wanted);
    } else if (choice <= 40) {
      const std::vector<DeliveredEvent> finished = std::exchange(finished_, {});
      const std::vector<DeliveredEvent> taken = client.turn(wanted, finished);
      servers_.add_backlog(-counted(finished));
      if (!client.alive()) unanswered_ = finished;
      for (const DeliveredEvent& event : taken) finished_.push_back(event);
    } else if (choice <= 50) {
      const std::vector<DeliveredEvent> taken = client.subscribe(wanted);
      if (taken.empty() || !client.alive()) return;
      client.complete_all(taken);
      servers_.add_backlog(-counted(taken));
    } else {
      for (const DeliveredEvent& event : client.subscribe(wanted)) {
        if (client.alive()) work_on(client, event);
      }
    }
  }

  void work_on(CrashClient& client, const DeliveredEvent& event) {
    const int action = random_.number(1, 100);
    if (action <= 6) return;  // as if the worker died
    if (action <= 12) {
      late_.push_back(event);
      return;
    }
    if (action <= 25) client.report(Kind::start, event);
    if (action > 20 && action <= 35 && client.alive()) client.report(Kind::heartbeat, event);
    if (!client.alive()) return;
    if (action > 85) {
      finish(client, event, Kind::fail, false);
    } else if (action > 75) {
      complete_twice(client, event);
    } else {
      finish(client, event, Kind::complete, action > 70);
    }
  }

  void finish(CrashClient& client, const DeliveredEvent& event, Kind kind, bool with_errors) {
    const ReportCall report = client.report(kind, event, with_errors);
    if (report.ended) servers_.add_backlog(-counted({event}));
    if (!client.alive() && kind == Kind::complete) unanswered_.push_back(event);
  }

  void complete_twice(CrashClient& client, const DeliveredEvent& event) {
    std::string first;
    std::string second;
    const ReportCall report = client.report(Kind::complete, event, false, &first);
    if (report.ended) servers_.add_backlog(-counted({event}));
    if (!client.alive()) return;
    client.report(Kind::complete, event, false, &second);
    const bool answered_twice = client.alive() && report.outcome == CallOutcome::ok;
    EXPECT_TRUE(!answered_twice || first == second) << first << "\n" << second;
  }

  // Reports events kept until their leases expired; some of them have not been claimed again yet.
  void report_late(CrashClient& client) {
    while (client.alive() && !late_.empty() && millis_since(late_.front().returned) > 600ms) {
      const DeliveredEvent event = late_.front();
      late_.pop_front();
      finish(client, event, random_.percent(50) ? Kind::complete : Kind::fail, false);
    }
  }

  // Mostly repeats completions that got no answer.
  void repeat_unanswered(CrashClient& client) {
    for (const DeliveredEvent& event : std::exchange(unanswered_, {})) {
      if (client.alive() && random_.percent(80)) client.report(Kind::complete, event);
    }
  }

  RandomNumbers random_;
  const std::string worker_id_;
  RunningServers& servers_;
  History& history_;
  const Load::Databases databases_;
  std::vector<DeliveredEvent> finished_;    // reported with the next turn
  std::vector<DeliveredEvent> unanswered_;  // completed without an answer
  std::deque<DeliveredEvent> late_;
};

}  // namespace

Load::Load(std::uint32_t seed, int publishers, int workers, Databases databases) {
  for (int i = 0; i < publishers + workers; ++i) histories_.push_back(std::make_unique<History>());
  for (int i = 0; i < publishers + workers; ++i) {
    History& history = *histories_[static_cast<std::size_t>(i)];
    const std::uint32_t own_seed = seed * 1000 + static_cast<std::uint32_t>(i);
    threads_.emplace_back([this, i, publishers, own_seed, databases, &history] {
      if (i < publishers) {
        Publisher(own_seed, i + 1, servers_, history, databases).run();
      } else {
        Worker(own_seed, i + 1 - publishers, servers_, history, databases).run();
      }
    });
  }
}

Load::~Load() {
  servers_.stop_clients();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

History Load::finish() {
  servers_.stop_clients();
  for (std::thread& thread : threads_) thread.join();
  History all;
  for (const auto& history : histories_) all.append(std::move(*history));
  return all;
}

std::string summary_of(const History& history, const std::vector<Finding>& findings) {
  const auto count = [&](CallOutcome outcome) {
    return count_outcome(history.publishes, outcome) + count_outcome(history.reports, outcome);
  };
  const auto flaws = [&](Flaw flaw) {
    return std::to_string(std::count_if(findings.begin(), findings.end(),
                                        [&](const Finding& found) { return found.flaw == flaw; }));
  };
  const std::size_t operations =
      history.publishes.size() + history.reports.size() + history.deliveries.size();
  return "operations=" + std::to_string(operations) + " acknowledged=" +
         std::to_string(count(CallOutcome::ok) + static_cast<std::ptrdiff_t>(history.deliveries.size())) +
         " refused=" + std::to_string(count(CallOutcome::refused)) +
         " unknown=" + std::to_string(count(CallOutcome::unknown)) +
         " events=" + std::to_string(history.finals.size()) + " lost=" + flaws(Flaw::lost) +
         " doubled=" + flaws(Flaw::doubled) + " out_of_order=" + flaws(Flaw::out_of_order) +
         " resurrected=" + flaws(Flaw::resurrected) + " flaws=" + std::to_string(findings.size());
}

bool drain(std::uint16_t port, History& history) {
  const SteadyTime deadline = steady_now() + kDrainLimit;
  CrashClient::Wanted wanted{.worker_id = "drain:1", .tags = "a,b,c", .limit = 100, .wait_seconds = 0};
  CrashClient client(port, history);
  std::vector<DeliveredEvent> finished;
  while (client.alive() && steady_now() < deadline) {
    wanted.queue = wanted.queue.empty() ? kLimitedQueue : "";
    finished = client.turn(wanted, finished);
    wanted.wait_seconds = finished.empty() && !wanted.queue.empty() ? 1 : 0;
    if (!finished.empty()) continue;
    if (count_events(port, "PENDING") == 0 && count_events(port, "PROCESSING") == 0) return true;
  }
  return false;
}

}  // namespace eventq
