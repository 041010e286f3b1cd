// invocation_test.cc: tests of invocation.h.
#include "cli/framework/invocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace eventq::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Arguments given(const std::vector<std::pair<std::string, std::string>>& values) {
  Arguments arguments;
  for (const auto& [name, value] : values) arguments.add(name, value);
  return arguments;
}

TEST(OutputOptions, DefaultToATableOnATerminalAndJsonLinesInAPipe) {
  const OutputOptions people = output_options({}, {.terminal = true, .color = true, .width = 120});
  const OutputOptions programs = output_options({}, {});

  EXPECT_EQ(people.format, Format::table);
  EXPECT_EQ(people.time, TimeFormat::relative);
  EXPECT_TRUE(people.color);
  EXPECT_EQ(people.width, 120U);
  EXPECT_EQ(programs.format, Format::jsonl);
  EXPECT_EQ(programs.time, TimeFormat::iso);
  EXPECT_FALSE(programs.color);
}

TEST(OutputOptions, FollowTheArguments) {
  const Arguments arguments = given(
      {{"--output", "csv"}, {"--fields", "id,payload.to"}, {"--color", "always"}, {"--time", "relative"}});
  const OutputOptions options = output_options(arguments, {});

  EXPECT_EQ(options.format, Format::csv);
  EXPECT_THAT(options.fields, ElementsAre("id", "payload.to"));
  EXPECT_TRUE(options.color);
  EXPECT_EQ(options.time, TimeFormat::relative);
  EXPECT_FALSE(output_options(given({{"--color", "never"}}), {.terminal = true, .color = true}).color);
  EXPECT_EQ(output_options(given({{"--time", "iso"}}), {.terminal = true}).time, TimeFormat::iso);
}

TEST(ServerUrl, IsTheFlagOrTheVariableOrTheDefault) {
  EXPECT_EQ(server_url(given({{"--url", "http://a"}}), {.url = "http://b"}), "http://a");
  EXPECT_EQ(server_url({}, {.url = "http://b"}), "http://b");
  EXPECT_EQ(server_url({}, {}), "http://127.0.0.1:8080");
}

TEST(PercentEncode, EncodesEverythingButUnreservedCharacters) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a/b c&d=e+f%"), "a%2Fb%20c%26d%3De%2Bf%25");
  EXPECT_EQ(percent_encode("ü"), "%C3%BC");
}

class InvocationTest : public testing::Test {
 protected:
  CommandSpec command_{.name = "ls"};
  Arguments arguments_;
  client::HttpClient server_{client::HttpUrl{}};
  std::ostringstream out_;
  std::ostringstream err_;
  Invocation run_{command_, arguments_, {}, "http://here", server_, out_, err_};
};

using NumberOptionTest = InvocationTest;

TEST_F(NumberOptionTest, AnAbsentOptionLeavesTheDefault) {
  std::size_t number = 20;

  EXPECT_TRUE(read_number(run_, "--limit", number, 1, 1000));
  EXPECT_EQ(number, 20U);
}

