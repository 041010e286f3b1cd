// client.h: the calls that a client under test makes, each kept in its history with what came of it.
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

// What a publisher sends, so that it can be sent again.
struct Publishing {
  PublishCall call;    // titles and payloads
  std::string target;  // "/events" or "/events/batch"
  std::string body;
  std::string key;           // Idempotency-Key; may be empty
  bool repeatable = false;   // by its key or its event_id
  bool may_be_full = false;  // its queue takes only so many
};

class CrashClient {
 public:
  // Whether the server may have lost its database, and say so (503).
  enum class Outages : std::uint8_t { never, expected };
  CrashClient(std::uint16_t port, History& history, Outages outages = Outages::never);

  // False when the connection broke, or the server has no database: another one should be asked.
  [[nodiscard]] bool alive() const { return alive_; }

  Heard publish(const Publishing& publishing);

  struct Wanted {
    std::string worker_id;
    std::string tags;
    int limit = 1;
    int wait_seconds = 0;
    std::string queue = {};  // empty: main
  };
  std::vector<DeliveredEvent> subscribe(const Wanted& wanted);
  // Reports on what was finished, and takes more. All of the reports are completions.
  std::vector<DeliveredEvent> turn(const Wanted& wanted, const std::vector<DeliveredEvent>& finished);
  // Asks, and hangs up without reading the answer.
  void ask_and_leave(const Wanted& wanted);

  // Sets *body to the bytes of the answer when it is not null.
  ReportCall report(ReportCall::Kind kind, const DeliveredEvent& event, bool with_errors = false,
                    std::string* body = nullptr);
  // Completions of one worker in one call.
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
  Heard silence_ = Heard::unknown;  // what it means that the last call got no answer of its own
  SteadyTime invoked_;              // of the last call
  SteadyTime returned_;
};

// Every event there is, with its log. Nothing when the server could not be asked.
std::optional<std::vector<FinalEvent>> read_everything(std::uint16_t port);

// Gives a queue these settings. False when the server did not take them.
bool configure(std::uint16_t port, const std::string& queue, const std::string& config);

// A member of the document at `target`; -1 when the server does not give it.
std::int64_t number_at(std::uint16_t port, const std::string& target, const std::string& name);

// How many events have this status; -1 when the server could not be asked.
std::int64_t count_events(std::uint16_t port, std::string_view status);

}  // namespace eventq
