// in_process.cc: see in_process.h.
#include "in_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/uuid.h"
#include "core/core.h"
#include "measure.h"
#include "store/sqlite/sqlite_store.h"

namespace eventq::bench {
namespace {

// A core on a fresh file, driven without threads.
class Bench {
 public:
  explicit Bench(const std::string& path)
      : store_(open(path)), core_(*store_, CoreOptions{.policy = kPolicy}, Uuid7Source(1)) {}

  std::vector<Answer> run(std::vector<Command> commands) {
    std::vector<Envelope<Command>> requests;
    for (Command& command : commands) requests.push_back({{}, std::move(command)});
    std::vector<Answer> answers;
    for (Envelope<Answer>& addressed : core_.run(std::move(requests))) {
      if (addressed.content.error) fail(addressed.content.error->message);
      answers.push_back(std::move(addressed.content));
    }
    if (auto done = store_->tidy(); !done) fail(done.error().message);
    return answers;
  }

  // Publishes `count` events with these tags, 1000 per commit.
  void publish(int count, const std::vector<std::string>& tags) {
    for (int done = 0; done < count; done += 1000) {
      Command command;
      command.publication.emplace();
      command.publication->events.resize(static_cast<std::size_t>(std::min(1000, count - done)), event(tags));
      run(one(std::move(command)));
    }
  }

  static NewEvent event(const std::vector<std::string>& tags) {
    NewEvent event;
    event.title = "load";
    event.tags = tags;
    event.payload = R"({"text":")" + std::string(188, 'x') + R"("})";
    return event;
  }

  static Command poll(std::size_t limit, const std::string& tag) {
    Command command;
    command.claim = ClaimRequest{{"main", {tag}}, "bench:1", limit, Millis(0)};
    return command;
  }

  static std::vector<Command> one(Command command) {
    std::vector<Command> commands;
    commands.push_back(std::move(command));
    return commands;
  }

 private:
  static constexpr Policy kPolicy{
      {RetryPolicy::Kind::fixed, std::chrono::hours(1), std::chrono::hours(1)}, std::chrono::hours(1), 3, 20};

  static std::unique_ptr<Store> open(const std::string& path) {
    auto store = sqlite::open_store(path, system_clock());
    if (!store) fail(store.error().message);
    return std::move(*store);
  }

  std::unique_ptr<Store> store_;
  Core core_;
};

Change complete(const Event& event) {
  return {Lease{event.id, event.worker_id, event.attempts}, Complete{Outcome{200, 1, {}}}};
}

}  // namespace

double syncs_per_second(const std::string& folder, double seconds) {
  const std::string path = folder + "/sync";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) fail("cannot write to " + folder);
  const std::vector<char> block(4096, 'x');
  int syncs = 0;
  const auto start = Watch::now();
  while (seconds_since(start) < seconds) {
    if (write(file, block.data(), block.size()) < 0 || fdatasync(file) != 0) fail("cannot sync " + path);
    ++syncs;
  }
  const double rate = syncs / seconds_since(start);
  close(file);
  unlink(path.c_str());
  return rate;
}

double cycles_per_second(const std::string& folder, int batch, double seconds) {
  Bench bench(folder + "/cycles" + std::to_string(batch) + ".db");
  std::int64_t cycles = 0;
  const auto start = Watch::now();
  while (seconds_since(start) < seconds) {
    bench.publish(batch, {"load", "second"});
    auto taken = bench.run(Bench::one(Bench::poll(static_cast<std::size_t>(batch), "load")));
    Command reports;
    for (const Claim& claim : taken.front().claims) reports.changes.push_back(complete(claim.event));
    cycles += static_cast<std::int64_t>(reports.changes.size());
    bench.run(Bench::one(std::move(reports)));
  }
  return static_cast<double>(cycles) / seconds_since(start);
}

double poll_microseconds(const std::string& folder, int pending) {
  constexpr int kPolls = 500;
  constexpr int kRounds = 9;
  Bench bench(folder + "/poll" + std::to_string(pending) + ".db");
  bench.publish(pending / 10, {"mine", "retry"});
  for (int done = 0; done < pending / 10; done += 1000) {
    auto taken = bench.run(Bench::one(Bench::poll(1000, "mine")));
    Command reports;
    for (const Claim& claim : taken.front().claims) {
      reports.changes.push_back({Lease{claim.event.id, claim.event.worker_id, claim.event.attempts},
                                 Fail{Failure{500, 1, "later", false}}});
    }
    bench.run(Bench::one(std::move(reports)));
  }
  bench.publish(pending - pending / 10, {"other", "second"});

  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    bench.publish(kPolls, {"mine", "second"});
    std::vector<Command> polls;
    for (int i = 0; i < kPolls; ++i) polls.push_back(Bench::poll(1, "mine"));
    const auto start = Watch::now();
    const auto answers = bench.run(std::move(polls));
    rounds.push_back(seconds_since(start) * 1e6 / kPolls);
    for (const Answer& answer : answers) {
      if (answer.claims.size() != 1) fail("a poll found no event");
    }
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

}  // namespace eventq::bench
