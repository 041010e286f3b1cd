// openapi_test.cc: the OpenAPI document, the documentation and the code agree.
//
// openapi_check.py checks that the document is valid OpenAPI and that answers match it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "eventq/limits.h"
#include "http/api/problem.h"
#include "http/api/routes.h"
#include "model/names.h"
#include "notebook/api/api.h"
#include "support/file_text.h"

namespace eventq {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

// The routes of the complete program. They are the same when notebooks are switched off.
std::span<const http::Route> all_routes() {
  static const http::RouteTable table(notebook::make_api(nullptr));
  return table.routes();
}

std::string read_file(const std::string& path) { return content_of(EVENTQ_SOURCE_DIR "/" + path); }

std::optional<JsonValue> member(const JsonValue& value, std::string_view name) {
  if (value.type() == JsonType::array) {
    for (std::size_t i = 0; const JsonValue& element : value.elements()) {
      if (std::to_string(i++) == name) return element;
    }
  }
  if (value.type() != JsonType::object) return std::nullopt;
  for (const JsonMember& found : value.members()) {
    if (found.name == name) return found.value;
  }
  return std::nullopt;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A JSON pointer writes a slash inside a name as "~1".
std::string pointer_to(std::string_view method, std::string_view path) {
  std::string lower(method);
  for (char& c : lower) c = static_cast<char>(c - 'A' + 'a');
  return "#/paths/" + replace_all(std::string(path), "/", "~1") + "/" + lower;
}

struct Operation {
  std::string method;
  std::string path;
  JsonValue value;

  [[nodiscard]] std::string name() const { return method + " " + path; }
  [[nodiscard]] bool is_health() const { return path == "/healthz" || path == "/readyz"; }
};

// Calls `visit` with every member of every object inside `value`, at any depth.
void for_each_member(const JsonValue& value, const std::function<void(const JsonMember&)>& visit) {
  if (value.type() == JsonType::array) {
    for (const JsonValue& element : value.elements()) for_each_member(element, visit);
  }
  if (value.type() != JsonType::object) return;
  for (const JsonMember& member : value.members()) {
    visit(member);
    for_each_member(member.value, visit);
  }
}

class OpenApiTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto parsed = parser_.parse(read_file("api/openapi.json"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    root_ = *parsed;
  }

  // The value at a pointer such as "#/components/schemas/Title"; follows references.
  std::optional<JsonValue> find(std::string_view pointer) const {
    JsonValue value = root_;
    std::string rest(pointer.substr(2));
    while (!rest.empty()) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      const auto next = member(value, replace_all(rest.substr(0, slash), "~1", "/"));
      if (!next) return std::nullopt;
      value = *next;
      rest.erase(0, slash + 1);
      if (const auto reference = member(value, "$ref")) {
        rest = std::string(reference->string()->substr(2)) + (rest.empty() ? "" : "/" + rest);
        value = root_;
      }
    }
    return value;
  }

  std::int64_t number(const std::string& pointer) const {
    const auto value = find(pointer);
    if (!value || !value->integer()) ADD_FAILURE() << pointer << " is no whole number";
    return value ? value->integer().value_or(0) : 0;
  }

  std::vector<std::string> texts(const std::string& pointer) const {
    std::vector<std::string> found;
    const auto value = find(pointer);
    if (!value || value->type() != JsonType::array) return found;
    for (const JsonValue& element : value->elements()) found.emplace_back(element.string().value());
    return found;
  }

  std::vector<Operation> operations() const {
    std::vector<Operation> found;
    for (const JsonMember& path : member(root_, "paths")->members()) {
      for (const std::string method : {"get", "put", "post", "delete", "options", "head", "patch", "trace"}) {
        const auto value = member(path.value, method);
        std::string upper = method;
        for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
        if (value) found.push_back({upper, std::string(path.name), *value});
      }
    }
    return found;
  }

  std::set<std::string> statuses(const Operation& operation) const {
    std::set<std::string> found;
    for (const JsonMember& response : member(operation.value, "responses")->members()) {
      found.emplace(response.name);
    }
    return found;
  }

  JsonParser parser_;
  JsonValue root_;
};

TEST_F(OpenApiTest, NamesTheRoutesOfTheServerAndNoOthers) {
  std::set<std::string> served;
  for (const http::Route& route : all_routes()) {
    served.insert(std::string(route.method) + " " + std::string(route.path));
  }
  std::set<std::string> described;
  for (const Operation& operation : operations()) described.insert(operation.name());

  EXPECT_EQ(described, served);
}

TEST_F(OpenApiTest, HasTheVersionOfTheProgram) {
  EXPECT_EQ(find("#/info/version")->string(), EVENTQ_VERSION);
}

TEST_F(OpenApiTest, GivesEveryOperationAUniqueIdAndASummary) {
  std::set<std::string_view> ids;
  for (const Operation& operation : operations()) {
    const auto id = member(operation.value, "operationId");
    ASSERT_TRUE(id) << operation.name();
    EXPECT_TRUE(ids.insert(id->string().value()).second) << operation.name() << " shares its id";
    EXPECT_TRUE(member(operation.value, "summary")) << operation.name();
  }
}

TEST_F(OpenApiTest, GivesEveryOperationADescriptionAndTheDocumentAContact) {
  EXPECT_TRUE(find("#/info/contact/name"));
  for (const Operation& operation : operations()) {
    EXPECT_TRUE(member(operation.value, "description")) << operation.name();
  }
}

// Generators of types make a member with a default required, also in requests. Descriptions state the default
// instead.
TEST_F(OpenApiTest, NoMemberOfASchemaHasADefault) {
  for_each_member(*find("#/components/schemas"),
                  [](const JsonMember& found) { EXPECT_NE(found.name, "default") << found.value.raw(); });
}

TEST_F(OpenApiTest, GivesEveryOperationASuccessAndAClientError) {
  for (const Operation& operation : operations()) {
    EXPECT_THAT(statuses(operation), Contains(StartsWith("2"))) << operation.name();
    if (operation.is_health()) continue;
    EXPECT_THAT(statuses(operation), Contains(StartsWith("4"))) << operation.name();
  }
}

TEST_F(OpenApiTest, GivesEveryRouteTheErrorsOfItsKind) {
  for (const http::Route& route : all_routes()) {
    const std::string responses = pointer_to(route.method, route.path) + "/responses";
    const bool changes = route.effect == http::RouteEffect::changes;
    // A PUT or PATCH may name a queue that does not exist. The log of an unknown worker is empty, and an
    // unknown worker may sign off. Without notebooks, their routes answer 404.
    const bool creates = (route.method == "PUT" || route.method == "PATCH") && route.path == "/queues/{name}";
    const bool signs_off = route.method == "DELETE" && route.path == "/workers/{name}";
    const bool any_name = creates || signs_off || route.path == "/workers/{name}/log";
    const bool looks_up = (route.path.find('{') != route.path.npos && !any_name) ||
                          route.path == "/notebooks" || route.path == "/events/commit";

    EXPECT_EQ(find(responses + "/403").has_value(), changes) << responses;  // for a page of another site
    EXPECT_EQ(find(responses + "/404").has_value(), looks_up) << responses;
    EXPECT_EQ(find(responses + "/415").has_value(), route.body_max > 0) << responses;
  }
}

TEST_F(OpenApiTest, EveryReferenceHasATarget) {
  std::size_t references = 0;
  for_each_member(root_, [&](const JsonMember& found) {
    if (found.name != "$ref") return;
    ++references;
    EXPECT_TRUE(find(*found.value.string())) << *found.value.string();
  });
  EXPECT_GT(references, 100U);
}

TEST_F(OpenApiTest, RefusesUnknownMembersInEveryRequestBody) {
  for (const Operation& operation : operations()) {
    const std::string body = pointer_to(operation.method, operation.path) + "/requestBody";
    if (!find(body)) continue;

    const auto closed = find(body + "/content/application~1json/schema/additionalProperties");

    ASSERT_TRUE(closed) << operation.name();
    EXPECT_EQ(closed->boolean(), false) << operation.name();
  }
}

TEST_F(OpenApiTest, LimitsEveryBodyAsTheRouteDoes) {
  for (const http::Route& route : all_routes()) {
    const std::string body = pointer_to(route.method, route.path) + "/requestBody";

    ASSERT_EQ(find(body).has_value(), route.body_max > 0) << body;
    if (route.body_max == 0) continue;
    EXPECT_EQ(number(body + "/x-max-bytes"), static_cast<std::int64_t>(route.body_max)) << body;
  }
}

TEST_F(OpenApiTest, HasTheLimitsOfTheCode) {
  const std::string schemas = "#/components/schemas/";
  const std::string list = "#/paths/~1events/get/parameters/";
  const std::string subscribe = "#/paths/~1events~1subscribe/get/parameters/";
  const struct {
    std::string pointer;
    std::int64_t limit;
  } rows[] = {
      {schemas + "Title/maxLength", limits::kTitleChars},
      {schemas + "Description/x-max-bytes", limits::kDescription},
      {schemas + "ErrorMessage/x-max-bytes", limits::kErrorMessage},
      {schemas + "ErrorDetail/x-max-bytes", limits::kErrorDetail},
      {schemas + "EventResult/x-max-bytes", limits::kResult},
      {schemas + "Errors/items/x-max-bytes", limits::kErrorMessage},
      {schemas + "Errors/maxItems", limits::kErrors},
      {schemas + "Payload/x-max-bytes", limits::kPayload},
      {schemas + "Tag/maxLength", limits::kTagChars},
      {schemas + "Tags/oneOf/1/maxItems", limits::kTags},
      {schemas + "WorkerId/maxLength", limits::kWorkerIdChars},
      {schemas + "QueueName/maxLength", limits::kQueueNameChars},
      {schemas + "OwnEventId/maxLength", limits::kEventIdChars},
      {schemas + "CorrelationId/maxLength", limits::kCorrelationIdChars},
      {schemas + "Priority/minimum", -limits::kPriority},
      {schemas + "Priority/maximum", limits::kPriority},
      {schemas + "MaxRetries/maximum", limits::kMaxRetries},
      {schemas + "MaxAttempts/maximum", limits::kMaxAttempts},
      {schemas + "StatusCode/maximum", limits::kStatusCode},
      {schemas + "ExecutionTimeMs/maximum", limits::kExecutionTimeMs},
      {schemas + "EventId/maximum", limits::kEventId},
      {schemas + "NewBatch/properties/events/maxItems", limits::kBatchEvents},
      {schemas + "Completions/properties/events/maxItems", limits::kBatchEvents},
      {schemas + "FailureReports/properties/events/maxItems", limits::kBatchEvents},
      {schemas + "Turn/properties/completed/maxItems", limits::kBatchEvents},
      {schemas + "Turn/properties/failed/maxItems", limits::kBatchEvents},
      {schemas + "Turn/properties/limit/maximum", limits::kClaim},
      {schemas + "Turn/properties/wait/maximum", limits::kWait.count()},
      {schemas + "Subscription/properties/limit/maximum", limits::kClaim},
      {schemas + "Subscription/properties/wait/maximum", limits::kWait.count()},
      {subscribe + "3/schema/maximum", limits::kWait.count()},
      {subscribe + "4/schema/maximum", limits::kClaim},
      {list + "5/schema/maximum", limits::kPage},
      {list + "6/schema/maximum", limits::kOffset},
      {"#/components/parameters/IdempotencyKey/schema/maxLength", limits::kIdempotencyKeyChars},
      {"#/components/parameters/Reason/schema/maxLength", limits::kReasonChars},
      {schemas + "Pattern/x-max-bytes", limits::kPattern},
      {schemas + "Version/x-max-bytes", limits::kVersion},
      {schemas + "Key/x-max-bytes", limits::kKey},
      {schemas + "Delay/maximum", std::chrono::seconds(limits::kDelay).count()},
      {schemas + "NewSource/properties/id/maxLength", limits::kSource},
      {schemas + "NewEvent/properties/trace_id/oneOf/0/maxLength", limits::kTraceIdChars},
      {schemas + "NewEvent/properties/causation_id/oneOf/0/maxLength", limits::kCausationIdChars},
      {schemas + "Traceparent/maxLength", limits::kTraceparent},
      {schemas + "Tracestate/x-max-bytes", limits::kTracestate},
      {schemas + "PublishedBy/x-max-bytes", limits::kBy},
      {schemas + "QueueConfig/properties/maxQueueDepth/maximum", limits::kQueueDepth},
      {schemas + "QueueConfig/properties/batchSize/maximum", limits::kClaim},
      {schemas + "QueueConfig/properties/maxAttempts/maximum", limits::kMaxAttempts},
      {schemas + "QueueConfig/properties/maxRetries/maximum", limits::kMaxRetries},
      {schemas + "Replay/properties/limit/maximum", limits::kReplay},
      {schemas + "RetryRequest/properties/limit/maximum", limits::kReplay},
      {schemas + "FailureGroup/properties/sample/maxLength", limits::kSample},
      {"#/components/parameters/By/schema/maxLength", limits::kBy},
      {schemas + "Remark/properties/by/maxLength", limits::kBy},
      {schemas + "Remark/properties/reason/maxLength", limits::kReasonChars},
      {"#/paths/~1queues~1{name}/get/parameters/0/schema/maximum", limits::kQueueEvents},
      {"#/paths/~1events~1{id}~1wait/post/parameters/0/schema/maximum", limits::kWait.count()},
  };
  for (const auto& row : rows) EXPECT_EQ(number(row.pointer), row.limit) << row.pointer;

  const std::string pattern(find(schemas + "TagList/pattern")->string().value());
  EXPECT_THAT(pattern, HasSubstr("{1," + std::to_string(limits::kTagChars) + "}"));
  EXPECT_THAT(pattern, HasSubstr("{0," + std::to_string(limits::kTags - 1) + "}"));
}

TEST_F(OpenApiTest, NamesAllStatusesAndActions) {
  std::vector<std::string> statuses;
  for (int i = 0; i <= static_cast<int>(Status::cancelled); ++i) {
    statuses.emplace_back(name_of(static_cast<Status>(i)));
  }
  std::vector<std::string> actions;
  for (int i = 0; i <= static_cast<int>(Action::superseded); ++i) {
    actions.emplace_back(name_of(static_cast<Action>(i)));
  }

  EXPECT_THAT(texts("#/components/schemas/Status/enum"), ElementsAreArray(statuses));
  EXPECT_THAT(texts("#/components/schemas/Action/enum"), ElementsAreArray(actions));
}

TEST_F(OpenApiTest, NamesTheTypeOfEveryProblemInTheCode) {
  std::set<std::string> made{"urn:eventq:problem:max-retries-exceeded",
                             "urn:eventq:problem:failed-permanently"};
  const auto add = [&](const wire::Problem& problem) {
    made.insert("urn:eventq:problem:" + std::string(problem.kind));
  };
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    add(http::problem_of(Error{static_cast<ErrorCode>(code), "", ""}));
  }
  for (const int status : {400, 403, 404, 405, 408, 413, 414, 415, 417, 431, 503, 505}) {
    add(http::problem_of(status, ""));
  }
  const std::vector<std::string> named = texts("#/components/schemas/Problem/properties/type/enum");

