// http_worker.cc: a worker that gets its events from a server. Handles the tag "email" until SIGTERM or
// Ctrl-C.
//
//   http_worker [URL]     EVENTQ_URL, or http://127.0.0.1:8080, by default
//
// A queue in this process would use the same handler: only the line that opens the queue differs.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <string>

#include "eventq/client.h"
#include "eventq/worker.h"

namespace {

// The payload is JSON. A real program parses it with its JSON library; this example has none.
eventq::Handled send_mail(const eventq::Event& event, const std::stop_token&) {
  static const std::regex to(R"re("to"\s*:\s*"([^"\\]+)")re");
  std::smatch found;
  if (!std::regex_search(event.payload, found, to)) {
    return eventq::Handled::fail("The payload has no address in \"to\".");  // a retry cannot succeed
  }
  std::cout << "mail to " + found[1].str() + "\n" << std::flush;
  return eventq::Handled::done();
}

std::string url_of(int argc, char** argv) {
  if (argc > 1) return argv[1];
  const char* const url = std::getenv("EVENTQ_URL");
  return url != nullptr ? url : "http://127.0.0.1:8080";
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t ends;  // blocked before any thread starts, so that sigwait() gets these signals
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const auto queue = eventq::Client::connect(url_of(argc, argv));
  if (!queue) {
    std::cerr << queue.error().message << "\n";
    return 1;
  }
  eventq::Worker worker(**queue);
  worker.on_tag("email", send_mail);
  if (const auto started = worker.start(); !started) {
    std::cerr << "start: " << started.error().message << "\n";
    return 1;
  }
  int signal = 0;
  sigwait(&ends, &signal);
  return worker.stop() ? 0 : 1;  // waits for running handlers and releases the other events
}
