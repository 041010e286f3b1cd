// cloud_events_test.cc: how a CloudEvent becomes an event, and that it is returned as it was sent.
//
// The examples are from the CloudEvents 1.0.2 specification (JSON format and HTTP binding), with real base64
// text in place of "... base64 encoded string ...".
#include "wire/cloud_events.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/time_text.h"
#include "eventq/limits.h"
#include "model/lifecycle.h"
#include "model/policy.h"

namespace eventq::wire {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;
using Members = std::map<std::string, std::string>;  // each value as JSON

class CloudEvents : public testing::Test {
 protected:
  JsonValue json(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *value : JsonValue();
  }

  // The members of an object that are not null.
  Members members(std::string_view text) {
    Members found;
    for (const auto& [name, value] : json(text).members()) {
      if (value.type() != JsonType::null) found.emplace(name, value.raw());
    }
    return found;
  }

  Result<NewEvent> parse(std::string_view text) { return parse_cloud_event(json(text)); }

  // A CloudEvent with the required attributes and `more`, such as R"(,"subject":"s")".
  Result<NewEvent> parse_with(const std::string& more) {
    return parse(R"({"specversion":"1.0","type":"t","source":"/s","id":"1")" + more + "}");
  }

  Result<NewEvent> parse_binary(Headers more, std::string_view content_type, std::string_view body) {
    Headers headers = {{"specversion", "1.0"}, {"type", "t"}, {"source", "/s"}, {"id", "1"}};
    headers.insert(headers.end(), more.begin(), more.end());
    return parse_binary_cloud_event(headers, content_type, body, parser_);
  }

  static Event admitted(NewEvent event) {
    const std::string event_id = event.event_id.empty() ? "evt_1" : event.event_id;
    return admit(std::move(event), event_id, now(), {.max_retries = 3, .max_attempts = 5});
  }

  // The CloudEvent that is written for an event.
  std::string returned(const Result<NewEvent>& event) {
    EXPECT_TRUE(event.has_value()) << event.error().message;
    std::string out;
    JsonWriter writer(out);
    if (event) write_cloud_event(writer, admitted(*event));
    return out;
  }

  void expect_same(std::string_view text) {
    EXPECT_EQ(members(returned(parse(text))), members(text)) << text;
  }

  static TimePoint now() { return *parse_iso_time("2025-12-24T10:30:00Z"); }

  JsonParser parser_;
};

// ---- Round trips

TEST_F(CloudEvents, AnEventWithBase64DataIsReturnedAsItWasSent) {
  expect_same(R"({"specversion" : "1.0", "type" : "com.example.someevent", "source" : "/mycontext",
    "id" : "A234-1234-1234", "time" : "2018-04-05T17:31:00Z", "comexampleextension1" : "value",
    "comexampleothervalue" : 5, "datacontenttype" : "application/vnd.apache.thrift.binary",
    "data_base64" : "AAEC/w=="})");
}

TEST_F(CloudEvents, AnEventWithXmlDataIsReturnedWithoutItsUnsetExtension) {
  const std::string sent =
      R"({"specversion" : "1.0", "type" : "com.example.someevent", "source" : "/mycontext",
    "id" : "B234-1234-1234", "time" : "2018-04-05T17:31:00Z", "comexampleextension1" : "value",
    "comexampleothervalue" : 5, "unsetextension": null, "datacontenttype" : "application/xml",
    "data" : "<much wow=\"xml\"/>"})";

  expect_same(sent);
  EXPECT_EQ(returned(parse(sent)).find("unsetextension"), std::string::npos);
}

TEST_F(CloudEvents, AnEventWithJsonDataIsReturnedAsItWasSent) {
  expect_same(R"({"specversion" : "1.0", "type" : "com.example.someevent", "source" : "/mycontext",
    "subject": null, "id" : "C234-1234-1234", "time" : "2018-04-05T17:31:00Z",
    "comexampleextension1" : "value", "comexampleothervalue" : 5, "datacontenttype" : "application/json",
    "data" : { "appinfoA" : "abc", "appinfoB" : 123, "appinfoC" : true } })");
}

TEST_F(CloudEvents, AnEventWithoutAContentTypeIsReturnedWithoutOne) {
  expect_same(R"({"specversion" : "1.0", "type" : "com.example.someevent", "source" : "/mycontext",
    "subject": null, "id" : "D234-1234-1234", "time" : "2018-04-05T17:31:00Z",
    "comexampleextension1" : "value", "comexampleothervalue" : 5, "data" : "I'm just a string"})");
}

