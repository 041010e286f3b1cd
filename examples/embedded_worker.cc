// embedded_worker.cc: publish and work on events inside one program, without a server.
//
//   embedded_worker [PATH]     the queue lives in the SQLite file PATH, events.db by default
//
// Run it, kill it, run it again: whatever was published and not finished is still there.
#include <iostream>
#include <string>

#include "eventq/queue.h"

namespace {

std::string name_of(const eventq::Event& event) {
  return "event " + std::to_string(static_cast<std::int64_t>(event.id)) + " (" + event.title + ")";
}

// The work itself: returns what went wrong, or nothing. A handler may see an event again when its
// worker died half-way, so whatever it does must be safe to do twice.
std::string handle(const eventq::Event& event) {
  const bool first_attempt = event.attempts == 1;
  if (event.title == "Charge card" && first_attempt) return "the bank does not answer";
  return "";
}

// Takes one event and reports what became of it. False when there is nothing to do.
bool work_once(eventq::Queue& queue) {
  const auto claim = queue.poll({.tags = {"email", "payment"}});  // Result<std::optional<Claim>>
  if (!claim) {
    std::cerr << "poll: " << claim.error().message << "\n";
    return false;
  }
  if (!*claim) return false;

  const eventq::Event& event = (*claim)->event;
  const std::string problem = handle(event);

  // The lease proves that the event is still ours: were we so late that another worker
  // had taken it over, the report would be refused and nothing changed.
  const eventq::Lease lease{event.id, event.worker_id, event.attempts};
  const auto entry = problem.empty() ? queue.complete(lease) : queue.fail(lease, {.message = problem});
  if (!entry) {
    std::cerr << "report: " << entry.error().message << "\n";
  } else if (problem.empty()) {
    std::cout << "completed " << name_of(event) << " at attempt " << event.attempts << "\n";
  } else {
    std::cout << "failed " << name_of(event) << ": " << problem
              << (entry->next_retry_at ? "; it will be tried again" : "; it was the last try") << "\n";
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "events.db";

  eventq::Options options;
  options.retry.base = eventq::Millis(0);  // at once, to see it happen; 5 minutes if not set
  const auto queue = eventq::Queue::open("sqlite:" + path, options);
  if (!queue) {
    std::cerr << queue.error().message << "\n";
    return 1;
  }

  const eventq::NewEvent orders[] = {
      {.title = "Send welcome mail", .tags = {"email"}, .payload = R"({"to":"alice@example.com"})"},
      {.title = "Charge card", .tags = {"payment"}, .payload = R"({"cents":1999})"},
      {.title = "Send receipt", .tags = {"email", "payment"}, .payload = R"({"to":"alice@example.com"})"},
  };
  for (const eventq::NewEvent& order : orders) {
    const auto event = (*queue)->publish(order);  // once this returns, the event survives a crash
    if (!event) {
      std::cerr << "publish: " << event.error().message << "\n";
      return 1;
    }
    std::cout << "published " << name_of(*event) << "\n";
  }

  while (work_once(**queue)) {
  }
  std::cout << "nothing left to do\n";
}
