// embedded.cc: publishes an event and handles it with a worker, in one program.
#include <eventq/queue.h>
#include <eventq/worker.h>

#include <chrono>
#include <iostream>

int main() {
  const auto queue = eventq::Queue::open("memory:");
  if (!queue) return 1;
  eventq::Worker worker(**queue, {.threads = 1});
  worker.on_tag("email", [](const eventq::Event& event, const std::stop_token&) {
    std::cout << "handled " << event.payload << "\n";
    return eventq::Handled::done();
  });
  if (!worker.start()) return 2;
  const auto event = (*queue)->publish({.title = "Hello", .tags = {"email"}, .payload = R"({"to":"a@b"})"});
  if (!event) return 3;
  const auto ended = (*queue)->wait(event->id, std::chrono::seconds(20));
  if (!ended || ended->status != eventq::Status::completed) return 4;
  std::cout << "completed\n";
}