  EXPECT_EQ(std::set<std::string>(named.begin(), named.end()), made);
}

// The transport itself answers without X-Request-Id, and always with application/json.
TEST_F(OpenApiTest, GivesEveryProblemOfTheServiceItsOwnMediaTypeAsWell) {
  for (const JsonMember& response : find("#/components/responses")->members()) {
    const std::string at = "#/components/responses/" + std::string(response.name);
    const auto schema = find(at + "/content/application~1json/schema/properties/request_id");
    if (!schema || !find(at + "/headers/X-Request-Id")) continue;
    EXPECT_TRUE(find(at + "/content/application~1problem+json/schema/properties/request_id")) << at;
    EXPECT_TRUE(find(at + "/headers/Vary")) << at;
  }
}

TEST_F(OpenApiTest, NamesOnlyProblemTypesAndReasonsThatAreDocumented) {
  const std::string documentation = read_file("docs/api.md");
  for (const std::string& type : texts("#/components/schemas/Problem/properties/type/enum")) {
    EXPECT_THAT(documentation, HasSubstr("`" + type.substr(type.rfind(':') + 1) + "`"));
  }
  for (const std::string& reason : texts("#/components/schemas/Why/properties/reason/enum")) {
    EXPECT_THAT(documentation, HasSubstr("`" + reason + "`"));
  }
}

TEST(DocumentationTest, HasASectionForEveryRouteInTheOrderOfTheTable) {
  std::vector<std::string> routes;
  for (const http::Route& route : all_routes()) {
    routes.push_back(std::string(route.method) + " " + std::string(route.path));
  }
  std::vector<std::string> sections;
  for (const std::string& line : lines_of(read_file("docs/api.md"))) {
    const auto is_of = [&](const std::string& method) { return line.starts_with("### " + method + " "); };
    if (is_of("GET") || is_of("POST") || is_of("PUT") || is_of("PATCH") || is_of("DELETE"))
      sections.push_back(line.substr(4));
  }

  EXPECT_THAT(sections, ElementsAreArray(routes));
}

TEST(DocumentationTest, ShowsTheLifecycleOfTheCode) {
  std::string table;
  for (const std::string& line : lines_of(read_file("src/model/lifecycle.h"))) {
    if (line.starts_with("//   ")) table += line.substr(5) + "\n";
  }
  ASSERT_THAT(table, HasSubstr("publish"));

  EXPECT_THAT(read_file("docs/lifecycle.md"), HasSubstr(table));
}

}  // namespace
}  // namespace eventq
