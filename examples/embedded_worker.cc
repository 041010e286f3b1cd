// embedded_worker.cc: publish and work on events inside one program, without a server.
//
//   embedded_worker [PATH]     the queue lives in the SQLite file PATH, events.db by default
//
// Run it, kill it, run it again: whatever was published and not finished is still there.
#include <iostream>
#include <string>
#include <vector>

#include "eventq/queue.h"
#include "eventq/worker.h"

namespace {

using eventq::Event;
using eventq::Handled;

std::string name_of(const Event& event) {
  return "event " + std::to_string(static_cast<std::int64_t>(event.id)) + " (" + event.title + ")";
}

// The work itself. A handler may see an event again when its worker died half-way, so whatever it does must
// be safe to do twice. One that runs for long looks at the token: when it fires, the event is another's.
Handled send_mail(const Event& event, const std::stop_token&) {
  std::cout << "mailed for " << name_of(event) << "\n";
  return Handled::done();
}

Handled charge(const Event& event, const std::stop_token&) {
  if (event.attempts == 1) {
    std::cout << "could not charge for " << name_of(event) << "\n";
    return Handled::retry("the bank does not answer");
  }
  std::cout << "charged for " << name_of(event) << " at attempt " << event.attempts << "\n";
  return Handled::done();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "events.db";

  eventq::Options options;
  options.retry.base = eventq::Millis(0);  // at once, to see it happen; 5 minutes if not set
  // "http://127.0.0.1:8080" here, and the same worker runs beside a server.
  const auto queue = eventq::Queue::open("sqlite:" + path, options);
  if (!queue) {
    std::cerr << queue.error().message << "\n";
    return 1;
  }

  const eventq::NewEvent orders[] = {
      {.title = "Welcome", .tags = {"email"}, .payload = R"({"to":"alice@example.com"})"},
      {.title = "Order", .tags = {"payment"}, .payload = R"({"cents":1999})"},
      {.title = "Receipt", .tags = {"email"}, .payload = R"({"to":"alice@example.com"})"},
  };
  std::vector<eventq::EventId> published;
  for (const eventq::NewEvent& order : orders) {
    const auto event = (*queue)->publish(order);  // once this returns, the event survives a crash
    if (!event) {
      std::cerr << "publish: " << event.error().message << "\n";
      return 1;
    }
    published.push_back(event->id);
    std::cout << "published " << name_of(*event) << "\n";
  }

  // One thread, so that the output has one order; 4 if not set.
  eventq::Worker worker(**queue, {.threads = 1, .prefetch = 0});
  worker.on_tag("email", send_mail).on_tag("payment", charge);
  if (const auto started = worker.start(); !started) {
    std::cerr << "start: " << started.error().message << "\n";
    return 1;
  }
  for (const eventq::EventId id : published) (void)(*queue)->wait(id, std::chrono::seconds(30));
  worker.stop();

  const eventq::Worker::Stats stats = worker.stats();
  std::cout << stats.completed << " completed, " << stats.failed << " failed and tried again\n";
}