TEST_F(CloudEvents, EachKindOfValueIsReturnedAsItWasSent) {
  const std::string_view cases[] = {
      R"(,"yes":true,"no":false,"least":-2147483648,"most":2147483647,"empty":"","0":"digit")",
      R"(,"tags":" b , a,b","queue":"main","priority":0,"maxretries":3,"description":"d")",
      R"(,"tags":"a","queue":"q","priority":"-7","maxretries":"0")",
      R"(,"partitionkey":"p q","supersedekey":"s","correlationid":"c","causationid":"x")",
      R"(,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b")",
      R"(,"traceparent":"not one")",
      R"(,"subject":"s","dataschema":"https://example.com/s#1","datacontenttype":"text/plain","data":"hi")",
      R"(,"time":"2018-04-05T19:31:00.123456789+02:00")",
      R"(,"data":null)",
      R"(,"data":{"n": 1.0, "big": 1e400})",
      R"(,"data_base64":"")",
      R"(,"data":1,"data_base64":null)",
      R"(,"traceid":"t","subject":"\u00e9\"\\")",
      "",
  };
  for (const std::string_view more : cases) {
    expect_same(R"({"specversion":"1.0","type":"t","source":"/s","id":"1")" + std::string(more) + "}");
  }
}

TEST_F(CloudEvents, DataThatIsNullIsNotTheSameAsNoData) {
  EXPECT_EQ(returned(parse_with(R"(,"data":null)")),
            R"({"specversion":"1.0","type":"t","source":"/s","id":"1","data":null})");
  EXPECT_EQ(returned(parse_with("")), R"({"specversion":"1.0","type":"t","source":"/s","id":"1"})");
}

TEST_F(CloudEvents, ABatchIsReturnedAsItWasSent) {
  const std::string first = R"({"specversion" : "1.0", "type" : "com.example.someevent",
    "source" : "/mycontext/4", "id" : "B234-1234-1234", "time" : "2018-04-05T17:31:00Z",
    "comexampleextension1" : "value", "comexampleothervalue" : 5,
    "datacontenttype" : "application/vnd.apache.thrift.binary", "data_base64" : "aGk="})";
  const std::string second = R"({"specversion" : "1.0", "type" : "com.example.someotherevent",
    "source" : "/mycontext/9", "id" : "C234-1234-1234", "time" : "2018-04-05T17:31:05Z",
    "comexampleextension1" : "value", "comexampleothervalue" : 5, "datacontenttype" : "application/json",
    "data" : { "appinfoA" : "abc", "appinfoB" : 123, "appinfoC" : true } })";

  const auto events = parse_cloud_events(json("[" + first + "," + second + "]"));

  ASSERT_TRUE(events.has_value()) << events.error().message;
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ(members(returned((*events)[0])), members(first));
  EXPECT_EQ(members(returned((*events)[1])), members(second));
}

TEST_F(CloudEvents, ABinaryEventIsReturnedInTheJsonFormat) {
  const Headers headers = {
      {"specversion", "1.0"},   {"type", "com.example.someevent"},   {"time", "2018-04-05T03:56:24Z"},
      {"id", "1234-1234-1234"}, {"source", "/mycontext/subcontext"}, {"comexampleothervalue", "5"},
      {"priority", "5"}};

  const auto event =
      parse_binary_cloud_event(headers, "application/json; charset=utf-8", "\n{\"a\" : 1}\n", parser_);

  EXPECT_EQ(members(returned(event)), (Members{{"specversion", R"("1.0")"},
                                               {"type", R"("com.example.someevent")"},
                                               {"time", R"("2018-04-05T03:56:24Z")"},
                                               {"id", R"("1234-1234-1234")"},
                                               {"source", R"("/mycontext/subcontext")"},
                                               {"comexampleothervalue", R"("5")"},
                                               {"priority", "5"},
                                               {"datacontenttype", R"("application/json; charset=utf-8")"},
                                               {"data", R"({"a" : 1})"}}));
}

TEST_F(CloudEvents, ACopyWithItsOwnEventIdIsAnotherCloudEvent) {
  Event event = admitted(*parse_with(""));
  event.event_id = "evt_2";
  std::string out;
  JsonWriter writer(out);

  write_cloud_event(writer, event);

  EXPECT_EQ(out, R"({"specversion":"1.0","type":"t","source":"/s","id":"evt_2"})");
}

// ---- Attributes to fields

