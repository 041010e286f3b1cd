// handlers_overview.cc: GET /overview, which answers in one call what `eventq top` and the dashboard show.
//
// It runs the commands of other routes one after the other and joins their documents, so that each part is
// spelled as on its own route. All parts are counters in memory or bounded reads.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_writer.h"
#include "base/steady.h"
#include "http/api/handlers.h"
#include "http/api/render.h"
#include "wire/answer_json.h"
#include "wire/observe_json.h"

namespace eventq::http {
namespace {

struct OverviewPart {
  EngineWork work;
  std::string_view member;  // of the overview; empty: the members of the document become its members
};

struct OverviewBuilder {
  std::string body;  // the overview so far, without its closing brace
  std::vector<OverviewPart> parts;
  std::size_t next = 0;
  std::set<int> missing;  // shards that did not answer for one of the parts

  void add(const OverviewPart& part, const std::string& document) {
    body += ',';
    if (part.member.empty()) {
      body.append(document, 1, document.size() - 2);  // without its braces
    } else {
      body += '"';
      body += part.member;
      body += "\":" + document;
    }
  }
};

// Runs the next part, or answers with the whole.
HandlerResult proceed(const std::shared_ptr<OverviewBuilder>& overview) {
  if (overview->next == overview->parts.size()) {
    Response response;
    response.body = std::move(overview->body) + "}";
    const std::vector<int> missing(overview->missing.begin(), overview->missing.end());
    if (!missing.empty()) wire::mark_partial(response.body, missing);
    return response;
  }
  OverviewPart& part = overview->parts[overview->next++];
  EngineWork work = std::move(part.work);
  work.render = [overview, &part, render = std::move(work.render)](Answer& answer) -> HandlerResult {
    HandlerResult rendered = render(answer);
    const auto* response = std::get_if<Response>(&rendered);
    if (response == nullptr) return rendered;
    overview->missing.insert(answer.missing.begin(), answer.missing.end());
    answer.missing.clear();  // the whole names them
    overview->add(part, response->body);
    return proceed(overview);
  };
  return work;
}

// Whether the store accepts a write now, and the error if it does not.
EngineWork readiness() {
  EngineWork work;
  work.command.probe = true;
  work.sees_errors = true;
  work.render = [](Answer& answer) {
    return json_response([&](JsonWriter& json) {
      json.begin_object().key("ready").boolean(!answer.error);
      json.key("problem").string_or_null(answer.error ? answer.error->message : "").end_object();
    });
  };
  return work;
}

EngineWork metrics() {
  return admin_work(MetricsRequest{}, [](Answer& answer) {
    return json_response(
        [&](JsonWriter& json) { wire::write_metrics(json, std::get<Metrics>(answer.admin)); });
  });
}

}  // namespace

// GET /overview
HandlerResult show_overview(ApiCall& call, SteadyTime started) {
  ApiCall plain = call;
  plain.query.clear();
  const bool ordered = std::any_of(call.query.begin(), call.query.end(),
                                   [](const QueryParameter& parameter) { return parameter.name == "order"; });
  if (!ordered) call.query.push_back({"order", "desc"});
  HandlerResult events = list_events(call);
  if (!std::holds_alternative<EngineWork>(events)) return events;  // the query is wrong

  const auto overview = std::make_shared<OverviewBuilder>();
  JsonWriter json(overview->body);
  const auto uptime = std::chrono::floor<std::chrono::seconds>(steady_now() - started);
  json.begin_object().key("server").begin_object().key("version").string(EVENTQ_VERSION);
  json.key("time").time(call.clock.now()).key("uptime_seconds").integer(uptime.count()).end_object();
  overview->parts.push_back({readiness(), ""});
  overview->parts.push_back({metrics(), "metrics"});
  overview->parts.push_back({std::get<EngineWork>(list_queues(plain)), ""});
  overview->parts.push_back({std::get<EngineWork>(list_workers(plain)), ""});
  overview->parts.push_back({std::get<EngineWork>(list_failures(plain)), ""});
  overview->parts.push_back({std::get<EngineWork>(std::move(events)), "events"});
  return proceed(overview);
}

}  // namespace eventq::http
