// cli_test.cc: the commands for events, run as a script runs them: stdout, stderr and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "cli_support.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""s;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::StartsWith;

TEST_F(CliTest, PublishPrintsTheStoredEvent) {
  const Finished done = eventq({"publish",
                                "email,urgent",
                                R"({"to":"a@b"})",
                                "--title",
                                "Mail",
                                "--queue",
                                "q1",
                                "--priority",
                                "-5",
                                "--key",
                                "k",
                                "--event-id",
                                "mine",
                                "--correlation",
                                "c1",
                                "--retries",
                                "7",
                                "--pattern",
                                "mail.sent",
                                "--at",
                                "2099-01-31T08:00:00Z"});

  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, IsEmpty());
  struct Case {
    const char* path;
    const char* value;
  };
  for (const Case& row :
       {Case{"id", "1"}, Case{"title", "Mail"}, Case{"tags", "email,urgent"}, Case{"payload.to", "a@b"},
        Case{"queue", "q1"}, Case{"priority", "-5"}, Case{"ordering_key", "k"}, Case{"event_id", "mine"},
        Case{"correlation_id", "c1"}, Case{"max_retries", "7"}, Case{"pattern", "mail.sent"},
        Case{"run_at", "2099-01-31T08:00:00.000Z"}, Case{"status", "PENDING"}}) {
    EXPECT_EQ(member(done.out, row.path), row.value) << row.path;
  }
}

TEST_F(CliTest, PublishTakesThePayloadFromAnArgumentAFileOrStandardInput) {
  std::ofstream(server_.file("payload.json")) << "[1,\n 2]\n";

  EXPECT_EQ(member(eventq({"publish", "a", "[[1],{}]"}).out, "payload"), "[[1],{}]");
  EXPECT_EQ(member(eventq({"publish", "a", "@payload.json"}).out, "payload"), "[1,  2]");
  EXPECT_EQ(member(eventq({"publish", "a", "-"}, "<payload.json").out, "payload"), "[1,  2]");
  EXPECT_EQ(member(eventq({"publish", "a"}).out, "title"), "a");
  EXPECT_EQ(member(eventq({"publish", "a"}).out, "payload"), "");
}

TEST_F(CliTest, PublishRefusesInvalidEvents) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  for (const Case& row : {
           Case{{"a", "{"}, "eventq: the payload is not JSON: a member name"},
           Case{{"a", "hello"},
                "A JSON string needs its own quotes: '\"hello\"'.\nSee eventq publish --help.\n"},
           Case{{"a", "@nowhere.json"},
                "eventq: cannot read the file \"nowhere.json\": No such file or directory\n"},
           Case{{"a", "{\"a\":1,\"a\":2}"},
                "eventq: the payload is not JSON: duplicate member \"a\".\nSee eventq publish --help.\n"},
           Case{{""}, "eventq: TAGS has no first tag; give one or more tags, such as email,urgent\n"},
           Case{{",a"}, "eventq: TAGS has no first tag;"},
           Case{{"a", "--at", "tomorrow"},
                "eventq: --at must be a time in UTC such as 2027-01-31T08:00:00Z, not \"tomorrow\"\n"},
           Case{{"a", "--delay", "soon"}, "eventq: --delay must be a whole number and its unit"},
           Case{{"a", "--delay", "1500ms"}, "eventq: --delay must be whole seconds"},
           Case{{"a", "--delay", "1s", "--at", "2099-01-01T00:00:00Z"}, "give one of them"},
           Case{{"a", "--priority", "high"}, "eventq: --priority must be a whole number, not \"high\"\n"},
           Case{{"a", "--wait=long"}, "eventq: --wait must be a whole number and its unit"},
           Case{{"a", "--title", "\xff"}, "is not UTF-8"},
           Case{{"a", "--key", "\xff"}, "--key is not UTF-8"},
           Case{{"a", "@/"}, "\"/\" is a folder; name a file that holds JSON"},
       }) {
    std::vector<std::string> arguments = row.arguments;
    arguments.insert(arguments.begin(), "publish");
    const Finished done = eventq(arguments);

    EXPECT_EQ(done.exit_code, 2) << row.message;
    EXPECT_THAT(done.err, HasSubstr(row.message));
    EXPECT_THAT(done.out, IsEmpty());
  }
}

