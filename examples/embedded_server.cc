// embedded_server.cc: a queue, its worker and its server in one program. SIGTERM stops it.
//
// Publish with curl or `eventq publish`; open the printed address in a browser for the dashboard.
#include <csignal>
#include <iostream>

#include "eventq/queue.h"
#include "eventq/serve.h"
#include "eventq/worker.h"

eventq::Handled send_mail(const eventq::Event& event, const std::stop_token&) {
  std::cout << "mail " + event.payload + "\n" << std::flush;
  return eventq::Handled::done();
}

int main(int argc, char** argv) {
  sigset_t ends;  // blocked before any thread starts, so that sigwait() gets it
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const auto queue = eventq::Queue::open("sqlite:events.db");
  if (!queue) return 1;
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::stoi(argv[1]) : 8080);
  const auto server = eventq::serve(**queue, {.port = port});
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  eventq::Worker worker(**queue);
  worker.on_tag("email", send_mail);
  if (!worker.start()) return 1;
  std::cerr << "serving " + (*server)->url() + "\n";
  int signal = 0;
  return sigwait(&ends, &signal) == 0 && worker.stop() ? 0 : 1;
}
