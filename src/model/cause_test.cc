// cause_test.cc: which messages have one cause, which have different ones, and what a cause shows.
#include "model/cause.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace eventq {
namespace {

std::string cause_of_message(std::string message) {
  LogEntry entry;
  entry.error_message = std::move(message);
  return cause_of(entry);
}

TEST(CauseOf, MessagesThatDifferInVariablePartsHaveOneCause) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> groups = {
      // Numbers, durations, times.
      {"timeout after # ms at #",
       {"timeout after 5000 ms at 10.0.0.17:8080", "timeout after 30 ms at 10.0.0.4:80",
        "timeout after 1.5 ms at fe80::1"}},
      {"#", {"123", "4"}},
      {"took #s", {"took 1.5s", "took 12s"}},
      {"no answer since #",
       {"no answer since 2025-12-24T10:30:00.000Z", "no answer since 2025-12-24T10:30:00Z"}},
      {"page # of #", {"page 1 of 20", "page 17 of 20"}},
      {"# events were not sent", {"503 events were not sent", "7 events were not sent"}},
      {"Timeout: # ms", {"Timeout: 500 ms", "Timeout: 30 ms"}},
      {"failed with # errors", {"failed with 500 errors", "failed with 3 errors"}},
      // Ids.
      {"order # is closed",
       {"order 17 is closed", "order 550 is closed", "order 8f14e45fceea167a is closed",
        "order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is closed"}},
      {"order_id: # is unknown", {"order_id: 51 is unknown", "order_id: 7 is unknown"}},
      {"no charge ch_#", {"no charge ch_3MmlLrLkdIwHu7ix0snN0B15", "no charge ch_1NirD82eZvKYlo2C"}},
      {"node-# was lost", {"node-17 was lost", "node-4 was lost"}},
      {"bad pointer #", {"bad pointer 0x7ffee3bff8c0", "bad pointer 0x10"}},
      // Addresses.
      {"550 5.1.1 <#>: Recipient address rejected",
       {"550 5.1.1 <alice@example.com>: Recipient address rejected",
        "550 5.1.1 <bob.b@mail.example.org>: Recipient address rejected"}},
      {"GET https://api.example.com/v#/users/#?# timed out",
       {"GET https://api.example.com/v1/users/17?page=2 timed out",
        "GET https://api.example.com/v1/users/4?a=b&c=d timed out"}},
      // Python.
      {"ValueError: invalid literal for int() with base #: '#'",
       {"ValueError: invalid literal for int() with base 10: '17a'",
        "ValueError: invalid literal for int() with base 10: 'x9'"}},
      {"ConnectionError: HTTPConnectionPool(host='#', port=#): Max retries exceeded",
       {"ConnectionError: HTTPConnectionPool(host='10.0.0.4', port=80): Max retries exceeded",
        "ConnectionError: HTTPConnectionPool(host='10.0.0.9', port=8080): Max retries exceeded"}},
      // Node.js.
      {"Error: connect ECONNREFUSED #",
       {"Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED ::1:5432"}},
      // Java.
      {"java.net.SocketTimeoutException: timeout after #ms",
       {"java.net.SocketTimeoutException: timeout after 3000ms",
        "java.net.SocketTimeoutException: timeout after 50ms"}},
      {"com.acme.Order@# is locked",
       {"com.acme.Order@1b6d3586 is locked", "com.acme.Order@4554617c is locked"}},
      // C++.
      {"vector::_M_range_check: __n (which is #) >= this->size() (which is #)",
       {"vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)",
        "vector::_M_range_check: __n (which is 51) >= this->size() (which is 12)"}},
      // SQL.
      {"ERROR 1062 (23000): Duplicate entry '#' for key 'users.email'",
       {"ERROR 1062 (23000): Duplicate entry 'alice' for key 'users.email'",
        "ERROR 1062 (23000): Duplicate entry 'bob-17' for key 'users.email'"}},
      {"ERROR:  duplicate key value violates unique constraint \"users_pkey\"",
       {"ERROR:  duplicate key value violates unique constraint \"users_pkey\"\nDETAIL:  Key (id)=(17) "
        "exists.",
        "ERROR:  duplicate key value violates unique constraint \"users_pkey\"\nDETAIL:  Key (id)=(4) "
        "exists."}},
  };
  for (const auto& [cause, messages] : groups) {
    for (const std::string& message : messages) EXPECT_EQ(cause_of_message(message), cause) << message;
  }
}