TEST_F(CliTest, PrintsTheErrorMessageOfTheServer) {
  const Finished title = eventq({"publish", "a", "--title", ""});
  const Finished tag = eventq({"publish", "not a tag"});

  EXPECT_EQ(title.exit_code, 1);
  EXPECT_THAT(title.err, StartsWith("eventq: "));
  EXPECT_THAT(title.err, HasSubstr("title"));
  EXPECT_EQ(tag.exit_code, 1);
  EXPECT_THAT(tag.err, HasSubstr("tag"));
}

TEST_F(CliTest, TheExitCodeOfPublishAndWaitShowsHowTheEventEnded) {
  struct Case {
    const char* how;
    const char* more;
    int exit_code;
    const char* status;
    const char* err;
  };
  for (const Case& row :
       {Case{"complete", "", 0, "COMPLETED", ""},
        Case{"complete", R"(,"errors":["x"])", 0, "COMPLETED_WITH_ERRORS", ""},
        Case{"fail", R"(,"error_message":"no such user")", 5, "FAILED", " ended FAILED: no such user\n"},
        Case{"cancel", "", 5, "CANCELLED", " ended CANCELLED\n"}}) {
    Process waiting(setup({"publish", "a", "--retries", "0", "--wait"}));
    const std::string id = claim("a");
    if (std::string(row.how) == "cancel") {
      EXPECT_EQ(eventq({"cancel", id}).exit_code, 0);
    } else {
      report(id, row.how, row.more);
    }

    EXPECT_THAT(waiting.wait(60s), Optional(row.exit_code));
    EXPECT_EQ(member(waiting.out(), "id"), id);
    EXPECT_EQ(member(waiting.out(), "status"), row.status);
    EXPECT_THAT(waiting.err(), EndsWith(row.err));
  }
}

TEST_F(CliTest, PublishAndWaitEndsAtItsTimeout) {
  const Finished done = eventq({"publish", "a", "--wait=1s"});

  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(member(done.out, "status"), "PENDING");
  EXPECT_EQ(done.err, "eventq: event 1 has not ended yet. Continue waiting with: eventq wait 1\n");
}

TEST_F(CliTest, TheExitCodeOfWaitShowsHowAllEventsEnded) {
  const std::string done = publish("done");
  const std::string open = publish("open");
  const std::string failed = failed_event("bad", "no");
  EXPECT_EQ(claim("done"), done);
  report(done, "complete");

  EXPECT_EQ(eventq({"wait", done}).exit_code, 0);
  EXPECT_EQ(eventq({"wait", done, failed}).exit_code, 5);
  EXPECT_EQ(eventq({"wait", failed, open, done, "--timeout", "1s"}).exit_code, 3);
  EXPECT_EQ(eventq({"wait", failed, open, "--no-block"}).exit_code, 8);
  EXPECT_EQ(eventq({"wait", done, "--no-block"}).exit_code, 0);
  EXPECT_EQ(eventq({"wait", "999", done}).exit_code, 1);
  EXPECT_EQ(eventq({"wait", done, "--no-block", "--timeout", "1s"}).exit_code, 2);
}

TEST_F(CliTest, WaitReturnsWhenTheEventEnds) {
  const std::string id = publish("a");
  Process waiting(setup({"wait", id}));
  EXPECT_EQ(claim("a"), id);
  report(id, "complete");

  EXPECT_THAT(waiting.wait(60s), Optional(0));
  EXPECT_EQ(member(waiting.out(), "status"), "COMPLETED");
}

TEST_F(CliTest, ListsInEveryFormat) {
  publish("email", {R"({"to":"a,b"})"});
  publish("sms", {"{}"});

  EXPECT_EQ(eventq({"ls", "-o", "id"}).out, "1\n2\n");
  EXPECT_EQ(eventq({"ls", "--fields", "id,tags"}).out,
            "{\"id\":1,\"tags\":\"email\"}\n{\"id\":2,\"tags\":\"sms\"}\n");
  EXPECT_EQ(eventq({"ls", "-o", "json", "--fields", "id"}).out, "[\n{\"id\":1},\n{\"id\":2}\n]\n");
  EXPECT_EQ(eventq({"ls", "-o", "csv", "--fields", "id,payload.to"}).out, "id,payload.to\n1,\"a,b\"\n2,\n");
  EXPECT_EQ(eventq({"ls", "-o", "table", "--fields", "id,status,tags"}).out,
            "ID  STATUS   TAGS\n 1  PENDING  email\n 2  PENDING  sms\n");
  EXPECT_EQ(eventq({"ls", "--queue", "none"}).out, "");
  EXPECT_EQ(eventq({"ls", "--queue", "none"}).exit_code, 0);
  EXPECT_EQ(eventq({"ls", "--queue", "none", "-o", "json"}).out, "[]\n");
}

