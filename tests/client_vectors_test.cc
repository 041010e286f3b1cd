// client_vectors_test.cc: the cases in clients/vectors.json, which every client passes, with eventq/client.h.
//
// clients/README.md describes the format of a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "client/http_client.h"
#include "eventq/client.h"
#include "model/tags.h"
#include "store/row_text.h"
#include "support/file_text.h"
#include "support/local_server.h"
#include "support/test_store.h"
#include "wire/answer_json.h"
#include "wire/event_reader.h"
#include "wire/new_event_json.h"

namespace eventq {
namespace {

// A JSON value that can be changed. A number is kept as text.
struct Json {
  struct Number {
    std::string text;
  };
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json>;
  std::variant<std::monostate, bool, Number, std::string, List, Object> value;

  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  // A member; null when it is absent.
  [[nodiscard]] const Json& at(const std::string& name) const {
    static const Json none;
    const auto* const object = as<Object>();
    const auto found = object != nullptr ? object->find(name) : Object::const_iterator();
    return object != nullptr && found != object->end() ? found->second : none;
  }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  [[nodiscard]] std::string text() const {
    const auto* const text = as<std::string>();
    return text != nullptr ? *text : "";
  }
  [[nodiscard]] std::optional<std::int64_t> integer() const {
    const auto* const number = as<Number>();
    return number != nullptr ? std::optional(std::stoll(number->text)) : std::nullopt;
  }
  [[nodiscard]] const List& list() const {
    static const List none;
    const auto* const found = as<List>();
    return found != nullptr ? *found : none;
  }
};

Json json_of(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::null: return {};
    case JsonType::boolean: return {*value.boolean()};
    case JsonType::integer:
    case JsonType::number: return {Json::Number{std::string(value.raw())}};
    case JsonType::string: return {std::string(*value.string())};
    case JsonType::array: {
      Json::List list;
      for (const JsonValue& element : value.elements()) list.push_back(json_of(element));
      return {std::move(list)};
    }
    case JsonType::object: {
      Json::Object object;
      for (const JsonMember& member : value.members()) object.emplace(member.name, json_of(member.value));
      return {std::move(object)};
    }
  }
  return {};
}

Json parsed(std::string_view text) {
  JsonParser parser;
  return json_of(parser.parse(text).value());
}

void write(JsonWriter& json, const Json& value) {
  if (value.is_null()) json.null();
  if (const auto* flag = value.as<bool>()) json.boolean(*flag);
  if (const auto* number = value.as<Json::Number>()) json.raw(number->text);
  if (const auto* text = value.as<std::string>()) json.string(*text);
  if (const auto* list = value.as<Json::List>()) {
    json.begin_array();
    for (const Json& element : *list) write(json, element);
    json.end_array();
  }
  if (const auto* object = value.as<Json::Object>()) {
    json.begin_object();
    for (const auto& [name, member] : *object) write(json.key(name), member);
    json.end_object();
  }
}

std::string text_of(const Json& value) {
  std::string text;
  JsonWriter json(text);
  write(json, value);
  return text;
}

using Saved = std::map<std::string, Json>;

std::string filled_text(std::string text, const Saved& saved) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
    const std::size_t end = text.find('}', at);
    const Json& value = saved.at(text.substr(at + 2, end - at - 2));
    const std::string word = value.as<std::string>() != nullptr ? value.text() : text_of(value);
    text.replace(at, end + 1 - at, word);
    at += word.size();
  }
  return text;
}

// `value` with ${name} and $repeat replaced.
Json filled(const Json& value, const Saved& saved) {
  if (const auto* text = value.as<std::string>()) {
    const bool is_whole = text->starts_with("${") && text->find('}') == text->size() - 1;
    if (is_whole) return saved.at(text->substr(2, text->size() - 3));
    return {filled_text(*text, saved)};
  }
  if (const auto* list = value.as<Json::List>()) {
    Json::List out;
    for (const Json& element : *list) out.push_back(filled(element, saved));
    return {std::move(out)};
  }
  const auto* object = value.as<Json::Object>();
  if (object == nullptr) return value;
  if (object->size() == 1 && object->contains("$repeat")) {
    const auto& repeat = object->at("$repeat").list();
    std::string out;
    for (std::int64_t i = 0; i < repeat.at(1).integer().value(); ++i) out += repeat.at(0).text();
    return {std::move(out)};
  }
  Json::Object out;
  for (const auto& [name, member] : *object) out.emplace(name, filled(member, saved));
  return {std::move(out)};
}

