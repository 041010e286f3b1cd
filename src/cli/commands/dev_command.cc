// dev_command.cc: `eventq dev`: a server with a store in this folder, and a demo worker.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands/serve_request.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "eventq/client.h"
#include "eventq/limits.h"
#include "model/tags.h"
#include "model/why.h"

namespace eventq::cli {
namespace {

constexpr Millis kPollInterval{100};  // between two checks for events and other workers
constexpr std::size_t kAtOnce = 100;

// What other active workers ask for in queue main.
struct AskedByOthers {
  bool everything = false;
  std::vector<std::string> tags = {};
};

// Completes the events of queue main that no other active worker asks for.
class DemoWorker {
 public:
  explicit DemoWorker(const std::string& url) {
    const auto address = client::parse_url(url);
    auto queue = Client::connect(url, {.worker_id = std::string(kDemoWorker), .tries = 1});
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
      const AskedByOthers others = asked_by_others();
      const auto answer = queue_->next({.worker_id = std::string(kDemoWorker),
                                        .reports = std::exchange(reports, {}),
                                        .limit = kAtOnce,
                                        .tags = tags_to_take(others)});
      const auto claims = answer ? answer->claims : std::vector<Claim>();
      for (const Claim& claim : claims) reports.push_back(report_on(claim, others));
      if (reports.empty()) pause(stop);
    }
    (void)queue_->sign_off();  // the server is about to stop; nothing depends on it
  }

  // A claim asks for tags, so it may also get an event that has a tag of another worker. That event goes
  // back.
  static Report report_on(const Claim& claim, const AskedByOthers& others) {
    const bool theirs = !others.tags.empty() && has_any(claim.event.tags, others.tags);
    if (!theirs) return {claim.event.id, claim.event.attempts, Outcome{}};
    return {claim.event.id, claim.event.attempts, Return{.reason = "Another worker asks for its tags."}};
  }

  // If the server does not answer, everything counts as asked for: then claim nothing.
  AskedByOthers asked_by_others() {
    const auto answer = server_->call({.target = "/workers"});
    if (!answer || answer->status != 200) return {.everything = true};
    const AnswerJson body(answer->body);
    if (!body) return {.everything = true};
    AskedByOthers others;
    for (const JsonValue& worker : elements_at(*body, "workers")) {
      if (text_at(worker, "worker_id") == kDemoWorker) continue;
      for (const JsonValue& ask : elements_at(worker, "asks")) {
        if (text_at(ask, "queue") != "main") continue;
        const auto tags = split_tags(text_at(ask, "tags").value_or(""));
        others.everything = others.everything || tags.empty();
        others.tags.insert(others.tags.end(), tags.begin(), tags.end());
      }
    }
    return others;
  }

  // The tags of waiting events that no other worker asks for; empty: all. A tag of its own if there is no
  // such event, so that the demo worker asks for something and stays in the list of workers.
  std::vector<std::string> tags_to_take(const AskedByOthers& others) {
    if (!others.everything && others.tags.empty()) return {};
    std::vector<std::string> none = {std::string(kDemoWorker)};
    if (others.everything) return none;
    const auto answer = server_->call({.target = "/events?queue=main&status=PENDING&limit=1000"});
    if (!answer || answer->status != 200) return none;
    const AnswerJson body(answer->body);
    if (!body) return none;
    std::set<std::string> free;
    for (const JsonValue& event : elements_at(*body, "events")) {
      const auto tags = split_tags(text_at(event, "tags").value_or(""));
      if (has_any(tags, others.tags) || free.size() + tags.size() > limits::kTags) continue;
      free.insert(tags.begin(), tags.end());
    }
    return free.empty() ? none : std::vector<std::string>(free.begin(), free.end());
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
      << "A demo worker completes the events of queue main that no worker of yours asks for.\n"
      << "A failed event runs again after 1 s, then after 2 s, 4 s and so on.\n"
      << std::flush;
}

ExitCode run_dev(Invocation& invocation) {
  std::unique_ptr<DemoWorker> demo;
  server::ServeRequest request;
  request.flags.values["store"] = "sqlite:eventq.db";
  // Short, because a person waits for the retry and watches it.
  request.flags.defaults = {{"retry_delay", "1s"}, {"retry_kind", "exponential"}, {"retry_delay_cap", "30s"}};
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
          "worker completes events of queue main without processing them. It leaves an event alone while "
          "another active worker asks for one of its tags, or for all events of the queue, and returns when "
          "that worker stops. It checks ten times a second (GET /workers). `eventq why` says when the demo "
          "worker is the reason.\n\n"
          "A failed event runs again after 1 s, then after 2 s, 4 s and so on, at most 30 s, so that a retry "
          "can "
          "be watched. `eventq serve` waits 5 minutes. Other settings of a queue, of the file or of a "
          "variable win.\n\n"
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