TEST_F(CliTest, ListsOnlyMatchingEvents) {
  publish("email", {"--queue", "q1", "--correlation", "c1"});
  publish("sms");
  publish("push");
  EXPECT_EQ(claim("sms"), "2");
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ls", "-o", "id"});
    return eventq(arguments).out;
  };

  EXPECT_EQ(ids({"--status", "PROCESSING"}), "2\n");
  EXPECT_EQ(ids({"--tag", "email", "--tag", "push"}), "1\n3\n");
  EXPECT_EQ(ids({"--queue", "q1"}), "1\n");
  EXPECT_EQ(ids({"--worker", "w1"}), "2\n");
  EXPECT_EQ(ids({"--correlation", "c1"}), "1\n");
  EXPECT_EQ(ids({"--limit", "2"}), "1\n2\n");
  EXPECT_EQ(ids({"--after", "2"}), "3\n");
  EXPECT_EQ(ids({"--limit", "1", "--all"}), "1\n2\n3\n");
  EXPECT_EQ(eventq({"ls", "--limit", "0"}).exit_code, 2);
  EXPECT_EQ(eventq({"ls", "--limit", "many"}).exit_code, 2);
}

TEST_F(CliTest, ListsByTheFilterLanguageOfTheApi) {
  const std::string failed = failed_event("email", "Connection timed out");
  const std::string other = failed_event("email", "refused");
  const std::string pending = publish("sms", {"--queue", "q"});
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ls", "-o", "id"});
    return eventq(arguments).out;
  };

  EXPECT_EQ(ids({"--desc"}), pending + "\n" + other + "\n" + failed + "\n");
  EXPECT_EQ(ids({"--desc", "--before", pending, "--limit", "1"}), other + "\n");
  EXPECT_EQ(ids({"--filter", "status:failed error:\"TIMED out\""}), failed + "\n");
  EXPECT_EQ(ids({"--filter", "tag:email", "--status", "FAILED", "--since", "1h"}),
            failed + "\n" + other + "\n");
  EXPECT_EQ(ids({"--until", "1h"}), "");
  EXPECT_EQ(ids({"--pattern", "none.*"}), "");
  EXPECT_EQ(eventq({"export", "--filter", "queue:q"}).out.find(R"({"title":)"), 0U);
  const Finished wrong = eventq({"ls", "--filter", "tag:a stat:x"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("At character 7 of the filter: a filter has no condition \"stat\""),
            std::string::npos)
      << wrong.err;
  EXPECT_EQ(eventq({"ls", "--filter", "tag:a", "--tag", "b"}).exit_code, 1) << "the server refuses both";
}

TEST_F(CliTest, AnUnknownFieldIsWrongUsage) {
  publish("email");

  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"ls"}, std::vector<std::string>{"get", "1"},
        std::vector<std::string>{"tail"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--fields", "id,nope"});
    const Finished refused = eventq(arguments);
    EXPECT_EQ(refused.exit_code, 2) << command.front();
    EXPECT_THAT(refused.out, IsEmpty()) << command.front();
    EXPECT_THAT(refused.err, HasSubstr("there is no field \"nope\"; there are id, event_id, title, "));
  }
  EXPECT_THAT(eventq({"ls", "--fields", "titel"}).err, HasSubstr("did you mean title?"));
}

TEST_F(CliTest, EveryMemberOfAnEventInTheApiIsAField) {
  HttpClient client(server_.port());
  const std::string document = client.get("/openapi.json")->body;
  JsonParser parser;
  const auto api = parser.parse(document);
  ASSERT_TRUE(api);
  std::string fields;
  const auto add_members = [&](const JsonValue& schema) {
    const auto members = cli::value_at(schema, "properties");
    if (!members) return;
    for (const JsonMember& member : members->members()) {
      fields.append(fields.empty() ? "" : ",").append(member.name);
    }
  };
  add_members(cli::value_at(*api, "components.schemas.Event").value());
  add_members(cli::value_at(*api, "components.schemas.EventSummary").value());
  const auto details = cli::value_at(*api, "components.schemas.EventDetails").value();
  for (const JsonValue& part : cli::elements_at(details, "allOf")) add_members(part);
  ASSERT_THAT(fields, HasSubstr("id,title,"));

  const Finished listed = eventq({"ls", "--fields", fields});

  EXPECT_EQ(listed.exit_code, 0) << listed.err;
}