bool same_number(const std::string& a, const std::string& b) {
  const bool are_whole =
      a.find_first_of(".eE") == std::string::npos && b.find_first_of(".eE") == std::string::npos;
  return are_whole ? a == b : std::strtod(a.c_str(), nullptr) == std::strtod(b.c_str(), nullptr);
}

bool holds(const Json& expected, const Json& actual) {
  if (expected.text() == "$any") return !actual.is_null();
  if (const auto* object = expected.as<Json::Object>()) {
    if (object->size() == 1 && object->contains("$not")) return !holds(object->at("$not"), actual);
    return actual.as<Json::Object>() != nullptr &&
           std::all_of(object->begin(), object->end(),
                       [&](const auto& member) { return holds(member.second, actual.at(member.first)); });
  }
  if (const auto* list = expected.as<Json::List>()) {
    return actual.as<Json::List>() != nullptr &&
           std::equal(list->begin(), list->end(), actual.list().begin(), actual.list().end(), holds);
  }
  if (const auto* number = expected.as<Json::Number>()) {
    const auto* const other = actual.as<Json::Number>();
    return other != nullptr && same_number(number->text, other->text);
  }
  if (const auto* flag = expected.as<bool>())
    return actual.as<bool>() != nullptr && *actual.as<bool>() == *flag;
  if (const auto* text = expected.as<std::string>()) {
    return actual.as<std::string>() != nullptr && actual.text() == *text;
  }
  return actual.is_null();
}

Json pointed(const Json& value, const std::string& pointer) {
  if (pointer.empty()) return value;
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  const std::string name = pointer.substr(1, end - 1);
  const Json& inner = value.as<Json::List>() != nullptr ? value.list().at(std::stoul(name)) : value.at(name);
  return pointed(inner, pointer.substr(end));
}

// ---- The client's values as the API shows them

// The JSON that `write_it` writes, with `tags` as a list.
template <typename Write>
Json shown(Write write_it) {
  std::string text;
  JsonWriter json(text);
  write_it(json);
  Json value = parsed(text);
  if (auto* const object = std::get_if<Json::Object>(&value.value)) {
    const auto tags = object->find("tags");
    if (tags != object->end()) {
      Json::List list;
      for (std::string& tag : split_tags(tags->second.text())) list.push_back({std::move(tag)});
      tags->second = {std::move(list)};
    }
  }
  return value;
}

Json shown(const Event& event) {
  Json value = shown([&](JsonWriter& json) { wire::write_event(json, event); });
  if (!event.result.empty()) std::get<Json::Object>(value.value)["result"] = parsed(event.result);
  return value;
}
Json shown(const Claim& claim) {
  return shown([&](JsonWriter& json) { wire::write_claim(json, claim); });
}
Json shown(const LogEntry& entry) {
  Json value = shown([&](JsonWriter& json) { wire::write_entry(json, entry, 0, std::nullopt); });
  if (!entry.error_detail.empty()) std::get<Json::Object>(value.value)["error_detail"] = {entry.error_detail};
  return value;
}

template <typename T>
Json shown(const std::vector<T>& values) {
  Json::List list;
  for (const T& value : values) list.push_back(shown(value));
  return {std::move(list)};
}

// ---- Arguments as values of the client

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> found;
  for (const Json& element : list.list()) found.push_back(element.text());
  return found;
}

