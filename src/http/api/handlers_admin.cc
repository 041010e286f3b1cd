// handlers_admin.cc: routes for people and their tools: list, show, explain, reset and cancel events, health.
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "generated/http_assets.h"
#include "http/api/handlers.h"
#include "http/api/render.h"
#include "model/validate.h"
#include "wire/answer_json.h"
#include "wire/cloud_events.h"
#include "wire/list_query.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

Response respond_with_json(std::string_view json) {
  Response response;
  response.body = json;
  return response;
}

// Reset and cancel: a change that a person asks for in the query. It needs no lease.
template <typename What>
HandlerResult intervene(ApiCall& call, Result<What> what) {
  auto event = wire::parse_event_name(call.id);
  if (!event) return event.error();
  if (!what) return what.error();
  if (auto problem = refuse_body(call)) return std::move(*problem);
  Change change{Lease{{}, "", std::nullopt}, std::move(*what)};
  if (auto fault = validate(change)) return *fault;
  return with_event(std::move(*event), [change = std::move(change)](EventId id) mutable {
    change.lease.id = id;
    EngineWork work;
    work.command.changes.push_back(std::move(change));
    work.render = render_change;
    return HandlerResult(std::move(work));
  });
}

HandlerResult show_event(EventId id, wire::Logs logs, bool as_cloud_event) {
  EngineWork work;
  // The log is always read, because the last error is in it.
  work.command.get = id;
  work.render = [logs, as_cloud_event](Answer& answer) -> HandlerResult {
    const Result<Details>& details = *answer.details;
    if (!details) return details.error();
    Response response;
    JsonWriter json(response.body);
    if (as_cloud_event) {
      response.content_type = kCloudEvent;
      wire::write_cloud_event(json, details->event);
      return response;
    }
    wire::write_details(json, details->event, details->log, logs);
    return response;
  };
  return work;
}

HandlerResult show_why(EventId id) {
  EngineWork work;
  work.command.why = id;
  work.render = [](Answer& answer) -> HandlerResult {
    const Result<Explanation>& found = *answer.explanation;
    if (!found) return found.error();
    return json_response(
        [&](JsonWriter& json) { wire::write_why(json, found->id, found->status, found->why); });
  };
  return work;
}

}  // namespace

// GET /events
HandlerResult list_events(ApiCall& call) {
  auto filter = wire::parse_list_query(call.query, call.clock.now());
  if (!filter) return filter.error();
  EngineWork work;
  work.command.list = *filter;
  work.render = [filter = *filter](Answer& answer) -> HandlerResult {
    if (!*answer.page) return answer.page->error();
    return json_response([&](JsonWriter& json) { wire::write_page(json, **answer.page, filter); });
  };
  return work;
}

// GET /events/{id}
HandlerResult get_event(ApiCall& call) {
  auto event = wire::parse_event_name(call.id);
  if (!event) return event.error();
  const auto with_log = wire::parse_include_logs(call.query);
  if (!with_log) return with_log.error();
  const auto logs = *with_log ? wire::Logs::shown : wire::Logs::left_out;
  return with_event(std::move(*event), [logs, as_cloud_event = wants_cloud_event(call)](EventId id) {
    return show_event(id, logs, as_cloud_event);
  });
}

// GET /events/{id}/why
HandlerResult explain_event(ApiCall& call) {
  auto event = wire::parse_event_name(call.id);
  if (!event) return event.error();
  return with_event(std::move(*event), show_why);
}

// POST /events/{id}/retry, and the earlier POST /events/{id}/reset
HandlerResult reset_event(ApiCall& call) { return intervene(call, wire::parse_reset(call.query)); }

// POST /events/{id}/cancel
HandlerResult cancel_event(ApiCall& call) { return intervene(call, wire::parse_cancel(call.query)); }

// GET /healthz: the process answers, whatever the state of the store.
HandlerResult show_health(ApiCall&) { return respond_with_json(R"({"status":"ok"})"); }

// GET /readyz: the store accepts a write now.
HandlerResult show_readiness(ApiCall&) {
  EngineWork work;
  work.command.probe = true;
  work.render = [](Answer&) { return respond_with_json(R"({"status":"ready"})"); };
  return work;
}

// GET /openapi.json
HandlerResult show_openapi(ApiCall&) { return respond_with_json(assets::openapi); }

// GET /
HandlerResult show_dashboard(ApiCall&) {
  Response response;
  response.content_type = "text/html; charset=utf-8";
  // The page has its script and its style inline, and calls this server only.
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = assets::index;
  return response;
}

}  // namespace eventq::http