TEST_F(NumberOptionTest, BothEndsOfTheRangeAreAccepted) {
  std::optional<std::size_t> number;
  arguments_.add("--limit", "1");
  EXPECT_TRUE(read_number(run_, "--limit", number, 1, 1000));
  EXPECT_EQ(number, 1U);

  arguments_.add("--limit", "1000");
  EXPECT_TRUE(read_number(run_, "--limit", number, 1, 1000));
  EXPECT_EQ(number, 1000U);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(NumberOptionTest, AWrongNumberIsNamedTogetherWithItsRange) {
  struct Case {
    const char* text;
    std::int64_t least;
    std::int64_t most;
    const char* message;
  };
  for (const Case& row : {
           Case{"0", 1, 1000, "eventq: --limit must be a whole number from 1 to 1000, not \"0\"\n"},
           Case{"1001", 0, 1000, "eventq: --limit must be a whole number from 0 to 1000, not \"1001\"\n"},
           Case{"0", 1, kNumberMax, "eventq: --limit must be a whole number of at least 1, not \"0\"\n"},
           Case{"x", 0, kNumberMax, "eventq: --limit must be a whole number, not \"x\"\n"},
           Case{"-1", 0, kNumberMax, "eventq: --limit must be a whole number, not \"-1\"\n"},
       }) {
    arguments_.add("--limit", row.text);
    err_.str("");
    std::int64_t number = 20;

    EXPECT_FALSE(read_number(run_, "--limit", number, row.least, row.most)) << row.text;
    EXPECT_EQ(number, 20);
    EXPECT_EQ(err_.str(), std::string(row.message) + "See eventq ls --help.\n");
  }
}

using Utf8Test = InvocationTest;

TEST_F(Utf8Test, EveryValueOfEachNamedArgumentIsChecked) {
  arguments_.add("--exec", "\xff");
  arguments_.add("--tag", "ü");
  EXPECT_TRUE(check_utf8(run_, {"--tag", "--absent"}));

  arguments_.add("--tag", "\xff");
  EXPECT_FALSE(check_utf8(run_, {"--absent", "--tag"}));
  EXPECT_THAT(err_.str(), StartsWith("eventq: --tag is not UTF-8; give it in UTF-8, not "));
}

using DurationOptionTest = InvocationTest;

TEST_F(DurationOptionTest, AnOptionWithoutItsValueHasTheBareDuration) {
  EXPECT_EQ(*duration_option(run_, "--wait", Millis{30'000}), std::nullopt);

  arguments_.add("--wait", "");
  EXPECT_EQ(*duration_option(run_, "--wait", Millis{30'000}), Millis{30'000});
  EXPECT_FALSE(duration_option(run_, "--wait"));

  arguments_.add("--wait", "2m");
  EXPECT_EQ(*duration_option(run_, "--wait", Millis{30'000}), Millis{120'000});
}

class CallResultTest : public InvocationTest {
 protected:
  CallResult result_of(const Result<client::HttpResponse>& answer) { return call_result(run_, answer); }
};

TEST_F(CallResultTest, A2xxAnswerIsReturnedUnchanged) {
  const CallResult called = result_of(client::HttpResponse{.status = 201, .headers = {}, .body = "{}"});

  EXPECT_TRUE(called);
  EXPECT_EQ(called.status, 201);
  EXPECT_EQ(called.body, "{}");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CallResultTest, TheErrorMessageOfTheServerIsPrinted) {
  struct Case {
    int status;
    const char* body;
    const char* message;
  };
  for (const Case& row : {
           Case{400, R"({"error":"Must be 1 to 200 characters.","field":"title"})",
                "eventq: Must be 1 to 200 characters. (title)\n"},
           Case{400, R"({"error":"title is empty.","field":"title"})", "eventq: title is empty.\n"},
           Case{404, R"({"error":"There is no event 9.","field":"id"})", "eventq: There is no event 9.\n"},
           Case{409, R"({"error":"a\u001b[2Jb"})", "eventq: a\\u001b[2Jb\n"},
           Case{502, "<html>", "eventq: the server answered 502 without an explanation\n"},
       }) {
    err_.str("");
    const CallResult called =
        result_of(client::HttpResponse{.status = row.status, .headers = {}, .body = row.body});

    EXPECT_EQ(called.code, ExitCode::failed);
    EXPECT_EQ(called.body, "");
    EXPECT_EQ(err_.str(), row.message);
  }
}

TEST_F(CallResultTest, AnUnreachableServerAndATimeoutHaveDifferentMessages) {
  EXPECT_EQ(result_of(Error{.code = ErrorCode::unavailable, .message = "refused"}).code,
            ExitCode::unreachable);
  EXPECT_THAT(err_.str(), HasSubstr("No eventq server at http://here. Start one with"));

  err_.str("");
  EXPECT_EQ(result_of(Error{.code = ErrorCode::timeout, .message = "No answer in time."}).code,
            ExitCode::failed);
  EXPECT_EQ(err_.str(),
            "eventq: No answer in time. The server may have carried out the request: check before you send "
            "it again.\n");
}

}  // namespace
}  // namespace eventq::cli