std::optional<int> small(const Json& number) {
  const auto value = number.integer();
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

Millis seconds(const Json& number) {
  const auto* const text = number.as<Json::Number>();
  return text != nullptr ? Millis(static_cast<std::int64_t>(std::stod(text->text) * 1000)) : Millis(0);
}

// Builds the event without any check.
NewEvent new_event(Json args) {
  auto& object = std::get<Json::Object>(args.value);
  if (object.contains("delay")) {
    object["delay_ms"] = {Json::Number{std::to_string(seconds(object["delay"]).count())}};
    object.erase("delay");
  }
  JsonParser parser;
  return wire::parse_new_event(parser, text_of(args)).value();
}

Outcome outcome(const Json& args) {
  return {.status_code = small(args.at("status_code")),
          .execution_time_ms = args.at("execution_time_ms").integer(),
          .errors = texts(args.at("errors")),
          .result = args.at("result").is_null() ? "" : text_of(args.at("result"))};
}

Failure failure(const Json& args) {
  const auto* const permanent = args.at("permanent").as<bool>();
  return {.status_code = small(args.at("status_code")),
          .execution_time_ms = args.at("execution_time_ms").integer(),
          .message = args.at("error_message").text(),
          .permanent = permanent != nullptr && *permanent,
          .detail = args.at("error_detail").text()};
}

Return give_back(const Json& args) { return {seconds(args.at("delay")), args.at("reason").text()}; }

EventId id_of(const Json& args) { return EventId{args.at("id").integer().value()}; }

Lease lease(const Json& args) {
  return {id_of(args), args.at("worker_id").text(), small(args.at("attempt"))};
}

std::string queue_of(const Json& args) {
  return args.at("queue").is_null() ? "main" : args.at("queue").text();
}

NextRequest turn(const Json& args) {
  NextRequest turn;
  turn.worker_id = args.at("worker_id").text();
  turn.limit = static_cast<std::size_t>(args.at("limit").integer().value_or(1));
  turn.tags = texts(args.at("tags"));
  turn.queue = queue_of(args);
  turn.wait = seconds(args.at("wait"));
  const auto add = [&](const char* name, const std::function<decltype(Report::what)(const Json&)>& read) {
    for (const Json& report : args.at(name).list()) {
      turn.reports.push_back({id_of(report), small(report.at("attempt")).value_or(0), read(report)});
    }
  };
  add("completed", outcome);
  add("failed", failure);
  add("released", give_back);
  return turn;
}

// The ErrorCode of a problem's kind.
ErrorCode code_of(const std::string& kind) {
  return wire::read_problem(599, R"({"type":"urn:eventq:problem:)" + kind + "\"}", "").code;
}

// ---- The cases

struct Case {
  std::string name;
  Json::List steps;
};

std::vector<Case> load_cases() {
  std::vector<Case> cases;
  const Json file_content = parsed(content_of(EVENTQ_SOURCE_DIR "/clients/vectors.json"));
  for (const Json& entry : file_content.at("cases").list()) {
    const auto only = texts(entry.at("only"));
    if (!only.empty() && std::find(only.begin(), only.end(), "cpp") == only.end()) continue;
    cases.push_back({entry.at("name").text(), entry.at("steps").list()});
  }
  return cases;
}

class ClientVectors : public testing::TestWithParam<Case> {
 protected:
  template <typename T>
  static Result<Json> as_json(const Result<T>& result) {
    if (!result) return result.error();
    return shown(*result);
  }

  Result<Json> call(const std::string& name, const Json& args) {
    if (name == "publish") return as_json(client_->publish(new_event(args)));
    if (name == "publish_batch") return publish_batch(args);
    if (name == "next") return next(args);
    if (name == "complete") return as_json(client_->complete(lease(args), outcome(args)));
    if (name == "fail") return as_json(client_->fail(lease(args), failure(args)));
    if (name == "release") return as_json(client_->give_back(lease(args), give_back(args)));
    if (name == "heartbeat") return heartbeat(args);
    if (name == "wait") return as_json(client_->wait(id_of(args), seconds(args.at("timeout"))));
    if (name == "get") return get(id_of(args));
    if (name == "log") return as_json(client_->log(id_of(args)));
    if (name == "settings") return settings(args);
    if (name == "stream") return stream(args);
    throw std::invalid_argument("The vectors have a call that this test does not implement: " + name);
  }

  Result<Json> publish_batch(const Json& args) {
    std::vector<NewEvent> events;
    for (const Json& event : args.at("events").list()) events.push_back(new_event(event));
    const auto published = client_->publish_batch(events);
    if (!published) return published.error();
    return Json{Json::Object{{"events", shown(*published)}}};
  }

  Result<Json> next(const Json& args) {
    const auto taken = client_->next(turn(args));
    if (!taken) return taken.error();
    Json::List results;
    for (const auto& result : taken->results) {
      // The message stands for the error; with_codes() compares its code.
      results.push_back(result ? shown(*result) : Json{Json::Object{{"error", {result.error().message}}}});
      errors_.push_back(result ? std::nullopt : std::optional(result.error().code));
    }
    return Json{Json::Object{{"results", {std::move(results)}}, {"events", shown(taken->claims)}}};
  }

  // The API shows the last error with the event, the C++ client only in the log.
  Result<Json> get(EventId id) {
    const auto event = client_->get(id);
    if (!event) return event.error();
    const auto log = client_->log(id);
    if (!log) return log.error();
    return shown([&](JsonWriter& json) { wire::write_details(json, *event, *log, wire::Logs::left_out); });
  }

  Result<Json> heartbeat(const Json& args) {
    const auto until = client_->heartbeat(lease(args));
    if (!until) return until.error();
    return shown([&](JsonWriter& json) { json.begin_object().key("lease_until").time(*until).end_object(); });
  }