TEST(CauseOf, CodesWithAMeaningStayReadable) {
  const std::vector<std::string> unchanged = {
      // SMTP.
      "550 5.1.1 User unknown",
      "550-5.1.1 The email account does not exist",
      "421 too many connections",
      "450 4.2.1 The mailbox is busy",
      // HTTP.
      "404 Not Found",
      "status code 503",
      "Request failed with status code 429",
      "HTTP/1.1 502 Bad Gateway",
      "HTTP 500",
      "statusCode=504",
      "Unexpected response (503)",
      "the server responded with 503",
      "HTTPError: 404 Client Error: Not Found",
      "urllib.error.HTTPError: HTTP Error 503: Service Unavailable",
      // Processes and the operating system.
      "exit code 137",
      "returned non-zero exit status 2.",
      "terminated by signal 9 (SIGKILL)",
      "ConnectionRefusedError: [Errno 111] Connection refused",
      "Error: read ECONNRESET",
      "The operation failed with error 0x80070005",
      // SQL.
      "ORA-00942: table or view does not exist",
      "SQLSTATE[42P01]: Undefined table",
      "SQLSTATE 23505",
      "MongoServerError: E11000 duplicate key error",
      // Payments.
      "card_declined: 51",
      "do_not_honor (05)",
      "Card declined: 51",
      "error_code: 2002",
      // Compilers.
      "error CS0103: The name does not exist",
  };
  for (const std::string& message : unchanged) EXPECT_EQ(cause_of_message(message), message);
}

TEST(CauseOf, MessagesAboutDifferentProblemsHaveDifferentCauses) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"550 5.1.1 User unknown", "550 5.7.1 User unknown"},
      {"550 <a@b.c> refused", "554 <a@b.c> refused"},
      {"card_declined: 51", "card_declined: 05"},
      {"status code 503", "status code 404"},
      {"exit code 1", "exit code 137"},
      {"[Errno 111] failed", "[Errno 110] failed"},
      {"KeyError: 'email'", "KeyError: 'name'"},
      {"column \"amount\" does not exist", "column \"price\" does not exist"},
      {"violates unique constraint \"users_pkey\"", "violates unique constraint \"users_email_key\""},
      {"GET https://api.example.com/ failed", "GET https://api.example.org/ failed"},
      {"TypeError: Cannot read properties of undefined (reading 'id')",
       "TypeError: Cannot read properties of undefined (reading 'name')"},
  };
  for (const auto& [one, other] : pairs) EXPECT_NE(cause_of_message(one), cause_of_message(other)) << one;
}

TEST(CauseOf, ATracebackIsGroupedByItsLastLine) {
  EXPECT_EQ(cause_of_message("Traceback (most recent call last):\n"
                             "  File \"worker.py\", line 17, in handle\n"
                             "    charge(event)\n"
                             "KeyError: 'amount'\n"),
            "KeyError: 'amount'");
}

TEST(CauseOf, AChainOfTracebacksIsGroupedByTheLastException) {
  EXPECT_EQ(cause_of_message("Traceback (most recent call last):\n"
                             "  File \"worker.py\", line 17, in handle\n"
                             "KeyError: 'amount'\n\n"
                             "During handling of the above exception, another exception occurred:\n\n"
                             "Traceback (most recent call last):\n"
                             "  File \"worker.py\", line 19, in handle\n"
                             "    raise ValueError(\"no amount\")\n"
                             "ValueError: no amount\n"
                             "(Background on this error at: https://example.com/e/17)\n"),
            "ValueError: no amount");
}

TEST(CauseOf, ATracebackWithoutItsBeginningIsGroupedByItsException) {
  EXPECT_EQ(cause_of_message("    charge(event)\n  File \"pay.py\", line 3, in charge\n    "
                             "~~^~~\nZeroDivisionError: division by zero"),
            "ZeroDivisionError: division by zero");
}

TEST(CauseOf, ATracebackWithoutAnExceptionIsGroupedByItsLastLineWithText) {
  EXPECT_EQ(
      cause_of_message("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    charge()\n"),
      "charge()");
}