TEST_F(CliTest, ListsResultsAndTheDetailsOfFailures) {
  publish("email", {"{}"});
  publish("sms", {"{}"});
  HttpClient client(server_.port());
  ASSERT_EQ(client.get("/events/subscribe?tags=email,sms&worker_id=w:1&limit=2")->status, 200);
  ASSERT_EQ(client.post("/events/1/complete", R"({"worker_id":"w:1","result":[7]})")->status, 200);
  ASSERT_EQ(
      client.post("/events/2/fail", R"({"worker_id":"w:1","error_message":"m","error_detail":"at line 7"})")
          ->status,
      200);

  EXPECT_EQ(eventq({"ls", "--fields", "id,result,error_detail"}).out,
            "{\"id\":1,\"result\":[7],\"error_detail\":null}\n"
            "{\"id\":2,\"result\":null,\"error_detail\":\"at line 7\"}\n");
}

TEST_F(CliTest, PagesThroughLongLists) {
  std::string batch = R"({"events":[)";
  for (int i = 0; i < 2001; ++i) batch += std::string(i == 0 ? "" : ",") + R"({"title":"t","tags":"a"})";
  HttpClient client(server_.port());
  ASSERT_EQ(client.post("/events/batch", batch + "]}")->status, 201);
  const auto count = [&](const std::vector<std::string>& arguments) {
    const std::string out = eventq(arguments).out;
    return std::count(out.begin(), out.end(), '\n');
  };

  EXPECT_EQ(count({"ls", "-o", "id"}), 20);
  EXPECT_EQ(count({"ls", "-o", "id", "--limit", "1000"}), 1000);
  EXPECT_EQ(count({"ls", "-o", "id", "--limit", "1001"}), 1001);
  EXPECT_EQ(count({"ls", "-o", "id", "--all"}), 2001);
}

TEST_F(CliTest, ContinuesAfterAnIdThatFails) {
  publish("a");
  publish("b");

  const Finished done = eventq({"get", "1", "99", "2", "-o", "id"});

  EXPECT_EQ(done.exit_code, 1);
  EXPECT_EQ(done.out, "1\n2\n");
  EXPECT_EQ(done.err, "eventq: There is no event 99.\n");
}

TEST_F(CliTest, WorkWithoutTagsIsWrongUsage) {
  const Finished done = eventq({"work", "", "--exec", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("TAGS is empty"));
}

TEST_F(CliTest, AnEventIdWorksWhereverANumberDoes) {
  const std::string id = publish("a", {"--event-id", "order/1"});
  const std::string other = publish("b", {"--event-id", "batch"});

  EXPECT_EQ(eventq({"get", "order/1", other, "-o", "id"}).out, "1\n2\n");
  EXPECT_EQ(eventq({"get", "batch", "-o", "id"}).out, "2\n");
  EXPECT_EQ(eventq({"why", "order/1", "--fields", "id"}).out, eventq({"why", id, "--fields", "id"}).out);
  EXPECT_EQ(eventq({"ls", "--after", "order/1", "-o", "id"}).out, "2\n");
  EXPECT_EQ(eventq({"ls", "--event-id", "batch", "-o", "id"}).out, "2\n");
  EXPECT_EQ(eventq({"wait", "order/1", "--no-block"}).exit_code, 8);
  EXPECT_EQ(eventq({"cancel", "order/1", "batch"}).exit_code, 0);
  EXPECT_EQ(status_of(id), "CANCELLED");
  EXPECT_EQ(status_of(other), "CANCELLED");
  EXPECT_EQ(eventq({"logs", "order/1", "-o", "json"}).out, eventq({"logs", id, "-o", "json"}).out);
  EXPECT_EQ(eventq({"wait", "order/1"}).exit_code, 5);
  EXPECT_EQ(eventq({"retry", "order/1"}).exit_code, 0);
  EXPECT_EQ(eventq({"reset", "batch"}).exit_code, 0);
  EXPECT_EQ(status_of(id), "PENDING");
  EXPECT_EQ(status_of(other), "PENDING");
}

TEST_F(CliTest, AnUnknownEventIdChangesNothing) {
  const std::string id = publish("a");

  const Finished done = eventq({"cancel", id, "evt_1"});

  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.out, IsEmpty());
  EXPECT_EQ(done.err, "eventq: There is no event \"evt_1\".\n");
  EXPECT_EQ(status_of(id), "PENDING");
  for (const char* command : {"get", "logs", "why", "wait", "reset", "retry"}) {
    EXPECT_EQ(eventq({command, "abc"}).exit_code, 1) << command;
  }
}

