// typed_worker.cc: a worker of a server, whose handler gets a SendMail instead of JSON. SIGTERM stops it.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "eventq/client.h"
#include "eventq/worker.h"

struct SendMail {
  std::string to;
};

// A real program uses its JSON library here. An error ends the event as failed, without a retry.
eventq::Result<SendMail> parse_mail(const eventq::Event& event) {
  static const std::regex to(R"re("to"\s*:\s*"([^"\\]+)")re");
  std::smatch found;
  if (std::regex_search(event.payload, found, to)) return SendMail{found[1].str()};
  return eventq::Error{eventq::ErrorCode::invalid_argument, "There is no address in \"to\".", "payload"};
}

eventq::Handled send_mail(const SendMail& mail) {
  std::cout << "mail to " + mail.to + "\n" << std::flush;
  return eventq::Handled::done();
}

int main() {
  sigset_t ends;  // blocked before any thread starts, so that sigwait() gets it
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const char* const url = std::getenv("EVENTQ_URL");
  const auto queue = eventq::Client::connect(url != nullptr ? url : "http://127.0.0.1:8080");
  if (!queue) return 1;
  eventq::Worker worker(**queue);
  worker.on<SendMail>("email", parse_mail, send_mail);
  if (!worker.start()) return 1;
  int signal = 0;
  return sigwait(&ends, &signal) == 0 && worker.stop() ? 0 : 1;
}
