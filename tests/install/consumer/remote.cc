// remote.cc: publishes an event to a server, claims it and completes it.
#include <eventq/client.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto client = eventq::Client::connect(argc > 1 ? argv[1] : "http://127.0.0.1:8080");
  if (!client) return 1;
  const auto event = (*client)->publish({.title = "Hello", .tags = {"email"}, .payload = R"({"to":"a@b"})"});
  if (!event) {
    std::cerr << event.error().message << "\n";
    return 2;
  }
  const auto claim = (*client)->poll({.tags = {"email"}});
  if (!claim || !*claim) return 3;
  const eventq::Event& taken = (*claim)->event;
  if (!(*client)->complete({taken.id, taken.worker_id, taken.attempts})) return 4;
  std::cout << "completed " << taken.payload << "\n";
}