TEST_F(CliTest, DigitsThatAreNoNumberOfAnEventAreWrongUsage) {
  const Finished done = eventq({"cancel", "99999999999999999999"});

  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("\"99999999999999999999\" is not the number of an event"));
  EXPECT_EQ(eventq({"get", "01"}).exit_code, 2);
  EXPECT_EQ(eventq({"get", ""}).exit_code, 2);
}

TEST_F(CliTest, ExitsWithFourWhenTheServerRefusesAccess) {
  // The name resolves to this machine, but the server does not accept it in Host.
  const std::string url = "http://0.0.0.0:" + std::to_string(server_.port());

  const Finished done = eventq({"get", "1", "2", "--url", url});

  EXPECT_EQ(done.exit_code, 4) << done.err;
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_F(CliTest, PrintsSeveralEventsAsOneList) {
  publish("a");
  publish("b");

  EXPECT_EQ(eventq({"get", "1", "2", "-o", "json", "--fields", "id"}).out, "[\n{\"id\":1},\n{\"id\":2}\n]\n");
  EXPECT_EQ(eventq({"get", "1", "-o", "json", "--fields", "id"}).out, "{\"id\":1}\n");
  EXPECT_EQ(eventq({"get", "1", "2", "-o", "csv", "--fields", "id,tags"}).out, "id,tags\n1,a\n2,b\n");
}

TEST_F(CliTest, ListsTheErrorOfAFailedEvent) {
  publish("b");
  EXPECT_THAT(eventq({"ls", "-o", "table"}).out, Not(HasSubstr("ERROR")));

  failed_event("a", "mail server gone");

  const std::string table = eventq({"ls", "-o", "table"}).out;
  EXPECT_THAT(table, HasSubstr("UPDATED"));
  EXPECT_THAT(table, HasSubstr("  ERROR\n"));
  EXPECT_THAT(table, HasSubstr("  mail server gone\n"));
}

TEST_F(CliTest, ShowsTheHistoryOfAnEvent) {
  const std::string id = failed_event("a", "mail server gone");

  const Finished logs = eventq({"logs", id, "-o", "csv", "--fields", "action,worker_id,error_message"});

  EXPECT_EQ(logs.exit_code, 0);
  EXPECT_EQ(logs.out, "action,worker_id,error_message\nPICKED,w1,\nFAILED,w1,mail server gone\n");
  EXPECT_EQ(eventq({"logs", "99"}).exit_code, 1);
}

TEST_F(CliTest, ExplainsTheStatusOfAnEvent) {
  publish("a");

  EXPECT_EQ(member(eventq({"why", "1"}).out, "reason"), "nobody_subscribes");
  EXPECT_THAT(eventq({"why", "1", "-o", "table"}).out, StartsWith("1  PENDING  It is ready, but no worker"));
  EXPECT_EQ(eventq({"why", "99"}).exit_code, 1);
}

TEST_F(CliTest, TailShowsNewAndEndedEvents) {
  const std::string old = publish("old");
  const std::string done = publish("done");
  EXPECT_EQ(claim("done"), done);
  report(done, "complete");
  Process tail(setup({"tail", "--fields", "id,status", "-o", "csv"}, "</dev/null 1>&2"));
  ASSERT_TRUE(tail.wait_for_line("Following events at", 60s)) << tail.err();

  const std::string fresh = publish("new");
  EXPECT_TRUE(tail.wait_for_line(fresh + ",PENDING", 60s)) << tail.err();
  EXPECT_EQ(claim("new"), fresh);
  EXPECT_TRUE(tail.wait_for_line(fresh + ",PROCESSING", 60s)) << tail.err();
  report(fresh, "complete");
  EXPECT_TRUE(tail.wait_for_line(fresh + ",COMPLETED", 60s)) << tail.err();
  EXPECT_EQ(eventq({"cancel", old}).exit_code, 0);
  EXPECT_TRUE(tail.wait_for_line(old + ",CANCELLED", 60s)) << tail.err();

  EXPECT_THAT(tail.err(), Not(HasSubstr("\n" + done + ",")));
  tail.signal(SIGINT);
  EXPECT_THAT(tail.wait(60s), Optional(-SIGINT));  // a shell shows 130
}

TEST_F(CliTest, TailShowsOnlyChangesAmongManyEvents) {
  std::string batch = R"({"events":[)";
  for (int i = 0; i < 1500; ++i) batch += std::string(i == 0 ? "" : ",") + R"({"title":"t","tags":"a"})";
  HttpClient client(server_.port());
  ASSERT_EQ(client.post("/events/batch", batch + "]}")->status, 201);
  Process tail(setup({"tail", "--fields", "id,status", "-o", "csv"}, "</dev/null 1>&2"));
  ASSERT_TRUE(tail.wait_for_line("Following events at", 60s)) << tail.err();

  EXPECT_EQ(eventq({"cancel", "7"}).exit_code, 0);
  EXPECT_TRUE(tail.wait_for_line("7,CANCELLED", 60s)) << tail.err();
  EXPECT_EQ(eventq({"retry", "7"}).exit_code, 0);
  EXPECT_TRUE(tail.wait_for_line("7,PENDING", 60s)) << tail.err();
  EXPECT_EQ(publish("b"), "1501");
  EXPECT_TRUE(tail.wait_for_line("1501,PENDING", 60s)) << tail.err();

  EXPECT_THAT(tail.err(), EndsWith("\nid,status\n7,CANCELLED\n7,PENDING\n1501,PENDING\n"));
}

TEST_F(CliTest, ReportsThatNoServerAnswers) {
  const Finished done = eventq({"ls", "--url", "http://127.0.0.1:1"});

  EXPECT_EQ(done.exit_code, 7);
  EXPECT_EQ(done.err,
            "eventq: No eventq server at http://127.0.0.1:1. Start one with `eventq serve` or `eventq dev`, "
            "or name "
            "another with --url or EVENTQ_URL.\n");
  EXPECT_EQ(eventq({"cancel", "1", "2", "--url", "http://127.0.0.1:1"}).exit_code, 7);
  EXPECT_EQ(eventq({"wait", "1", "--url", "http://127.0.0.1:1"}).exit_code, 7);
  EXPECT_EQ(eventq({"publish", "a", "--wait", "--url", "http://127.0.0.1:1"}).exit_code, 7);
  EXPECT_EQ(eventq({"tail", "--url", "http://127.0.0.1:1"}).exit_code, 7);
}

TEST_F(CliTest, RefusesAnInvalidUrl) {
  const Finished done = eventq({"ls", "--url", "ftp://x"});

  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("\nSee eventq ls --help.\n"));
}

