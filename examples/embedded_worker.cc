// embedded_worker.cc: publish and work on events inside one program, without a server.
//
//   embedded_worker [PATH]     the queue is the SQLite file PATH, events.db by default
//
// Run it, kill it, run it again: events that were published and not finished are still in the file.
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

// The work itself. A handler may get an event a second time, because the worker died before its report. So
// the work must be safe to repeat. A long handler checks the stop token, which is set when the lease is lost.
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
  options.retry.base =
      eventq::Millis(0);  // retry at once, so that this program shows it; the default is 5 minutes
  // With "http://127.0.0.1:8080" instead, the same worker takes its events from a server.
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
    const auto event = (*queue)->publish(order);  // when this returns, the event is on disk
    if (!event) {
      std::cerr << "publish: " << event.error().message << "\n";
      return 1;
    }
    published.push_back(event->id);
    std::cout << "published " << name_of(*event) << "\n";
  }

  // One thread, so that the order of the output is fixed; the default is 4.
  eventq::Worker worker(**queue, {.threads = 1, .prefetch = 0});
  worker.on_tag("email", send_mail).on_tag("payment", charge);
  if (const auto started = worker.start(); !started) {
    std::cerr << "start: " << started.error().message << "\n";
    return 1;
  }
  for (const eventq::EventId id : published) (void)(*queue)->wait(id, std::chrono::seconds(30));
  worker.stop();

  const eventq::Worker::Stats stats = worker.stats();
  std::cout << stats.completed << " completed, " << stats.failed << " failed and retried\n";
}
