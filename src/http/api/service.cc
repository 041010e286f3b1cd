// service.cc: see service.h.
#include "http/api/service.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "base/uuid.h"
#include "http/api/call.h"
#include "http/api/cors.h"
#include "http/api/handlers.h"
#include "http/api/media_type.h"
#include "http/api/problem.h"
#include "http/api/routes.h"
#include "http/api/stream.h"
#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

// A request without a route may still have a body: it is read, so that the client gets 404 or 405 and not
// 413.
constexpr std::size_t kUnroutedBodyMax = 64 * 1024;

// Drops the answers to commands that release the claims of clients that left.
class DiscardingSink final : public AnswerSink {
 public:
  void deliver(std::vector<Envelope<Answer>>) override {}
};

// True for an X-Request-Id that is safe to repeat in headers and logs.
bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

// True for application/json, alone or with charset=utf-8. Case and white space do not matter.
bool is_json(std::string_view content_type) {
  std::string type;
  for (const char c : content_type) {
    if (c != ' ' && c != '\t' && c != '"') type += to_lower(c);
  }
  return type == "application/json" || type == "application/json;" ||
         type == "application/json;charset=utf-8";
}

bool is_loopback_name(std::string_view host) {
  // The colons of an IPv6 address are inside brackets: only a colon behind them begins a port.
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  const std::string_view name = has_port ? host.substr(0, colon) : host;
  const bool is_address = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return name == "localhost" || name == "[::1]" || (name.starts_with("127.") && is_address);
}

// True when a browser sent the request for a page of another site. Programs send neither field.
bool is_cross_site(const Headers& headers) {
  if (!headers.sec_fetch_site.empty()) {
    return headers.sec_fetch_site != "same-origin" && headers.sec_fetch_site != "none";
  }
  // Browsers without Sec-Fetch-Site send Origin.
  if (headers.origin.empty()) return false;
  return headers.origin != "http://" + headers.host && headers.origin != "https://" + headers.host;
}

// Empty: no page of another site may read the response.
std::string listed_origin(const Headers& headers, const AllowedOrigins* origins) {
  const bool listed = origins != nullptr && !headers.origin.empty() && origins->contains(headers.origin);
  return listed ? headers.origin : "";
}

// A cache must not give the response of one origin to another.
void add_origin_fields(Response& response, const std::string& origin, const AllowedOrigins* origins) {
  if (origins == nullptr || origins->empty()) return;
  response.headers.emplace_back("Vary", "Origin");
  if (!origin.empty()) add_cors_fields(response, origin);
}

// The media type of RFC 9457. A wildcard does not ask for it, because most programs send one and expect JSON.
constexpr std::string_view kProblemType = "application/problem+json";

bool accepts_problem_type(std::string_view accept) {
  const double much = accept_quality(accept, kProblemType);
  return much > 0 && much >= accept_quality(accept, "application/json");
}

// Marks a list that lacks the events of shards that did not answer.
void mark_missing_shards(const Answer& answer, Response& response) {
  const bool is_object = response.content_type == "application/json" && response.body.ends_with('}');
  if (!answer.missing.empty() && response.status < 300 && is_object) {
    wire::mark_partial(response.body, answer.missing);
  }
}

// The part of the service that belongs to one IoThread: its requests that wait for the engine or for another
// thread, and its streams. An exchange's id is its token at the engine.
class IoThreadService final : public AnswerSink {
 public:
  IoThreadService(Engine& engine, const Clock& clock, Hosts hosts, DiscardingSink& discard,
                  const Policy& defaults, const AllowedOrigins* origins)
      : engine_(engine),
        clock_(clock),
        hosts_(hosts),
        origins_(origins),
        discard_(discard),
        defaults_(defaults),
        request_ids_(Uuid7Source::from_entropy()) {}

  void on_request(IoThread& thread, ExchangeId exchange, const Request& request) {
    if (!thread_) thread_ = &thread;
    const std::string& sent = request.headers.request_id;
    Requester requester{is_request_id(sent) ? sent : request_ids_.next(clock_.now()),
                        accepts_problem_type(request.headers.accept),
                        listed_origin(request.headers, origins_)};
    HandlerResult handled = handle(request, requester);
    proceed(exchange, std::move(handled), std::move(requester), {});
  }

