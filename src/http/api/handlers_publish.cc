// handlers_publish.cc: routes for publishers.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "model/event_context.h"
#include "model/names.h"
#include "model/validate.h"
#include "wire/answer_json.h"
#include "wire/cloud_events.h"
#include "wire/new_event_json.h"
#include "wire/queue_requests.h"

namespace eventq::http {
namespace {

// The events of a request, after its format was decoded.
struct PublishBody {
  Publication publication;
  bool many = false;  // the answer is a list
};

Result<PublishBody> one_event(Result<NewEvent> event) {
  if (!event) return event.error();
  PublishBody content;
  content.publication.events.push_back(std::move(*event));
  return content;
}

Result<PublishBody> parse_batch(const JsonValue& body) {
  auto parsed = wire::parse_batch(body);
  if (!parsed) return parsed.error();
  auto& [events, ordered, correlated, on_complete] = *parsed;
  return PublishBody{Publication{std::move(events), {}, correlated, ordered, std::move(on_complete)}, true};
}

// The events of a CloudEvents batch get no common correlation id, because that format has none.
Result<PublishBody> read_cloud_events(ApiCall& call, wire::BodyFormat format) {
  const Request& request = call.request;
  if (format == wire::BodyFormat::cloud_event_binary) {
    return one_event(wire::parse_binary_cloud_event(request.headers.cloud_event, request.headers.content_type,
                                                    request.body, call.parser));
  }
  const auto body = call.parser.parse_padded(request.body);
  if (!body) return body.error();
  if (format == wire::BodyFormat::cloud_event) return one_event(wire::parse_cloud_event(*body));
  auto events = wire::parse_cloud_events(*body);
  if (!events) return events.error();
  return PublishBody{Publication{std::move(*events), {}, false, false, {}}, true};
}

Parsed<PublishBody> read_content(ApiCall& call, bool batch) {
  const Headers& headers = call.request.headers;
  const bool binary =
      std::any_of(headers.cloud_event.begin(), headers.cloud_event.end(),
                  [](const auto& attribute) { return equals_ignoring_case(attribute.first, "specversion"); });
  const auto format = wire::body_format(headers.content_type, binary);
  if (!format) {
    return respond_with(
        problem_of(415,
                   "CloudEvents are read in their JSON format: send application/cloudevents+json "
                   "or application/cloudevents-batch+json."),
        call.request_id);
  }
  if (*format != wire::BodyFormat::json) return read_cloud_events(call, *format);
  return read_body(call, [batch](const JsonValue& body) {
    return batch ? parse_batch(body) : one_event(wire::parse_event(body));
  });
}

Result<std::optional<IdempotencyKey>> read_key(const ApiCall& call) {
  std::string attributes;
  for (const auto& [name, value] : call.request.headers.cloud_event) {
    attributes.append(name).append("=").append(value).append("\n");
  }
  return read_idempotency_key(call, attributes);
}

// A CloudEvent with a well-formed traceparent has a trace id, and the traceparent in its attributes.
bool has_trace(const NewEvent& event) {
  return !event.traceparent.empty() || (!event.attributes.empty() && !event.trace_id.empty());
}

// Gives the trace of the request to events without one. W3C requires to ignore a malformed traceparent, and
// allows to drop a tracestate that is too long.
void add_trace(const ApiCall& call, Publication& publication) {
  const Headers& headers = call.request.headers;
  if (headers.traceparent.size() > limits::kTraceparent || trace_id_of(headers.traceparent).empty()) return;
  const bool has_state = headers.tracestate.size() <= limits::kTracestate && valid_utf8(headers.tracestate) &&
                         !has_control(headers.tracestate);
  const auto add = [&](NewEvent& event) {
    if (has_trace(event)) return;
    event.traceparent = headers.traceparent;
    if (has_state) event.tracestate = headers.tracestate;
  };
  for (NewEvent& event : publication.events) add(event);
  if (publication.on_complete) add(*publication.on_complete);
}

// Asks the publisher to slow down, also when this request was accepted.
void add_backpressure(Response& response, const Answer& answer) {
  if (answer.backpressure) response.headers.emplace_back("Eventq-Backpressure", "on");
}

Response refuse_publication(const Answer& answer, const std::string& request_id) {
  const Error& error = answer.published->error();
  Response response = respond_with(problem_of(error), request_id);
  if (error.code == ErrorCode::queue_full) add_backpressure(response, answer);
  return response;
}

// Status and header fields of a success.
Response header_of(const Answer& answer) {
  const Published& published = **answer.published;
  Response response;
  response.status = published.existed ? 200 : 201;
  if (published.replayed) response.headers.emplace_back("Idempotency-Replayed", "true");
  add_backpressure(response, answer);
  return response;
}

// The same with the Location of one event.
Response header_of_one(const Answer& answer) {
  Response response = header_of(answer);
  const Event& event = (*answer.published)->events.front();
  response.body.reserve(event.payload.size() + 1024);  // usually one allocation
  response.headers.emplace_back("Location", "/events/" + id_text(event.id));
  return response;
}

Response render_event(Answer& answer, const std::string& request_id, bool cloud_event) {
  if (!*answer.published) return refuse_publication(answer, request_id);
  Response response = header_of_one(answer);
  JsonWriter json(response.body);
  const Event& event = (*answer.published)->events.front();
  if (cloud_event) {
    response.content_type = kCloudEvent;
    wire::write_cloud_event(json, event);
  } else {
    wire::write_event(json, event);
  }
  return response;
}

Response render_batch(Answer& answer, const std::string& request_id, bool cloud_events) {
  if (!*answer.published) return refuse_publication(answer, request_id);
  const Published& published = **answer.published;
  Response response = header_of(answer);
  JsonWriter json(response.body);
  if (cloud_events) {
    response.content_type = kCloudEvents;
    wire::write_cloud_events(json, published.events);
  } else {
    wire::write_batch(json, published.correlation_id, published.events);
  }
  return response;
}

// Reads the event again after the wait, because it may have ended. The event is on disk, so the response is a
// success even when this read fails.
HandlerResult render_waited(Answer& answer, const std::string& request_id, std::chrono::seconds wait) {
  if (!answer.published) return *answer.error;
  if (!*answer.published) return refuse_publication(answer, request_id);
  Published& published = **answer.published;
  Response header = header_of_one(answer);
  header.headers.emplace_back("Preference-Applied", "wait=" + std::to_string(wait.count()));
  EngineWork work;
  work.command.get = published.events.front().id;
  work.sees_errors = true;
  work.render = [header = std::move(header), event = std::move(published.events.front())](Answer& read) {
    Response response = header;
    const bool is_read = !read.error && read.details && read.details->has_value();
    const Event& shown = is_read ? (*read.details)->event : event;
    if (!has_ended(shown.status)) response.status = 202;
    JsonWriter json(response.body);
    if (is_read) {
      wire::write_details(json, shown, (*read.details)->log, wire::Logs::left_out);
    } else {
      wire::write_event(json, shown);
    }
    return response;
  };
  return work;
}

HandlerResult publish(ApiCall& call, bool batch) {
  auto content = read_content(call, batch);
  if (!content) return content.refusal();
  auto key = read_key(call);
  if (!key) return key.error();
  content->publication.key = std::move(*key);
  add_trace(call, content->publication);
  EngineWork work;
  work.command.publication = std::move(content->publication);
  // A batch ignores `Prefer: wait`: its publisher can wait for the correlation instead.
  if (content->many) {
    work.render = [id = call.request_id, cloud_events = wants_cloud_events(call)](Answer& answer) {
      return render_batch(answer, id, cloud_events);
    };
    return work;
  }
  const auto wait = wire::parse_prefer_wait(call.request.headers.prefer);
  if (!wait) {
    work.render = [id = call.request_id, cloud_event = wants_cloud_event(call)](Answer& answer) {
      return render_event(answer, id, cloud_event);
    };
    return work;
  }
  work.command.wait = WaitRequest{WaitRequest::ThisPublication{}, *wait};
  work.sees_errors = true;  // a wait may fail after the event was published
  work.render = [id = call.request_id, wait = *wait](Answer& answer) {
    return render_waited(answer, id, wait);
  };
  return work;
}

}  // namespace

Result<std::optional<IdempotencyKey>> read_idempotency_key(const ApiCall& call, std::string_view more) {
  const std::string& key = call.request.headers.idempotency_key;
  if (key.empty()) return std::optional<IdempotencyKey>();
  if (auto fault = validate_idempotency_key(key)) return *fault;
  return std::optional(IdempotencyKey{key, fingerprint({call.path, more, call.request.body})});
}

// POST /events
HandlerResult publish_event(ApiCall& call) { return publish(call, false); }

// POST /events/batch
HandlerResult publish_batch(ApiCall& call) { return publish(call, true); }

}  // namespace eventq::http
