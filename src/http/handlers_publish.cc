// handlers_publish.cc: what publishers call.
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/json_writer.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "model/validate.h"
#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

// The key of this request, if its sender gave one.
Result<std::optional<IdempotencyKey>> read_key(const Call& call) {
  const std::string& key = call.request.headers.idempotency_key;
  if (key.empty()) return std::optional<IdempotencyKey>();
  if (auto fault = validate_idempotency_key(key)) return *fault;
  return std::optional(IdempotencyKey{key, fingerprint({call.path, call.request.body})});
}

Response render_published(Answer& answer, const std::string& request_id, bool batch) {
  if (!*answer.published) return respond_with(problem_of(answer.published->error()), request_id);
  const Published& published = **answer.published;
  Response response;
  response.status = published.existed ? 200 : 201;
  if (published.replayed) response.headers.emplace_back("Idempotency-Replayed", "true");
  JsonWriter json(response.body);
  if (batch) {
    wire::write_batch(json, published.correlation_id, published.events);
    return response;
  }
  const Event& event = published.events.front();
  response.body.reserve(event.payload.size() + 1024);
  response.headers.emplace_back("Location", "/events/" + std::to_string(static_cast<std::int64_t>(event.id)));
  wire::write_event(json, event);
  return response;
}

Handled publish(Call& call, std::vector<NewEvent> events, bool batch) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto key = read_key(call);
  if (!key) return refuse(call, key.error());
  Work work;
  work.command.publication = Publication{std::move(events), std::move(*key), batch};
  work.render = [id = call.request_id, batch](Answer& answer) { return render_published(answer, id, batch); };
  return work;
}

}  // namespace

// POST /events
Handled publish_event(Call& call) {
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto event = wire::parse_event(std::get<JsonValue>(body));
  if (!event) return refuse(call, event.error());
  std::vector<NewEvent> events;
  events.push_back(std::move(*event));
  return publish(call, std::move(events), false);
}

// POST /events/batch
Handled publish_batch(Call& call) {
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto events = wire::parse_batch(std::get<JsonValue>(body));
  if (!events) return refuse(call, events.error());
  return publish(call, std::move(*events), true);
}

}  // namespace eventq::http