  void on_gone(ExchangeId exchange) {
    const auto token = static_cast<std::uint64_t>(exchange);
    if (pending_.erase(token) + streams_.erase(token) > 0) engine_.cancel_wait(*this, token);
    deferred_.erase(token);
  }

  // A stream claims again only when the kernel has all of the last events, so a client that does not read
  // holds no more claims than one batch.
  void on_sent(ExchangeId exchange) {
    const auto token = static_cast<std::uint64_t>(exchange);
    const auto found = streams_.find(token);
    if (found != streams_.end()) claim_more(token, found->second);
  }

  // A claim must not go to a client that may have left, and a wait for such a client has no use. Every other
  // result is still sent.
  [[nodiscard]] bool answers_half_closed(ExchangeId exchange) const {
    const auto token = static_cast<std::uint64_t>(exchange);
    const auto found = pending_.find(token);
    return deferred_.contains(token) || (found != pending_.end() && !found->second.may_wait);
  }

  // Runs on an engine's thread. One post for all answers of a commit wakes the IoThread once.
  void deliver(std::vector<Envelope<Answer>> answers) override {
    thread_->post([this, answers = std::make_shared<std::vector<Envelope<Answer>>>(std::move(answers))] {
      for (Envelope<Answer>& each : *answers) answer(each.reply_to.token, each.content);
    });
  }

 private:
  // What the response to a request needs of it.
  struct Requester {
    std::string request_id;
    bool accepts_problem_type = false;
    std::string origin;  // a listed one, whose page may read the response; else empty
  };

  struct PendingRequest {
    std::function<HandlerResult(Answer&)> render;
    Requester requester;
    bool sees_errors = false;
    bool may_wait = false;  // the command, or one that follows it, has a claim or a wait
  };

  // Runs the handler of the route that the transport found with the header. Checks first what holds for every
  // route, so that a handler sees only requests that it may serve.
  HandlerResult handle(const Request& request, const Requester& requester) {
    const std::string& request_id = requester.request_id;
    const std::string_view target = request.target;
    const std::size_t question = target.find('?');
    const std::string_view path = without_trailing_slash(target.substr(0, question));
    ApiCall call{request, path, {}, {}, {}, request_id, parser_, defaults_, clock_};
    // Checked before the route, so that a rebound name learns nothing about the server.
    if (hosts_ == Hosts::loopback && !is_loopback_name(request.headers.host)) {
      return respond_with(problem_of(403, "The Host field must name localhost, 127.0.0.1 or [::1]."),
                          request_id);
    }
    const bool listed = !requester.origin.empty();
    if (listed && is_preflight(request)) return preflight_response();
    const RouteMatch& found = request.match;
    if (!found.route) return no_route(call, found);
    // A browser may send such a request without a preflight, so CORS alone does not prevent it.
    if (found.route->effect == RouteEffect::changes && is_cross_site(request.headers) && !listed) {
      return respond_with(problem_of(403, "A page of another site may not do this."), request_id);
    }
    if (question != std::string_view::npos) {
      auto query = parse_query(target.substr(question + 1));
      if (!query) return query.error();
      call.query = std::move(*query);
    }
    call.id = found.id.of(target);
    auto name = percent_decode(found.name.of(target), PlusIs::literal);
    if (!name) return name.error();
    call.name = std::move(*name);
    // After the name, so that a name that cannot be decoded is reported first, as for routes with a query.
    if (found.route->query == RouteQuery::no_query) {
      if (auto refusal = refuse_query(call)) return std::move(*refusal);
    }
    return found.route->handler(call);
  }

  static Response no_route(const ApiCall& call, const RouteMatch& found) {
    if (found.allowed == 0) {
      return respond_with(problem_of(404, "No route matches " + std::string(call.path) +
                                              "; GET /openapi.json lists all routes."),
                          call.request_id);
    }
    const std::string allowed = allowed_methods(found);
    Response response = respond_with(problem_of(405, std::string(call.path) + " takes " + allowed + " only."),
                                     call.request_id);
    response.headers.emplace_back("Allow", allowed);
    return response;
  }