TEST_F(CloudEvents, AttributesBecomeFields) {
  const auto event = parse_with(
      R"(,"subject":"Invoice 7","time":"2018-04-05T17:31:00Z","data":{"n": 1.0},"tags":"a, b","queue":"q",
      "priority":-3,"maxretries":7,"description":"d","partitionkey":"p","supersedekey":"k",
      "correlationid":"c","causationid":"x",
      "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->title, "Invoice 7");
  EXPECT_EQ(event->pattern, "t");
  EXPECT_EQ(event->source, (Source{"cloudevents", "/s", ""}));
  EXPECT_EQ(event->event_id, "/s#1");
  EXPECT_EQ(event->timestamp, parse_iso_time("2018-04-05T17:31:00Z"));
  EXPECT_EQ(event->payload, R"({"n": 1.0})");
  EXPECT_EQ(event->tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(event->queue, "q");
  EXPECT_EQ(event->priority, -3);
  EXPECT_EQ(event->max_retries, 7);
  EXPECT_EQ(event->description, "d");
  EXPECT_EQ(event->ordering_key, "p");
  EXPECT_EQ(event->supersede_key, "k");
  EXPECT_EQ(event->correlation_id, "c");
  EXPECT_EQ(event->causation_id, "x");
  EXPECT_EQ(event->trace_id, "0af7651916cd43dd8448eb211c80319c");
}

TEST_F(CloudEvents, AbsentAndNullAttributesHaveTheirDefaults) {
  const auto event = parse_with(R"(,"subject":null,"time":null,"priority":null,"queue":null,"tags":null)");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->title, "t");
  EXPECT_EQ(event->tags, std::vector<std::string>{"t"});
  EXPECT_EQ(event->queue, "main");
  EXPECT_EQ(event->priority, 0);
  EXPECT_EQ(event->payload, "null");
  EXPECT_FALSE(event->timestamp.has_value());
  EXPECT_FALSE(event->max_retries.has_value());
  EXPECT_FALSE(event->description.has_value());
  EXPECT_EQ(event->attributes, R"({"data":"none","id":"1"})");
}

TEST_F(CloudEvents, Base64DataIsThePayloadAsAString) {
  const auto event = parse_with(R"(,"data_base64":"aGk=")");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->payload, R"("aGk=")");
}

TEST_F(CloudEvents, TheSameIdFromTwoSourcesIsTwoEvents) {
  const auto id_of = [&](const std::string& source, const std::string& id) {
    const auto event =
        parse(R"({"specversion":"1.0","type":"t","source":")" + source + R"(","id":")" + id + R"("})");
    EXPECT_TRUE(event.has_value()) << event.error().message;
    return event ? event->event_id : "";
  };

  EXPECT_EQ(id_of("/a", "1"), "/a#1");
  EXPECT_EQ(id_of("/b", "1"), "/b#1");
  // Joined without a check, both would be /a#b#1.
  EXPECT_EQ(id_of("/a", "b#1"), "/a#b#1");
  EXPECT_EQ(id_of("/a#b", "1"), "ce_" + fingerprint({"/a#b", "1"}));
  EXPECT_EQ(id_of("/a", "1 2"), "ce_" + fingerprint({"/a", "1 2"}));
  EXPECT_EQ(id_of("/a", "é"), "ce_" + fingerprint({"/a", "é"}));
  EXPECT_EQ(id_of("/a", std::string(124, 'x')), "/a#" + std::string(124, 'x'));
  EXPECT_EQ(id_of("/a", std::string(125, 'x')), "/a#" + std::string(125, 'x'));
  EXPECT_EQ(id_of("/a", std::string(126, 'x')), "ce_" + fingerprint({"/a", std::string(126, 'x')}));
}

TEST_F(CloudEvents, AnIdThatCannotBeAnEventIdIsReturnedAsItWasSent) {
  expect_same(R"({"specversion":"1.0","type":"t","source":"/a#b","id":"1"})");
  expect_same(R"({"specversion":"1.0","type":"t","source":"/a","id":"é 1"})");
  expect_same(R"({"specversion":"1.0","type":"t","source":"/a","id":")" + std::string(1000, 'x') + "\"}");
}

TEST_F(CloudEvents, ALongSubjectIsCutOnlyInTheTitle) {
  for (const std::size_t size : {199U, 200U, 201U}) {
    std::string subject;
    for (std::size_t i = 0; i < size; ++i) subject += "é";
    const std::string more = ",\"subject\":\"" + subject + "\"";

    const auto event = parse_with(more);

    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->title, subject.substr(0, 400));
    EXPECT_EQ(members(returned(event)).at("subject"), "\"" + subject + "\"");
  }
}

TEST_F(CloudEvents, WithoutTagsTheTypeIsTheTag) {
  const std::pair<std::string, std::string> cases[] = {
      {"com.example.v2/a:b@c-d_e", "com.example.v2/a:b@c-d_e"},
      {"order placed, é!", "order-placed----"},
      {std::string(63, 'x'), std::string(63, 'x')},
      {std::string(64, 'x'), std::string(64, 'x')},
      {std::string(65, 'x'), std::string(64, 'x')},
  };
  for (const auto& [type, tag] : cases) {
    const auto event = parse(R"({"specversion":"1.0","source":"/s","id":"1","type":")" + type + "\"}");
    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->tags, std::vector<std::string>{tag});
    EXPECT_EQ(event->pattern, type);
  }
}