  Result<Json> settings(const Json& args) {
    const auto settings = client_->settings(args.at("queue").text());
    if (!settings) return settings.error();
    return shown([&](JsonWriter& json) { json.raw(config_to_text(*settings)); });
  }

  Result<Json> stream(const Json& args) {
    StreamRequest request;
    request.worker_id = args.at("worker_id").text();
    request.tags = texts(args.at("tags"));
    request.queue = queue_of(args);
    request.prefetch = static_cast<std::size_t>(args.at("prefetch").integer().value_or(1));
    const auto take = static_cast<std::size_t>(args.at("take").integer().value_or(0));
    std::stop_source stop;
    const std::jthread timer([&stop, within = seconds(args.at("within"))](const std::stop_token& early) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait_for(lock, early, within, [] { return false; });
      stop.request_stop();
    });
    std::vector<Claim> claims;
    const auto ended = client_->stream(
        request,
        [&](Claim claim) {
          claims.push_back(std::move(claim));
          if (claims.size() == take) stop.request_stop();
        },
        stop.get_token());
    if (!ended) return ended.error();
    return shown(claims);
  }

  void send(const std::string& request, const Json& body) {
    const std::size_t space = request.find(' ');
    client::HttpClient http(client::parse_url(url_).value());
    client::HttpRequest sent;
    sent.method = request.substr(0, space);
    sent.target = request.substr(space + 1);
    if (!body.is_null()) sent.body = text_of(body);
    const auto answer = http.call(sent).value();
    ASSERT_EQ(answer.status / 100, 2) << request << ": " << answer.body;
  }

  void run_step(const Json& step) {
    if (!step.at("http").is_null()) {
      return send(filled_text(step.at("http").text(), saved_), filled(step.at("body"), saved_));
    }
    errors_.clear();
    const auto result = call(step.at("call").text(), filled(step.at("args"), saved_));
    const Json error = filled(step.at("error"), saved_);
    if (!error.is_null()) {
      ASSERT_FALSE(result) << text_of(*result);
      EXPECT_EQ(result.error().code, code_of(error.at("kind").text())) << result.error().message;
      const Json& field = error.at("field");
      EXPECT_EQ(result.error().field, field.is_null() ? result.error().field : field.text());
      return;
    }
    ASSERT_TRUE(result) << result.error().message;
    Json expected = filled(step.at("expect"), saved_);
    if (!expected.is_null()) {
      EXPECT_TRUE(holds(with_codes(expected), *result)) << text_of(*result) << "\nlacks\n"
                                                        << text_of(expected);
    }
    if (const auto* save = step.at("save").as<Json::Object>()) {
      for (const auto& [name, pointer] : *save) saved_[name] = pointed(*result, pointer.text());
    }
  }

  // `expected` with each matching {"error": {"kind"}} of its results replaced by the message that next() puts
  // there.
  Json with_codes(Json expected) {
    auto* const object = std::get_if<Json::Object>(&expected.value);
    const auto results = object != nullptr ? object->find("results") : Json::Object::iterator();
    if (object == nullptr || results == object->end()) return expected;
    auto& list = std::get<Json::List>(results->second.value);
    for (std::size_t i = 0; i < list.size() && i < errors_.size(); ++i) {
      const Json& kind = list[i].at("error").at("kind");
      if (!kind.is_null() && errors_[i] == code_of(kind.text())) list[i] = parsed(R"({"error":"$any"})");
    }
    return expected;
  }

  void SetUp() override {
    Options options;
    options.clock = &system_clock();
    server_ = std::make_unique<LocalServer>(store_.url(), options);
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
    ClientOptions with;
    with.tries = 1;
    client_ = Client::connect(url_, with).value();
    std::string unique = Uuid7Source::from_entropy().next(system_clock().now());
    std::erase(unique, '-');
    saved_["unique"] = {unique};
  }

  const TestStore store_;
  std::unique_ptr<LocalServer> server_;
  std::string url_;
  std::unique_ptr<Client> client_;
  Saved saved_;
  std::vector<std::optional<ErrorCode>> errors_;  // of the last turn's results
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name;
  bool starts_word = true;
  for (const char c : info.param.name) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_letter) name += static_cast<char>(starts_word ? std::toupper(c) : c);
    starts_word = !is_letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Vectors, ClientVectors, testing::ValuesIn(load_cases()), name_of_case);

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

TEST_P(ClientVectors, EachStepGivesWhatIsExpected) {
  int number = 0;
  for (const Json& step : GetParam().steps) {
    SCOPED_TRACE("step " + std::to_string(++number));
    run_step(step);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace eventq