  void answer(std::uint64_t token, Answer& answer) {
    if (streams_.contains(token)) return answer_stream(token, answer);
    const auto found = pending_.find(token);
    // The client left after the engine had made the claims.
    if (found == pending_.end()) {
      release_claims(answer.claims);
      return;
    }
    PendingRequest pending = std::move(found->second);
    pending_.erase(found);
    HandlerResult handled =
        answer.error && !pending.sees_errors ? HandlerResult(*answer.error) : pending.render(answer);
    if (auto* response = std::get_if<Response>(&handled)) mark_missing_shards(answer, *response);
    proceed(static_cast<ExchangeId>(token), std::move(handled), std::move(pending.requester), answer.claims);
  }

  // Sends the response or the error, begins a stream, submits the command, or starts the deferred work.
  // `claims` are those that the response contains: they are released when it cannot be sent.
  void proceed(ExchangeId exchange, HandlerResult handled, Requester requester,
               const std::vector<Claim>& claims) {
    if (auto* error = std::get_if<Error>(&handled)) {
      handled = respond_with(problem_of(*error), requester.request_id);
    }
    if (auto* response = std::get_if<Response>(&handled)) {
      if (!send(exchange, std::move(*response), requester)) release_claims(claims);
      return;
    }
    const auto token = static_cast<std::uint64_t>(exchange);
    if (auto* stream = std::get_if<ClaimStream>(&handled)) {
      if (send(exchange, begin_stream(), requester)) streams_.emplace(token, std::move(stream->claim));
      return;
    }
    if (auto* deferred = std::get_if<DeferredResult>(&handled)) {
      deferred_.emplace(token, std::move(requester));
      deferred->begin([this, token](HandlerResult next) {
        thread_->post([this, token, next = std::make_shared<HandlerResult>(std::move(next))] {
          resume_deferred(token, std::move(*next));
        });
      });
      return;
    }
    auto& work = std::get<EngineWork>(handled);
    const bool may_wait = work.may_wait || work.command.claim.has_value() || work.command.wait.has_value();
    pending_.emplace(
        token, PendingRequest{std::move(work.render), std::move(requester), work.sees_errors, may_wait});
    engine_.submit(std::move(work.command), *this, token);
  }

  // The client may have left meanwhile: on_gone() has removed the entry then.
  void resume_deferred(std::uint64_t token, HandlerResult handled) {
    const auto found = deferred_.find(token);
    if (found == deferred_.end()) return;
    Requester requester = std::move(found->second);
    deferred_.erase(found);
    proceed(static_cast<ExchangeId>(token), std::move(handled), std::move(requester), {});
  }

  bool send(ExchangeId exchange, Response response, const Requester& requester) {
    if (response.status >= 400) {  // the body is a problem
      if (requester.accepts_problem_type) response.content_type = kProblemType;
      response.headers.emplace_back("Vary", "Accept");
    }
    response.headers.emplace_back("X-Request-Id", requester.request_id);
    add_origin_fields(response, requester.origin, origins_);
    return thread_->respond(exchange, std::move(response));
  }

  void claim_more(std::uint64_t token, const ClaimRequest& claim) {
    Command command;
    command.claim = claim;
    engine_.submit(std::move(command), *this, token);
  }

  // An error ends the stream, because the client connects again by itself.
  void answer_stream(std::uint64_t token, const Answer& answer) {
    const auto exchange = static_cast<ExchangeId>(token);
    const auto found = streams_.find(token);
    // Without an event the claim reached its time limit, so it is repeated.
    if (!answer.error && answer.claims.empty()) return claim_more(token, found->second);
    if (!answer.error && thread_->send(exchange, render_stream(answer.claims))) return;
    streams_.erase(found);
    thread_->finish(exchange);
    release_claims(answer.claims);
  }

  // The client left before the response with these claims was sent.
  void release_claims(const std::vector<Claim>& claims) {
    if (claims.empty()) return;
    engine_.submit(release_of(claims), discard_, 0);
  }

  Engine& engine_;
  const Clock& clock_;
  const Hosts hosts_;
  const AllowedOrigins* const origins_;  // null: none
  DiscardingSink& discard_;
  const Policy defaults_;
  IoThread* thread_ = nullptr;  // set by the first request, which comes before any answer