TEST_F(CloudEvents, TimesHaveAnyOffsetAndAnyPrecision) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"2018-04-05T17:31:00Z", "2018-04-05T17:31:00.000Z"},
      {"2018-04-05t17:31:00z", "2018-04-05T17:31:00.000Z"},
      {"2018-04-05T17:31:00.5Z", "2018-04-05T17:31:00.500Z"},
      {"2018-04-05T17:31:00.123999999Z", "2018-04-05T17:31:00.123Z"},
      {"2018-04-05T17:31:00+02:30", "2018-04-05T15:01:00.000Z"},
      {"2018-04-05T17:31:00.25-07:00", "2018-04-06T00:31:00.250Z"},
      {"2018-04-05T17:31:00-00:00", "2018-04-05T17:31:00.000Z"},
      {"2018-04-05T17:31:00+23:59", "2018-04-04T17:32:00.000Z"},
  };
  for (const auto& [sent, utc] : cases) {
    const auto event = parse_with(",\"time\":\"" + std::string(sent) + "\"");
    ASSERT_TRUE(event.has_value()) << sent;
    EXPECT_EQ(event->timestamp, parse_iso_time(utc)) << sent;
  }
}

TEST_F(CloudEvents, ABadTimeIsRefused) {
  for (const std::string_view sent :
       {"2018-04-05", "2018-04-05T17:31:00", "2018-04-05T17:31Z", "2018-04-05 17:31:00Z",
        "2018-02-30T17:31:00Z", "2018-04-05T24:00:00Z", "2018-04-05T17:31:00.Z", "2018-04-05T17:31:00.1",
        "2018-04-05T17:31:00+0200", "2018-04-05T17:31:00+24:00", "2018-04-05T17:31:00+02:60",
        "2018-04-05T17:31:00*02:00", "2018-04-05T17:31:00Z ", "2018-04-05T17:31:00ZZ", "yesterday"}) {
    const auto event = parse_with(",\"time\":\"" + std::string(sent) + "\"");
    ASSERT_FALSE(event.has_value()) << sent;
    EXPECT_EQ(event.error().field, "time") << sent;
  }
}

TEST_F(CloudEvents, AMalformedTraceparentGivesNoTrace) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::pair<std::string, std::string> cases[] = {
      {"00-" + trace + "-b7ad6b7169203331-01", trace},
      {"cc-" + trace + "-b7ad6b7169203331-01-what-later-versions-add", trace},
      {"00-" + trace + "-b7ad6b7169203331-01-more", ""},
      {"cc-" + trace + "-b7ad6b7169203331-01.more", ""},
      {"ff-" + trace + "-b7ad6b7169203331-01", ""},
      {"0x-" + trace + "-b7ad6b7169203331-01", ""},
      {"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", ""},
      {"00-" + std::string(32, '0') + "-b7ad6b7169203331-01", ""},
      {"00-" + trace + "-0000000000000000-01", ""},
      {"00-" + trace + "-b7ad6b716920333g-01", ""},
      {"00-" + trace + "-b7ad6b7169203331-0g", ""},
      {"00_" + trace + "-b7ad6b7169203331-01", ""},
      {"00-" + trace + "_b7ad6b7169203331-01", ""},
      {"00-" + trace + "-b7ad6b7169203331_01", ""},
      {"00-" + trace + "-b7ad6b7169203331-0", ""},
  };
  for (const auto& [sent, expected] : cases) {
    const auto event = parse_with(",\"traceparent\":\"" + sent + "\"");
    ASSERT_TRUE(event.has_value()) << sent;
    EXPECT_EQ(event->trace_id, expected) << sent;
  }
}

TEST_F(CloudEvents, AttributesOfADeliveryAreNotPublishedAgain) {
  const auto event =
      parse_with(R"(,"eventqid":"7","eventqattempt":2,"eventqleaseuntil":"2025-12-24T10:30:00.000Z")");

  EXPECT_EQ(returned(event), R"({"specversion":"1.0","type":"t","source":"/s","id":"1"})");
}

// ---- Errors

TEST_F(CloudEvents, ARefusalNamesTheBadAttribute) {
  const struct {
    std::string_view body;
    std::string_view field;
  } cases[] = {
      {R"([])", ""},
      {R"({"type":"t","source":"/s","id":"1"})", "specversion"},
      {R"({"specversion":"0.3","type":"t","source":"/s","id":"1"})", "specversion"},
      {R"({"specversion":1.0,"type":"t","source":"/s","id":"1"})", "specversion"},
      {R"({"specversion":"1.0","source":"/s","id":"1"})", "type"},
      {R"({"specversion":"1.0","type":"","source":"/s","id":"1"})", "type"},
      {R"({"specversion":"1.0","type":"t","id":"1"})", "source"},
      {R"({"specversion":"1.0","type":"t","source":"","id":"1"})", "source"},
      {R"({"specversion":"1.0","type":"t","source":"/s"})", "id"},
      {R"({"specversion":"1.0","type":"t","source":"/s","id":null})", "id"},
      {R"({"specversion":"1.0","type":"t","source":"/s","id":7})", "id"},
      {R"({"specversion":"1.0","type":"t","source":"/s","id":"a\nb"})", "id"},
  };
  for (const auto& [body, field] : cases) {
    const auto event = parse(body);
    ASSERT_FALSE(event.has_value()) << body;
    EXPECT_EQ(event.error().code, ErrorCode::invalid_argument) << body;
    EXPECT_EQ(event.error().field, field) << body;
  }
}

