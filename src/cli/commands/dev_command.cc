// dev_command.cc: `eventq dev`: a server with a store in this folder, and a demo worker.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "cli/commands/serve_request.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "eventq/client.h"

namespace eventq::cli {
namespace {

constexpr std::string_view kDemo = "eventq-dev";  // the worker_id of the demo worker
constexpr Millis kPollInterval{100};              // between two checks for events and other workers
constexpr std::chrono::seconds kGone{30};         // after its last call a worker counts as gone
constexpr std::size_t kAtOnce = 100;

// Completes every event of queue main while no other worker is active.
class DemoWorker {
 public:
  explicit DemoWorker(const std::string& url) {
    const auto address = client::parse_url(url);
    auto queue = Client::connect(url, {.worker_id = std::string(kDemo), .tries = 1});
    // Then there is no demo worker, but the server runs.
    if (!address || !queue) return;
    server_ = std::make_unique<client::HttpClient>(*address);
    queue_ = std::move(*queue);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

 private:
  // Never waits in the server, so that a new event goes to another worker that waits.
  void work(const std::stop_token& stop) {
    std::vector<Report> reports;
    while (!stop.stop_requested()) {
      const std::size_t limit = other_workers_exist() ? 0 : kAtOnce;
      const auto answer = queue_->next(
          {.worker_id = std::string(kDemo), .reports = std::exchange(reports, {}), .limit = limit});
      const auto claims = answer ? answer->claims : std::vector<Claim>();
      for (const Claim& claim : claims) {
        reports.push_back({claim.event.id, claim.event.attempts, Outcome{}});
      }
      if (reports.empty()) pause(stop);
    }
  }

  // True if another worker called within kGone. Also true if the server does not answer: then claim nothing.
  bool other_workers_exist() {
    const auto answer = server_->call({.target = "/workers"});
    if (!answer || answer->status != 200) return true;
    const AnswerJson body(answer->body);
    if (!body) return true;
    const auto workers = elements_at(*body, "workers");
    return std::any_of(workers.begin(), workers.end(), [](const JsonValue& worker) {
      const auto seen = parse_iso_time(text_at(worker, "last_seen").value_or(""));
      return text_at(worker, "worker_id") != kDemo && seen && system_clock().now() - *seen < kGone;
    });
  }

  void pause(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, kPollInterval, [] { return false; });
  }

  std::unique_ptr<client::HttpClient> server_;
  std::unique_ptr<Client> queue_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last, because the thread uses the other members
};

void welcome(std::ostream& out, const std::string& url) {
  const bool usual = url == "http://127.0.0.1:8080";
  const std::string where = usual ? "" : " --url " + url;
  out << "eventq " << EVENTQ_VERSION << " is ready. Data in ./eventq.db (SQLite, kept). Stop with Ctrl-C.\n"
      << "  Dashboard  " << url << "/     API  " << url << "/events     Docs  " << url << "/openapi.json\n"
      << "  Try:  eventq publish email '{\"to\":\"a@b\"}' --wait" << where << "\n"
      << "        eventq work email --exec cat" << where << "\n"
      << "Until you start a worker, a demo worker completes every event of queue main.\n"
      << std::flush;
}

ExitCode run_dev(Invocation& invocation) {
  std::unique_ptr<DemoWorker> demo;
  server::ServeRequest request;
  request.flags.values["store"] = "sqlite:eventq.db";
  if (const auto listen = invocation.arguments.text("--listen")) request.flags.values["listen"] = *listen;
  request.on_listening = [&](const std::string& url) {
    demo = std::make_unique<DemoWorker>(url);
    welcome(invocation.out, url);
  };
  request.on_stopping = [&] { demo.reset(); };
  return run_server(invocation, request);
}

}  // namespace

CommandSpec dev_command() {
  return {
      .name = "dev",
      .summary = "Run a server to try eventq out, with a demo worker",
      .details =
          "Runs a server with the store eventq.db in this folder, and keeps that file. A demo "
          "worker completes every event of queue main, whatever its tags, without processing it. "
          "It checks ten times a second (GET /workers) whether another worker called within the "
          "last 30 s, and if so claims nothing.\n\n"
          "Everything else is as with `eventq serve`, whose configuration file and variables this "
          "command reads.",
      .options = {{"--listen", "HOST:PORT", "Where to listen", "127.0.0.1:8080"}},
      .examples = {{"eventq dev",
                    "Then, in another terminal: eventq publish email '{\"to\":\"a@b\"}' --wait"}},
      .run = run_dev,
      .server_use = ServerUse::none,
  };
}

}  // namespace eventq::cli
