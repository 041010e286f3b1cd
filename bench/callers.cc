// callers.cc: see callers.h.
#include "callers.h"
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace eventq::bench {
namespace {

// An event with a payload of 200 bytes.
NewEvent event(const std::vector<std::string>& tags) {
  NewEvent event;
  event.title = "load";
  event.tags = tags;
  event.payload = R"({"text":")" + std::string(189, 'x') + R"("})";
  return event;
}

Command publication(std::size_t count, const std::vector<std::string>& tags) {
  Command command;
  command.publication.emplace();
  command.publication->events.resize(count, event(tags));
  return command;
}

Command poll(const std::string& worker, const std::string& tag, std::size_t limit, Millis wait = Millis(0)) {
  Command command;
  command.claim = ClaimRequest{{"main", {tag}}, worker, limit, wait};
  return command;
}

Lease lease_of(const Event& event) { return {event.id, event.worker_id, event.attempts}; }

// Ends the process if the engine refused anything.
void check(const Answer& answer) {
  if (answer.error) fail(answer.error->message);
  if (answer.published && !*answer.published) fail(answer.published->error().message);
  for (const auto& changed : answer.changed) {
    if (!changed) fail(changed.error().message);
  }
}

Answer call(Engine& engine, Command command) {
  Answer answer = engine.call(std::move(command));
  check(answer);
  return answer;
}

// Answers that have arrived and were not taken yet.
//
// Threads: deliver() on the threads of the engine, take() on one.
class Inbox final : public AnswerSink {
 public:
  void deliver(std::vector<Envelope<Answer>> answers) override {
    const std::scoped_lock lock(mutex_);
    for (Envelope<Answer>& answer : answers) arrived_.push_back(std::move(answer));
    changed_.notify_one();
  }

  std::vector<Envelope<Answer>> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !arrived_.empty(); });
    return std::exchange(arrived_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Envelope<Answer>> arrived_;
};

class Caller {
 public:
  Caller(int number, int take) : worker_("bench:" + std::to_string(number)), take_(take) {}

  Command next(Answer answer) {
    check(answer);
    for (const Claim& claim : answer.claims) held_.push_back(lease_of(claim.event));
    if (published_++ < take_) return publication(1, {"load", "second"});
    published_ = 0;
    Command report_and_claim =
        poll(worker_, "load", static_cast<std::size_t>(take_), std::chrono::seconds(1));
    for (const Lease& lease : held_)
      report_and_claim.changes.push_back({lease, Complete{Outcome{200, 1, {}}}});
    held_.clear();
    return report_and_claim;
  }

 private:
  const std::string worker_;
  const int take_;
  int published_ = 0;  // since the last claim
  std::vector<Lease> held_;
};

}  // namespace

Cycles run_callers(Engine& engine, CallerLoad load, double warm_up, double seconds,
                   const std::function<Used()>& used) {
  Inbox inbox;
  std::vector<Caller> all;
  for (int i = 0; i < load.callers; ++i) all.emplace_back(i, load.take);
  for (std::size_t i = 0; i < all.size(); ++i) engine.submit(all[i].next({}), inbox, i);

  Cycles cycles;
  Used before;
  std::size_t unanswered = all.size();
  bool measured = false;
  auto start = Watch::now();
  while (unanswered > 0) {
    for (Envelope<Answer>& answer : inbox.take()) {
      if (!measured && seconds_since(start) >= warm_up) {
        measured = true;
        before = used();
        start = Watch::now();
      }
      if (measured && cycles.seconds == 0) {
        cycles.completed += static_cast<std::int64_t>(answer.content.changed.size());
        if (seconds_since(start) >= seconds) {
          cycles.seconds = seconds_since(start);
          const Used now = used();
          cycles.used = {now.cpu - before.cpu, now.database_cpu - before.database_cpu,
                         now.log_bytes - before.log_bytes};
        }
      }
      Command next = all[answer.reply_to.token].next(std::move(answer.content));
      if (cycles.seconds > 0) {
        --unanswered;
      } else {
        engine.submit(std::move(next), inbox, answer.reply_to.token);
      }
    }
  }
  return cycles;
}

void publish(Engine& engine, int count, const std::vector<std::string>& tags) {
  for (int done = 0; done < count; done += 1000) {
    call(engine, publication(static_cast<std::size_t>(std::min(1000, count - done)), tags));
  }
}

void postpone(Engine& engine, int count, const std::string& tag) {
  for (int done = 0; done < count;) {
    const Answer taken = call(engine, poll("bench:1", tag, 1000));
    if (taken.claims.empty()) fail("no event to postpone");
    Command reports;
    for (const Claim& claim : taken.claims) {
      reports.changes.push_back({lease_of(claim.event), Fail{Failure{500, 1, "later", false}}});
    }
    call(engine, std::move(reports));
    done += static_cast<int>(taken.claims.size());
  }
}

double poll_microseconds(Engine& engine, const std::string& tag, int polls) {
  std::vector<double> times;
  for (int i = 0; i < polls; ++i) {
    const auto start = Watch::now();
    const Answer answer = call(engine, poll("bench:1", tag, 1));
    times.push_back(seconds_since(start) * 1e6);
    if (answer.claims.size() != 1) fail("a poll found no event");
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace eventq::bench