TEST_F(CloudEvents, AnOptionalAttributeIsChecked) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"("subject":"")", "subject"},
      {R"("subject":true)", "subject"},
      {R"("subject":"a\u0000b")", "subject"},
      {R"("dataschema":"")", "dataschema"},
      {R"("datacontenttype":5)", "datacontenttype"},
      {R"("camelCase":"v")", "camelCase"},
      {R"("with_underscore":"v")", "with_underscore"},
      {R"("with-hyphen":null)", "with-hyphen"},
      {R"("":"v")", ""},
      {R"("ext":{})", "ext"},
      {R"("ext":["a"])", "ext"},
      {R"("ext":1.5)", "ext"},
      {R"("ext":1e3)", "ext"},
      {R"("ext":2147483648)", "ext"},
      {R"("ext":-2147483649)", "ext"},
      {R"("ext":"a\tb")", "ext"},
      {R"("tags":["a"])", "tags"},
      {R"("tags":"a b")", "tags"},
      {R"("tags":"a,,b")", "tags"},
      {R"("queue":"")", "queue"},
      {R"("queue":"a b")", "queue"},
      {R"("priority":"high")", "priority"},
      {R"("priority":true)", "priority"},
      {R"("priority":1000001)", "priority"},
      {R"("maxretries":-1)", "maxretries"},
      {R"("maxretries":1001)", "maxretries"},
      {R"("partitionkey":5)", "partitionkey"},
      {R"("supersedekey":"")", "supersedekey"},
      {R"("correlationid":"a b")", "correlationid"},
      {R"("causationid":"a b")", "causationid"},
      {R"("data":1,"data_base64":"aGk=")", "data_base64"},
      {R"("data_base64":"aGk=","data":null)", "data"},
      {R"("data_base64":5)", "data_base64"},
      {R"("data_base64":"aGk")", "data_base64"},
      {R"("data_base64":"a===")", "data_base64"},
      {R"("data_base64":"aG-_")", "data_base64"},
      {R"("data_base64":"aG k")", "data_base64"},
  };
  for (const auto& [more, field] : cases) {
    const auto event = parse_with("," + std::string(more));
    ASSERT_FALSE(event.has_value()) << more;
    EXPECT_EQ(event.error().code, ErrorCode::invalid_argument) << more;
    EXPECT_EQ(event.error().field, field) << more;
  }
}

TEST_F(CloudEvents, ARefusalSaysWhatWouldBeRight) {
  EXPECT_EQ(parse_with(R"(,"camelCase":"v")").error().message,
            "\"camelCase\" cannot be an attribute of a CloudEvent: names are made of a-z and 0-9, and "
            "\"data\" is none.");
  EXPECT_EQ(parse_with(R"(,"correlationid":"a b")").error().message,
            "correlationid must be visible ASCII without spaces.");
  EXPECT_EQ(parse_with(R"(,"ext":{})").error().message,
            "ext must be a string, true, false or a whole number of 32 bits: a CloudEvent's attributes have "
            "no other values.");
}

TEST_F(CloudEvents, TypeAndSourceHaveTheLimitsOfTheirFields) {
  const auto error_of = [&](const std::string& type, const std::string& source) {
    const auto event =
        parse(R"({"specversion":"1.0","id":"1","type":")" + type + R"(","source":")" + source + "\"}");
    return event ? "" : event.error().field + ": " + event.error().message;
  };

  EXPECT_EQ(error_of(std::string(199, 't'), std::string(199, 's')), "");
  EXPECT_EQ(error_of(std::string(200, 't'), std::string(200, 's')), "");
  EXPECT_EQ(error_of(std::string(201, 't'), "/s"), "type: type has 201 bytes; at most 200 are allowed.");
  EXPECT_EQ(error_of("t", std::string(201, 's')), "source: source has 201 bytes; at most 200 are allowed.");
}

TEST_F(CloudEvents, StoredAttributesHaveALimit) {
  // {"data":"none","id":"1","ext":"..."} has 33 characters beside the value.
  const auto parsed = [&](std::size_t kept) {
    return parse_with(",\"ext\":\"" + std::string(kept - 33, 'x') + "\"");
  };

  EXPECT_TRUE(parsed(limits::kAttributes - 1).has_value());
  ASSERT_TRUE(parsed(limits::kAttributes).has_value());
  EXPECT_EQ(parsed(limits::kAttributes)->attributes.size(), limits::kAttributes);
  ASSERT_FALSE(parsed(limits::kAttributes + 1).has_value());
  EXPECT_EQ(parsed(limits::kAttributes + 1).error().code, ErrorCode::too_large);
}

