// client.h: the calls of a client under test; each is recorded in its history with its outcome.
//
// Threads: belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "support/history.h"
#include "support/http_client.h"

namespace eventq {

// A publish request, kept so that it can be sent again.
struct Publishing {
  PublishCall call;    // titles and payloads
  std::string target;  // "/events" or "/events/batch"
  std::string body;
  std::string key;           // Idempotency-Key; may be empty
  bool repeatable = false;   // safe to send again, because of its key or its event_id
  bool may_be_full = false;  // the queue has a limit
};

class CrashClient {
 public:
  // Whether the server may answer 503 because its database is down.
  enum class Outages : std::uint8_t { never, expected };
  CrashClient(std::uint16_t port, History& history, Outages outages = Outages::never);

  // False when the connection broke or the server has no database: the caller should use another server.
  [[nodiscard]] bool alive() const { return alive_; }

  CallOutcome publish(const Publishing& publishing);

  struct Wanted {
    std::string worker_id;
    std::string tags;
    int limit = 1;
    int wait_seconds = 0;
    std::string queue = {};  // empty: main
  };
  std::vector<DeliveredEvent> subscribe(const Wanted& wanted);
  // Completes the finished events and claims more in one call.
  std::vector<DeliveredEvent> turn(const Wanted& wanted, const std::vector<DeliveredEvent>& finished);
  // Sends a claim and closes the connection without reading the answer.
  void claim_and_disconnect(const Wanted& wanted);

  // Sets *body to the bytes of the answer when it is not null.
  ReportCall report(ReportCall::Kind kind, const DeliveredEvent& event, bool with_errors = false,
                    std::string* body = nullptr);
  // Completes events of one worker in one call.
  void complete_all(const std::vector<DeliveredEvent>& events);

 private:
  std::optional<HttpResponse> call(std::string_view method, std::string_view target,
                                   std::string_view body = {}, const HttpHeaders& headers = {});
  std::vector<DeliveredEvent> read_deliveries(const std::vector<JsonValue>& events,
                                              const std::string& worker_id);
  void read_results(const std::optional<JsonValue>& results, const std::vector<DeliveredEvent>& reported,
                    SteadyTime invoked);

  HttpClient http_;
  History& history_;
  const Outages outages_;
  JsonParser parser_;
  bool alive_ = true;
  CallOutcome unanswered_outcome_ = CallOutcome::unknown;  // the outcome of a call that got no usable answer
  SteadyTime invoked_;                                     // of the last call
  SteadyTime returned_;
};

// Every event with its log. Nothing when the server does not answer.
std::optional<std::vector<FinalEvent>> read_everything(std::uint16_t port);

// Gives a queue these settings. False when the server refuses them.
bool configure(std::uint16_t port, const std::string& queue, const std::string& config);

// A number in the document at `target`; -1 when the server does not answer with it.
std::int64_t number_at(std::uint16_t port, const std::string& target, const std::string& name);

// The number of events with this status; -1 when the server does not answer.
std::int64_t count_events(std::uint16_t port, std::string_view status);

}  // namespace eventq