  // Used on the IoThread only.
  Uuid7Source request_ids_;
  JsonParser parser_;
  std::unordered_map<std::uint64_t, PendingRequest> pending_;
  std::unordered_map<std::uint64_t, ClaimRequest> streams_;
  std::unordered_map<std::uint64_t, Requester> deferred_;
};

class EventService final : public Service {
 public:
  EventService(Engine& engine, std::size_t io_threads, const Clock& clock, Hosts hosts,
               const Policy& defaults, ApiExtension extension, const AllowedOrigins* origins)
      : routes_(std::move(extension)), origins_(origins) {
    for (std::size_t i = 0; i < io_threads; ++i)
      threads_.push_back(
          std::make_unique<IoThreadService>(engine, clock, hosts, discard_, defaults, origins));
  }

  RequestRoute route(std::string_view method, std::string_view path) const override {
    const RouteMatch found = routes_.match(method, path);
    return {found, found.route ? found.route->body_max : kUnroutedBodyMax};
  }

  void on_request(IoThread& thread, ExchangeId exchange, Request request) override {
    threads_[thread.index()]->on_request(thread, exchange, request);
  }

  void on_gone(IoThread& thread, ExchangeId exchange) override {
    threads_[thread.index()]->on_gone(exchange);
  }

  void on_sent(IoThread& thread, ExchangeId exchange) override {
    threads_[thread.index()]->on_sent(exchange);
  }

  bool answers_half_closed(const IoThread& thread, ExchangeId exchange) const override {
    return threads_[thread.index()]->answers_half_closed(exchange);
  }

  Response error_response(int status, std::string_view message, const Headers& headers) const override {
    Response response = respond_with(problem_of(status, message), "");
    add_origin_fields(response, listed_origin(headers, origins_), origins_);
    return response;
  }

 private:
  const RouteTable routes_;
  const AllowedOrigins* const origins_;  // null: none
  DiscardingSink discard_;
  std::vector<std::unique_ptr<IoThreadService>> threads_;
};

}  // namespace

Response refuse(const ApiCall& call, const Error& error) {
  return respond_with(problem_of(error), call.request_id);
}

std::variant<JsonValue, Response> read_json(ApiCall& call) { return read_json(call, call.parser); }

std::variant<JsonValue, Response> read_json(ApiCall& call, JsonParser& parser) {
  if (!is_json(call.request.headers.content_type)) {
    return respond_with(
        problem_of(415, "The body must be JSON in UTF-8: send Content-Type: application/json."),
        call.request_id);
  }
  auto parsed = parser.parse_padded(call.request.body);
  if (!parsed) return refuse(call, parsed.error());
  return *parsed;
}

bool wants_cloud_event(const ApiCall& call) {
  const std::string& accept = call.request.headers.accept;
  const double much = accept_quality(accept, kCloudEvent);
  return much > 0 && much >= accept_quality(accept, "application/json");
}

bool wants_cloud_events(const ApiCall& call) {
  const std::string& accept = call.request.headers.accept;
  const double much = accept_quality(accept, kCloudEvents);
  return much > 0 && much >= accept_quality(accept, "application/json") &&
         much >= accept_quality(accept, kCloudEvent);
}

std::optional<Response> refuse_query(const ApiCall& call) {
  if (call.query.empty()) return std::nullopt;
  const std::string& name = call.query.front().name;
  return refuse(call, {ErrorCode::invalid_argument, "There is no parameter \"" + name + "\" here.", name});
}

std::optional<Response> refuse_body(ApiCall& call) {
  if (call.request.body.empty()) return std::nullopt;
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  if (auto empty = wire::parse_empty(std::get<JsonValue>(body)); !empty) return refuse(call, empty.error());
  return std::nullopt;
}

Error too_late(const std::string& what, Millis timeout) {
  return {ErrorCode::timeout, what + " within " + format_duration(timeout) + ". Ask again to wait on.", ""};
}

std::unique_ptr<Service> make_service(Engine& engine, std::size_t io_threads, const Clock& clock, Hosts hosts,
                                      const Policy& defaults, ApiExtension extension,
                                      const AllowedOrigins* origins) {
  return std::make_unique<EventService>(engine, io_threads, clock, hosts, defaults, std::move(extension),
                                        origins);
}

}  // namespace eventq::http