TEST_F(CloudEvents, DataHasTheLimitOfAPayload) {
  const auto parsed = [&](std::size_t size) {
    return parse_with(",\"data\":\"" + std::string(size - 2, 'x') + "\"");
  };

  EXPECT_TRUE(parsed(limits::kPayload - 1).has_value());
  EXPECT_TRUE(parsed(limits::kPayload).has_value());
  const auto refused = parsed(limits::kPayload + 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_EQ(refused.error().message, "data has 1048577 bytes; at most 1048576 are allowed.");
}

TEST_F(CloudEvents, ABatchHasOneToTenThousand) {
  const auto parsed = [&](std::size_t count) {
    std::string body = "[";
    for (std::size_t i = 0; i < count; ++i) {
      body += std::string(i > 0 ? "," : "") + R"({"specversion":"1.0","type":"t","source":"/s","id":"1"})";
    }
    return parse_cloud_events(json(body + "]"));
  };

  EXPECT_EQ(parsed(0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parsed(1)->size(), 1U);
  EXPECT_EQ(parsed(9'999)->size(), 9'999U);
  EXPECT_EQ(parsed(10'000)->size(), 10'000U);
  EXPECT_EQ(parsed(10'001).error().code, ErrorCode::too_large);
}

TEST_F(CloudEvents, ABatchSaysWhichOfItsEventsIsWrong) {
  const auto missing = parse_cloud_events(
      json(R"([{"specversion":"1.0","type":"t","source":"/s","id":"1"},{"specversion":"1.0"}])"));
  const auto no_object = parse_cloud_events(json("[7]"));
  const auto no_array = parse_cloud_events(json(R"({"specversion":"1.0"})"));

  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().field, "[1].id");
  EXPECT_EQ(missing.error().message,
            "[1]: id is missing; a CloudEvent has specversion, id, source and type.");
  ASSERT_FALSE(no_object.has_value());
  EXPECT_EQ(no_object.error().field, "[0]");
  ASSERT_FALSE(no_array.has_value());
  EXPECT_EQ(no_array.error().message, "A batch of CloudEvents is a JSON array.");
}

// ---- Binary mode

TEST_F(CloudEvents, ABinaryBodyIsReadByItsContentType) {
  const struct {
    std::string_view content_type;
    std::string_view body;
    std::string_view data;  // the member that is written for it
  } cases[] = {
      {"application/json", R"( {"a": 1.0} )", R"("data":{"a": 1.0}})"},
      {"Application/JSON ; charset=utf-8", R"("I'm just a string")", R"("data":"I'm just a string"})"},
      {"application/vnd.example+json", "7", R"("data":7})"},
      {"text/json", "null", R"("data":null})"},
      {"application/xml", "<much wow=\"xml\"/>", R"("data":"<much wow=\"xml\"/>"})"},
      {"text/plain; charset=UTF-8", "\xC3\xA9\n", "\"data\":\"\xC3\xA9\\n\"}"},
      {"text/plain;charset=\"us-ascii\"; format=flowed", "hi", R"("data":"hi"})"},
      {"application/jsonlines", "{}", R"("data":"{}"})"},
      {"image/png", "\xFF\xFE", R"("data_base64":"//4="})"},
      {"image/png", "\xFF\xFE\xFD", R"("data_base64":"//79"})"},
      {"image/png", "\xFF", R"("data_base64":"/w=="})"},
      {"text/plain; charset=iso-8859-1", "\xE9t\xE9", R"("data_base64":"6XTp"})"},
      {"text/plain; charset=utf-16le", std::string_view("h\0i\0", 4), R"("data_base64":"aABpAA=="})"},
  };
  for (const auto& [content_type, body, data] : cases) {
    const auto event = parse_binary({}, content_type, body);
    const std::string out = returned(event);
    EXPECT_TRUE(out.ends_with("," + std::string(data))) << out;
    std::string quoted;
    append_json_string(quoted, content_type);
    EXPECT_EQ(members(out).at("datacontenttype"), quoted);
  }
}

TEST_F(CloudEvents, ABinaryEventWithoutABodyHasNoData) {
  const auto event = parse_binary({}, "", "");
  const auto typed = parse_binary({}, "application/json", "");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->payload, "null");
  EXPECT_EQ(returned(event), R"({"specversion":"1.0","type":"t","source":"/s","id":"1"})");
  EXPECT_EQ(
      returned(typed),
      R"({"specversion":"1.0","type":"t","source":"/s","id":"1","datacontenttype":"application/json"})");
}

TEST_F(CloudEvents, ABodyWithoutAContentTypeIsNotReadAsJson) {
  const auto event = parse_binary({}, "", "{}");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->payload, R"("{}")");
  EXPECT_EQ(members(returned(event)).at("datacontenttype"), R"("application/octet-stream")");
}

TEST_F(CloudEvents, HeaderValuesAreUnquotedAndThenDecodedOnce) {
  const std::pair<std::string, std::string> cases[] = {
      {"Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"},
      {"%e2%82%ac", "€"},
      {"%41", "A"},
      {"%2541", "%41"},
      {"a+b", "a+b"},
      {R"("a \"b\" \\ c")", R"(a "b" \ c)"},
      {R"("%41")", "A"},
      {R"(a"b)", R"(a"b)"},
      {R"(")", R"(")"},
      {R"("a\")", R"(a\)"},
  };
  for (const auto& [sent, subject] : cases) {
    const auto event = parse_binary({{"subject", sent}}, "", "");
    ASSERT_TRUE(event.has_value()) << sent << ": " << event.error().message;
    EXPECT_EQ(event->title, subject) << sent;
  }
}

TEST_F(CloudEvents, HeaderNamesHaveNoCase) {
  const auto event = parse_binary({{"Subject", "s"}, {"MaxRetries", "7"}}, "", "");

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->title, "s");
  EXPECT_EQ(event->max_retries, 7);
}

TEST_F(CloudEvents, ARefusedHeaderIsNamed) {
  const struct {
    std::string_view name;
    std::string_view value;
    std::string_view field;
  } cases[] = {
      {"subject", "%", "subject"},
      {"subject", "%4", "subject"},
      {"subject", "%zz", "subject"},
      {"subject", "%C0%A0", "subject"},
      {"subject", "\xFF", "subject"},
      {"subject", "%00", "subject"},
      {"subject", "%0A", "subject"},
      {"subject", "", "subject"},
      {"ID", "2", "id"},
      {"datacontenttype", "text/plain", "datacontenttype"},
      {"data", "x", "data"},
      {"data_base64", "aGk=", "data_base64"},
      {"my-ext", "x", "my-ext"},
      {"", "x", ""},
      {"priority", "1.5", "priority"},
      {"priority", "+1", "priority"},
      {"maxretries", "", "maxretries"},
      {"priority", "9999999999", "priority"},
  };
  for (const auto& [name, value, field] : cases) {
    const auto event = parse_binary({{std::string(name), std::string(value)}}, "", "");
    ASSERT_FALSE(event.has_value()) << name << ": " << value;
    EXPECT_EQ(event.error().code, ErrorCode::invalid_argument) << name << ": " << value;
    EXPECT_EQ(event.error().field, field) << name << ": " << value;
  }
}

TEST_F(CloudEvents, ABodyOfAJsonTypeThatIsNotJsonIsRefused) {
  EXPECT_FALSE(parse_binary({}, "application/json", "I'm just a string").has_value());
  EXPECT_FALSE(parse_binary({}, "application/json", R"({"a":1,"a":2})").has_value());
  EXPECT_FALSE(parse_binary({}, "application/json", "\"\xFF\"").has_value());
  EXPECT_FALSE(parse_binary({}, "text/\xFF", "hi").has_value());
}

// ---- Writing

TEST_F(CloudEvents, ANativeEventIsACloudEventMadeOfItsFields) {
  NewEvent event;
  event.title = "Send\nmail";
  event.tags = {"email", "high"};
  event.payload = R"({"to": 1})";
  event.queue = "q";
  event.priority = 5;
  event.correlation_id = "c";
  event.causation_id = "x";
  event.trace_id = "t1";
  event.pattern = "mail.wanted";
  event.source = {"workflow", "wf-7", "Seven"};
  event.timestamp = parse_iso_time("2025-12-24T09:00:00Z");
  event.ordering_key = "p";
  event.supersede_key = "k";
  std::string out;
  JsonWriter writer(out);

  write_cloud_event(writer, admitted(event));

  EXPECT_EQ(out,
            R"({"specversion":"1.0","type":"mail.wanted","source":"wf-7","id":"evt_1","subject":"Send mail",)"
            R"("time":"2025-12-24T09:00:00.000Z","datacontenttype":"application/json","tags":"email,high",)"
            R"("queue":"q","priority":5,"partitionkey":"p","supersedekey":"k","correlationid":"c",)"
            R"("causationid":"x","traceid":"t1","data":{"to": 1}})");
}

TEST_F(CloudEvents, ANativeEventWithoutSourceAndPatternGetsDefaults) {
  NewEvent event;
  event.title = "mail";
  event.tags = {"email"};
  std::string out;
  JsonWriter writer(out);

  write_cloud_event(writer, admitted(event));

  EXPECT_EQ(out, R"({"specversion":"1.0","type":"eventq.event","source":"/queues/main","id":"evt_1",)"
                 R"("subject":"mail","time":"2025-12-24T10:30:00.000Z","datacontenttype":"application/json",)"
                 R"("tags":"email","queue":"main","data":null})");
  EXPECT_TRUE(parse(out).has_value());
}

TEST_F(CloudEvents, AttributesThatCannotBeReadLeaveANativeEvent) {
  for (const std::string_view attributes : {"{", "[]", "7"}) {
    Event event = admitted(*parse_with(""));
    event.attributes = attributes;
    std::string out;
    JsonWriter writer(out);

    write_cloud_event(writer, event);

    EXPECT_EQ(members(out).at("id"), R"("/s#1")");
    EXPECT_EQ(members(out).at("tags"), R"("t")");
  }
}

TEST_F(CloudEvents, AClaimCarriesTheAttributesThatAReportNeeds) {
  NewEvent native;
  native.title = "mail";
  native.tags = {"email"};
  std::vector<Claim> claims = {{admitted(*parse_with(R"(,"data":[1])")), now() + std::chrono::minutes(5)},
                               {admitted(native), now()}};
  claims[0].event.id = static_cast<EventId>(9007199254740991);
  claims[0].event.attempts = 2;
  std::string one;
  JsonWriter one_writer(one);
  std::string all;
  JsonWriter all_writer(all);

  write_cloud_event(one_writer, claims[0]);
  write_cloud_events(all_writer, claims);

  EXPECT_EQ(one, R"({"specversion":"1.0","type":"t","source":"/s","id":"1","eventqid":"9007199254740991",)"
                 R"("eventqattempt":2,"eventqleaseuntil":"2025-12-24T10:35:00.000Z","data":[1]})");
  EXPECT_TRUE(all.starts_with("[" + one + R"(,{"specversion":"1.0","type":"eventq.event",)")) << all;
  EXPECT_EQ(json(all).elements().size(), 2U);
  EXPECT_NE(all.find(R"("eventqattempt":0,"eventqleaseuntil":"2025-12-24T10:30:00.000Z","data":null}])"),
            std::string::npos);
}

TEST_F(CloudEvents, NoClaimsAreAnEmptyBatch) {
  std::string out;
  JsonWriter writer(out);

  write_cloud_events(writer, std::vector<Claim>());

  EXPECT_EQ(out, "[]");
}

TEST_F(CloudEvents, ACloudEventsOwnTraceparentIsReturnedUnchanged) {
  expect_same(
      R"({"specversion":"1.0","type":"t","source":"/s","id":"1","data":1,"tracestate":"a=b","publishedby":"Ada",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})");
}

TEST_F(CloudEvents, ATraceparentOfAHeaderIsAnAttributeOfTheCloudEvent) {
  auto event = parse_with(R"(,"data":1,"traceparent":"bad")");
  ASSERT_TRUE(event.has_value());
  event->traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  event->tracestate = "a=b";

  EXPECT_EQ(
      returned(event),
      R"({"specversion":"1.0","type":"t","source":"/s","id":"1",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b","data":1})");
}

TEST_F(CloudEvents, AnEventOfTheApiWithAContextIsACloudEventWithIt) {
  NewEvent event{.title = "mail", .tags = {"email"}};
  event.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  event.tracestate = "a=b";
  event.published_by = "Ada";
  const Members found = members(returned(event));

  EXPECT_EQ(found.at("type"), R"("eventq.event")");
  EXPECT_EQ(found.at("traceid"), R"("0af7651916cd43dd8448eb211c80319c")");
  EXPECT_EQ(found.at("traceparent"), R"("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")");
  EXPECT_EQ(found.at("tracestate"), R"("a=b")");
  EXPECT_EQ(found.at("publishedby"), R"("Ada")");
}

// ---- Which format

TEST_F(CloudEvents, TheContentTypeDecidesTheFormatBeforeTheHeaders) {
  const struct {
    std::string_view content_type;
    bool has_header;
    std::optional<BodyFormat> format;
  } cases[] = {
      {"application/json", false, BodyFormat::json},
      {"", false, BodyFormat::json},
      {"application/json", true, BodyFormat::cloud_event_binary},
      {"", true, BodyFormat::cloud_event_binary},
      {"image/png", true, BodyFormat::cloud_event_binary},
      {"application/cloudevents+json", false, BodyFormat::cloud_event},
      {"application/cloudevents+json", true, BodyFormat::cloud_event},
      {" Application/CloudEvents+JSON ; charset=UTF-8", false, BodyFormat::cloud_event},
      {"application/cloudevents-batch+json;charset=utf-8", true, BodyFormat::cloud_events},
      {"application/cloudevents+avro", true, std::nullopt},
      {"application/cloudevents", false, std::nullopt},
      {"application/cloudevents-batch+protobuf", false, std::nullopt},
  };
  for (const auto& [content_type, has_header, format] : cases) {
    EXPECT_EQ(body_format(content_type, has_header), format) << content_type;
  }
}

}  // namespace
}  // namespace eventq::wire