TEST(CauseOf, AStackTraceOfJavaOrNodeIsGroupedByItsMessage) {
  EXPECT_EQ(
      cause_of_message("java.lang.IllegalStateException: no session\n\tat com.acme.Pay.run(Pay.java:17)\n"
                       "Caused by: java.io.IOException: closed\n\t... 3 more"),
      "java.lang.IllegalStateException: no session");
  EXPECT_EQ(cause_of_message(
                "TypeError: x is not a function\n    at run (/app/worker.js:17:3)\n    at main.js:4:1"),
            "TypeError: x is not a function");
  EXPECT_EQ(cause_of_message("/app/worker.js:17\n    throw new Error('boom')\n    ^\n\nError: boom\n    at "
                             "run (/app/worker.js:17:3)"),
            "Error: boom");
}

TEST(CauseOf, APanicIsGroupedByItsMessage) {
  EXPECT_EQ(cause_of_message(
                "thread 'main' panicked at src/main.rs:4:5:\nno amount\nnote: run with `RUST_BACKTRACE=1`"),
            "no amount");
  EXPECT_EQ(cause_of_message(
                "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:"),
            "panic: runtime error: index out of range [#] with length #");
}

TEST(CauseOf, OfOtherMessagesTheFirstLineWithTextCounts) {
  EXPECT_EQ(cause_of_message("refused\nat line 1"), "refused");
  EXPECT_EQ(cause_of_message("refused\r\nat line 1"), "refused");
  EXPECT_EQ(cause_of_message("\n  ----\n  refused  \nbye"), "refused");
  EXPECT_EQ(cause_of_message("Errors:\n"), "Errors:");
  EXPECT_EQ(cause_of_message("\n--\n"), "no message");
}

TEST(CauseOf, ALongMessageIsCutAt200Bytes) {
  EXPECT_EQ(cause_of_message(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(cause_of_message(std::string(201, 'x')), std::string(200, 'x'));
}

TEST(CauseOf, ALongMessageIsNotCutWithinACharacter) {
  // The euro sign has three bytes.
  EXPECT_EQ(cause_of_message(std::string(197, 'x') + "\u20AC" + "b"), std::string(197, 'x') + "\u20AC");
  EXPECT_EQ(cause_of_message(std::string(198, 'x') + "\u20AC"), std::string(198, 'x'));
  EXPECT_EQ(cause_of_message(std::string(199, 'x') + "\u20AC"), std::string(199, 'x'));
}

TEST(CauseOf, WithoutAMessageTheReasonIsTheCause) {
  LogEntry entry;
  entry.reason = "Claimed 20 times in a row without a report.";

  EXPECT_EQ(cause_of(entry), "Claimed # times in a row without a report.");
}

TEST(CauseOf, WithoutAnyTextTheStatusCodeIsTheCause) {
  LogEntry entry;
  entry.status_code = 503;

  EXPECT_EQ(cause_of(entry), "status code 503");
  EXPECT_EQ(cause_of(LogEntry{}), "no message");
}

TEST(CauseOf, AnyBytesHaveACause) {
  for (const std::string text : {"'", "\"", "''", "'a", "#", "-", "0x", "?", "a@", "@.", "http://?", "5.",
                                 "1-", "...", "(", "it's 5"}) {
    EXPECT_FALSE(cause_of_message(text).empty()) << text;
  }
}

TEST(SampleOf, IsTheTellingLineOfTheMessageUnchanged) {
  EXPECT_EQ(sample_of({.cause = "order # is closed", .sample = "order 17 is closed\nat line 1"}),
            "order 17 is closed");
  EXPECT_EQ(sample_of({.cause = "status code 503", .sample = ""}), "status code 503");
}

TEST(SampleOf, ALongMessageIsCutAt1000Bytes) {
  for (const std::size_t length : {999U, 1000U}) {
    EXPECT_EQ(sample_of({.sample = std::string(length, 'x')}), std::string(length, 'x'));
  }
  EXPECT_EQ(sample_of({.sample = std::string(1001, 'x')}), std::string(1000, 'x'));
}

TEST(FailureGroupId, DependsOnQueueAndCause) {
  EXPECT_EQ(failure_group_id("mail", "refused").size(), 8U);
  EXPECT_EQ(failure_group_id("mail", "refused"), failure_group_id("mail", "refused"));
  EXPECT_NE(failure_group_id("mail", "refused"), failure_group_id("main", "refused"));
  EXPECT_NE(failure_group_id("mail", "refused"), failure_group_id("mail", "timeout"));
}

}  // namespace
}  // namespace eventq