TEST_F(CliTest, ExitsWithTwoOnWrongUsage) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"publsh"},
                                             {"queue"},
                                             {"get"},
                                             {"ls", "-o", "xml"},
                                             {"help", "nix"},
                                             {"export", "--status", "LOST"},
                                             {"export", "-o", "csv"},
                                             {"import", "-", "--fields", "id"},
                                             {"work", "a", "--exec", "true", "--color", "never"},
                                             {"work", "a", "--exec", "true", "-o", "csv"}}) {
    const Finished done = eventq(arguments);

    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.out, IsEmpty());
    EXPECT_THAT(done.err, Not(IsEmpty()));
  }
}

TEST_F(CliTest, ReportsThatStdoutCannotBeWritten) {
  const Finished done = eventq({"version"}, ">/dev/full");

  EXPECT_EQ(done.exit_code, 1);
  EXPECT_EQ(done.err, "eventq: cannot write to stdout\n");
}

TEST_F(CliTest, EscapesControlCharactersInEvents) {
  const std::string id = failed_event("a", R"(\u001b[2J\u009b31m\u0007gone)");

  const Finished table = eventq({"get", id, "-o", "table"});
  const Finished end = eventq({"wait", id});

  EXPECT_THAT(table.out, HasSubstr("\\u001b[2J\\u009b31m\\u0007gone"));
  EXPECT_THAT(table.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(end.err, HasSubstr("ended FAILED: \\u001b[2J\\u009b31m\\u0007gone\n"));
  EXPECT_THAT(eventq({"get", "\x1b[2J"}).err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(eventq({"\x1b[2J"}).err, Not(HasSubstr("\x1b")));
}

TEST_F(CliTest, UsesColoursOnlyOnATerminalOrIfEnabled) {
  publish("a");

  EXPECT_THAT(eventq({"queue", "ls", "-o", "table"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(eventq({"queue", "ls", "-o", "table", "--color", "always"}).out, HasSubstr("\x1b[32mactive"));
}

}  // namespace
}  // namespace eventq
