// validate_test.cc: values just below, at and just above each limit of limits.h, and the message of each
// error.
#include "model/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

// "ok", or "code field: message".
std::string verdict(const std::optional<Error>& fault) {
  if (!fault) return "ok";
  return describe(fault->code) + " " + fault->field + ": " + fault->message;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string xs(std::size_t count) { return std::string(count, 'x'); }

NewEvent plain_event() { return {.title = "mail", .tags = {"email"}}; }

// A valid event with one field changed.
template <typename Edit>
NewEvent event_with(Edit edit) {
  NewEvent event = plain_event();
  edit(event);
  return event;
}

struct EventRow {
  std::string name;
  NewEvent event;
  std::string verdict;
};

void check(const std::vector<EventRow>& rows) {
  for (const EventRow& row : rows) {
    NewEvent event = row.event;
    EXPECT_EQ(verdict(validate(event)), row.verdict) << row.name;
  }
}

NewEvent titled(std::string title) {
  return event_with([&](NewEvent& event) { event.title = std::move(title); });
}

NewEvent described(std::string description) {
  return event_with([&](NewEvent& event) { event.description = std::move(description); });
}

NewEvent paying(std::size_t bytes) {
  return event_with([&](NewEvent& event) { event.payload = std::string(bytes, '1'); });
}

NewEvent queued(std::string queue) {
  return event_with([&](NewEvent& event) { event.queue = std::move(queue); });
}

NewEvent prior(int priority) {
  return event_with([&](NewEvent& event) { event.priority = priority; });
}

NewEvent retried(int max_retries) {
  return event_with([&](NewEvent& event) { event.max_retries = max_retries; });
}

NewEvent attempted(int max_attempts) {
  return event_with([&](NewEvent& event) { event.max_attempts = max_attempts; });
}

NewEvent identified(std::string event_id) {
  return event_with([&](NewEvent& event) { event.event_id = std::move(event_id); });
}

NewEvent correlated(std::string correlation_id) {
  return event_with([&](NewEvent& event) { event.correlation_id = std::move(correlation_id); });
}

TEST(ValidateNewEvent, MaxAttemptsIsFromOneToAMillion) {
  check({
      {"0", attempted(0), "invalid_argument max_attempts: max_attempts is 0; it must be from 1 to 1000000."},
      {"1", attempted(1), "ok"},
      {"2", attempted(2), "ok"},
      {"999999", attempted(999'999), "ok"},
      {"1000000", attempted(1'000'000), "ok"},
      {"1000001", attempted(1'000'001),
       "invalid_argument max_attempts: max_attempts is 1000001; it must be from 1 to 1000000."},
  });
}

TEST(ValidateNewEvent, AnEventNeedsOnlyATitleAndATag) { check({{"plain", plain_event(), "ok"}}); }

TEST(ValidateNewEvent, ATitleHas1To200Characters) {
  check({
      {"empty", titled(""),
       "invalid_argument title: title is missing or empty; it needs 1 to 200 characters."},
      {"1", titled("x"), "ok"},
      {"199", titled(xs(199)), "ok"},
      {"200", titled(xs(200)), "ok"},
      {"201", titled(xs(201)), "invalid_argument title: title has 201 characters; at most 200 are allowed."},
      {"200 of four bytes", titled(repeated("\xF0\x9F\x98\x80", 200)), "ok"},
      {"201 of four bytes", titled(repeated("\xF0\x9F\x98\x80", 201)),
       "invalid_argument title: title has 201 characters; at most 200 are allowed."},
      {"a million", titled(xs(1'000'000)),
       "invalid_argument title: title has 1000000 characters; at most 200 are allowed."},
      {"not UTF-8", titled("\xFF"), "invalid_argument title: title is not valid UTF-8."},
      {"NUL", titled(std::string("a\0b", 3)),
       "invalid_argument title: title holds the character U+0000, which is not allowed."},
  });
}

TEST(ValidateNewEvent, ADescriptionHasAtMost16KibOrIsAbsent) {
  check({
      {"empty", described(""), "ok"},
      {"16383", described(xs(16383)), "ok"},
      {"16384", described(xs(16384)), "ok"},
      {"16385", described(xs(16385)),
       "too_large description: description has 16385 bytes; at most 16384 are allowed."},
      {"not UTF-8", described("\xC3"), "invalid_argument description: description is not valid UTF-8."},
      {"NUL", described(std::string(1, '\0')),
       "invalid_argument description: description holds the character U+0000, which is not allowed."},
  });
}

TEST(ValidateNewEvent, TagsAreTrimmedAndRepeatsDropped) {
  NewEvent event = event_with([](NewEvent& it) { it.tags = {" b", "a ", "b"}; });

  EXPECT_EQ(verdict(validate(event)), "ok");

  EXPECT_EQ(event.tags, (std::vector<std::string>{"b", "a"}));
}

TEST(ValidateNewEvent, TagsFollowTheRulesOfTags) {
  check({
      {"none", event_with([](NewEvent& event) { event.tags = {}; }),
       "invalid_argument tags: There are no tags; 1 to 32 are needed, such as \"email,priority-high\"."},
      {"a comma", event_with([](NewEvent& event) { event.tags = {"a,b"}; }),
       "invalid_argument tags: The tag \"a,b\" has a character that is not allowed; use only A-Z a-z 0-9 . _ "
       ": / @ and -."},
  });
}

TEST(ValidateNewEvent, APayloadHasAtMost1Mib) {
  check({
      {"1048575", paying(1'048'575), "ok"},
      {"1048576", paying(1'048'576), "ok"},
      {"1048577", paying(1'048'577),
       "too_large payload: payload has 1048577 bytes; at most 1048576 are allowed."},
  });
}

TEST(ValidateNewEvent, AnAbsentPayloadIsNull) {
  NewEvent event = paying(0);

  EXPECT_EQ(verdict(validate(event)), "ok");

  EXPECT_EQ(event.payload, "null");
}

TEST(ValidateNewEvent, AQueueNameHas1To128CharactersOfTheAlphabet) {
  check({
      {"empty", queued(""), "invalid_argument queue: queue is empty."},
      {"1", queued("q"), "ok"},
      {"127", queued(xs(127)), "ok"},
      {"128", queued(xs(128)), "ok"},
      {"129", queued(xs(129)), "invalid_argument queue: queue has 129 characters; at most 128 are allowed."},
      {"alphabet", queued("AZaz09._:/@-"), "ok"},
      {"space", queued("a b"),
       "invalid_argument queue: queue has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ "
       "and -."},
      {"comma", queued("a,b"),
       "invalid_argument queue: queue has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ "
       "and -."},
  });
}

TEST(ValidateNewEvent, APriorityIsWithinAMillionOfZero) {
  check({
      {"-1000001", prior(-1'000'001),
       "invalid_argument priority: priority is -1000001; it must be from -1000000 to 1000000."},
      {"-1000000", prior(-1'000'000), "ok"},
      {"-999999", prior(-999'999), "ok"},
      {"999999", prior(999'999), "ok"},
      {"1000000", prior(1'000'000), "ok"},
      {"1000001", prior(1'000'001),
       "invalid_argument priority: priority is 1000001; it must be from -1000000 to 1000000."},
  });
}

TEST(ValidateNewEvent, MaxRetriesIsFrom0To1000) {
  check({
      {"-1", retried(-1), "invalid_argument max_retries: max_retries is -1; it must be from 0 to 1000."},
      {"0", retried(0), "ok"},
      {"1", retried(1), "ok"},
      {"999", retried(999), "ok"},
      {"1000", retried(1000), "ok"},
      {"1001", retried(1001),
       "invalid_argument max_retries: max_retries is 1001; it must be from 0 to 1000."},
  });
}

TEST(ValidateNewEvent, APublishersEventIdHas1To128VisibleCharacters) {
  check({
      {"127", identified(xs(127)), "ok"},
      {"128", identified(xs(128)), "ok"},
      {"129", identified(xs(129)),
       "invalid_argument event_id: event_id has 129 characters; at most 128 are allowed."},
      {"first and last", identified("!~"), "ok"},
      {"space", identified("a b"),
       "invalid_argument event_id: event_id must be visible ASCII without spaces."},
      {"DEL", identified("a\x7F"),
       "invalid_argument event_id: event_id must be visible ASCII without spaces."},
      {"beyond ASCII", identified("\xC3\xA9"),
       "invalid_argument event_id: event_id must be visible ASCII without spaces."},
  });
}

TEST(ValidateNewEvent, ACorrelationIdHas1To128VisibleCharacters) {
  check({
      {"127", correlated(xs(127)), "ok"},
      {"128", correlated(xs(128)), "ok"},
      {"129", correlated(xs(129)),
       "invalid_argument correlation_id: correlation_id has 129 characters; at most 128 are allowed."},
      {"tab", correlated("a\tb"),
       "invalid_argument correlation_id: correlation_id must be visible ASCII without spaces."},
  });
}

const Lease kLease{EventId{7}, "host-a:1", 1};

struct ChangeRow {
  std::string name;
  Change change;
  std::string verdict;
};

void check(const std::vector<ChangeRow>& rows) {
  for (const ChangeRow& row : rows) EXPECT_EQ(verdict(validate(row.change)), row.verdict) << row.name;
}

Change complete_with(Outcome outcome) { return {kLease, Complete{std::move(outcome)}}; }
Change fail_with(Failure failure) { return {kLease, Fail{std::move(failure)}}; }

TEST(ValidateChange, EveryReportNamesAWorkerOf1To255Characters) {
  const auto by = [](std::string worker_id) {
    return Change{{EventId{7}, std::move(worker_id), 1}, Start{}};
  };
  check({
      {"empty", by(""),
       "invalid_argument worker_id: worker_id is missing or empty; send {hostname}:{pid}, such as "
       "worker-02:8742."},
      {"1", by("w"), "ok"},
      {"254", by(xs(254)), "ok"},
      {"255", by(xs(255)), "ok"},
      {"256", by(xs(256)),
       "invalid_argument worker_id: worker_id has 256 characters; at most 255 are allowed."},
      {"space", by("host a:1"),
       "invalid_argument worker_id: worker_id must be visible ASCII without spaces."},
  });
  const Lease nobody{EventId{7}, "", 1};
  const std::string missing =
      "invalid_argument worker_id: worker_id is missing or empty; send {hostname}:{pid}, such as "
      "worker-02:8742.";
  check({
      {"heartbeat", {nobody, Heartbeat{}}, missing},
      {"complete", {nobody, Complete{}}, missing},
      {"fail", {nobody, Fail{}}, missing},
      {"release", {nobody, Release{}}, missing},
      {"reset", {nobody, Reset{}}, "ok"},
      {"cancel", {nobody, Cancel{}}, "ok"},
  });
}

TEST(ValidateChange, AnAttemptIsAtLeast1) {
  const auto on = [](std::optional<int> attempt) {
    return Change{{EventId{7}, "host-a:1", attempt}, Heartbeat{}};
  };
  check({
      {"-1", on(-1), "invalid_argument attempt: attempt is -1; it must be from 1 to 2147483647."},
      {"0", on(0), "invalid_argument attempt: attempt is 0; it must be from 1 to 2147483647."},
      {"1", on(1), "ok"},
      {"none", on(std::nullopt), "ok"},
  });
}

TEST(ValidateChange, AStatusCodeIsFrom0To999) {
  check({
      {"-1", complete_with({.status_code = -1}),
       "invalid_argument status_code: status_code is -1; it must be from 0 to 999."},
      {"0", complete_with({.status_code = 0}), "ok"},
      {"998", complete_with({.status_code = 998}), "ok"},
      {"999", complete_with({.status_code = 999}), "ok"},
      {"1000", complete_with({.status_code = 1000}),
       "invalid_argument status_code: status_code is 1000; it must be from 0 to 999."},
      {"fail 999", fail_with({.status_code = 999}), "ok"},
      {"fail 1000", fail_with({.status_code = 1000}),
       "invalid_argument status_code: status_code is 1000; it must be from 0 to 999."},
  });
}

TEST(ValidateChange, AnExecutionTimeIsFrom0ToAYear) {
  const std::string over =
      "invalid_argument execution_time_ms: execution_time_ms is 31536000001; it must be from 0 to "
      "31536000000.";
  check({
      {"-1", complete_with({.execution_time_ms = -1}),
       "invalid_argument execution_time_ms: execution_time_ms is -1; it must be from 0 to 31536000000."},
      {"0", complete_with({.execution_time_ms = 0}), "ok"},
      {"a year less 1", complete_with({.execution_time_ms = 31'535'999'999}), "ok"},
      {"a year", complete_with({.execution_time_ms = 31'536'000'000}), "ok"},
      {"a year and 1", complete_with({.execution_time_ms = 31'536'000'001}), over},
      {"fail, a year", fail_with({.execution_time_ms = 31'536'000'000}), "ok"},
      {"fail, a year and 1", fail_with({.execution_time_ms = 31'536'000'001}), over},
  });
}

TEST(ValidateChange, ACompletionNamesAtMost100ErrorsOf16KibEach) {
  const auto erring = [](std::size_t count, const std::string& error) {
    return complete_with({.errors = std::vector<std::string>(count, error)});
  };
  check({
      {"99", erring(99, "x"), "ok"},
      {"100", erring(100, "x"), "ok"},
      {"101", erring(101, "x"), "too_large errors: errors has 101 entries; at most 100 are allowed."},
      {"empty", erring(1, ""), "invalid_argument errors: errors holds an empty string; say what went wrong."},
      {"16383 bytes", erring(1, xs(16383)), "ok"},
      {"16384 bytes", erring(1, xs(16384)), "ok"},
      {"16385 bytes", erring(1, xs(16385)),
       "too_large errors: errors has 16385 bytes; at most 16384 are allowed."},
      {"not UTF-8", erring(1, "\xFF"), "invalid_argument errors: errors is not valid UTF-8."},
  });
}

TEST(ValidateChange, AnErrorMessageHasAtMost16Kib) {
  check({
      {"empty", fail_with({.message = ""}), "ok"},
      {"16383", fail_with({.message = xs(16383)}), "ok"},
      {"16384", fail_with({.message = xs(16384)}), "ok"},
      {"16385", fail_with({.message = xs(16385)}),
       "too_large error_message: error_message has 16385 bytes; at most 16384 are allowed."},
      {"not UTF-8", fail_with({.message = "\xFF"}),
       "invalid_argument error_message: error_message is not valid UTF-8."},
  });
}

TEST(ValidateChange, AnErrorDetailHasAtMost64Kib) {
  check({
      {"65535", fail_with({.detail = xs(65535)}), "ok"},
      {"65536", fail_with({.detail = xs(65536)}), "ok"},
      {"65537", fail_with({.detail = xs(65537)}),
       "too_large error_detail: error_detail has 65537 bytes; at most 65536 are allowed."},
      {"not UTF-8", fail_with({.detail = "\xFF"}),
       "invalid_argument error_detail: error_detail is not valid UTF-8."},
  });
}

TEST(ValidateChange, AResultHasAtMost64Kib) {
  check({
      {"65535", complete_with({.result = xs(65535)}), "ok"},
      {"65536", complete_with({.result = xs(65536)}), "ok"},
      {"65537", complete_with({.result = xs(65537)}),
       "too_large result: result has 65537 bytes; at most 65536 are allowed."},
  });
}

TEST(ValidateChange, TheAuthorOfAChangeIsOneLineOfText) {
  const std::string most(512, 'x');
  const std::string more = most + "x";
  check({
      {"reset", {{EventId{7}, "", {}}, Reset{.author = most}}, "ok"},
      {"cancel", {{EventId{7}, "", {}}, Cancel{"", "Ann Lee <ann@example.org>"}}, "ok"},
      {"reset, 513",
       {{EventId{7}, "", {}}, Reset{.author = more}},
       "too_large by: by has 513 bytes; at most 512 are allowed."},
      {"cancel, line feed",
       {{EventId{7}, "", {}}, Cancel{"", "a\nb"}},
       "invalid_argument by: by holds a control character."},
  });
}

TEST(ValidateChange, AReasonHasAtMost1000CharactersAndNoControlCharacters) {
  const auto check_each = [](const std::string& name, const std::string& reason, const std::string& verdict) {
    check({
        {"reset, " + name, {{EventId{7}, "", {}}, Reset{reason}}, verdict},
        {"cancel, " + name, {{EventId{7}, "", {}}, Cancel{reason}}, verdict},
        {"release, " + name, {kLease, Release{reason}}, verdict},
    });
  };
  check_each("empty", "", "ok");
  check_each("999", xs(999), "ok");
  check_each("1000", xs(1000), "ok");
  check_each("1001", xs(1001), "too_large reason: reason has 1001 characters; at most 1000 are allowed.");
  check_each("1000 of two bytes", repeated("\xC3\xA9", 1000), "ok");
  check_each("1001 of two bytes", repeated("\xC3\xA9", 1001),
             "too_large reason: reason has 1001 characters; at most 1000 are allowed.");
  check_each("line feed", "a\nb", "invalid_argument reason: reason holds a control character.");
  check_each("not UTF-8", "\xFF", "invalid_argument reason: reason is not valid UTF-8.");
}

TEST(ValidateIdempotencyKey, Has1To255VisibleCharacters) {
  EXPECT_EQ(verdict(validate_idempotency_key("")),
            "invalid_argument Idempotency-Key: Idempotency-Key is empty.");
  EXPECT_EQ(verdict(validate_idempotency_key("k")), "ok");
  EXPECT_EQ(verdict(validate_idempotency_key(xs(254))), "ok");
  EXPECT_EQ(verdict(validate_idempotency_key(xs(255))), "ok");
  EXPECT_EQ(verdict(validate_idempotency_key(xs(256))),
            "invalid_argument Idempotency-Key: Idempotency-Key has 256 characters; at most 255 are allowed.");
  EXPECT_EQ(verdict(validate_idempotency_key("a b")),
            "invalid_argument Idempotency-Key: Idempotency-Key must be visible ASCII without spaces.");
}

TEST(ValidateOptions, EachSettingIsCheckedAgainstItsRange) {
  struct Row {
    std::string name;
    std::function<void(Options&)> edit;
    std::string verdict;
  };
  const Row rows[] = {
      {"the defaults", [](Options&) {}, "ok"},
      {"retry base -1", [](Options& it) { it.retry.base = -1ms; },
       "invalid_argument retry_delay: retry_delay is -1ms; it must be from 0s to 365d."},
      {"retry base 0", [](Options& it) { it.retry.base = 0ms; }, "ok"},
      {"retry base a year", [](Options& it) { it.retry.base = 8760h; }, "ok"},
      {"retry base over", [](Options& it) { it.retry.base = 8760h + 1ms; },
       "invalid_argument retry_delay: retry_delay is 365d1ms; it must be from 0s to 365d."},
      {"retry cap -1", [](Options& it) { it.retry.cap = -1ms; },
       "invalid_argument retry_delay_cap: retry_delay_cap is -1ms; it must be from 0s to 365d."},
      {"retry cap 0", [](Options& it) { it.retry.cap = 0ms; }, "ok"},
      {"retry cap a year", [](Options& it) { it.retry.cap = 8760h; }, "ok"},
      {"retry cap over", [](Options& it) { it.retry.cap = 8760h + 1ms; },
       "invalid_argument retry_delay_cap: retry_delay_cap is 365d1ms; it must be from 0s to 365d."},
      {"lease 99", [](Options& it) { it.lease = 99ms; },
       "invalid_argument lease: lease is 99ms; it must be from 100ms to 365d."},
      {"lease 100", [](Options& it) { it.lease = 100ms; }, "ok"},
      {"lease 101", [](Options& it) { it.lease = 101ms; }, "ok"},
      {"lease a year", [](Options& it) { it.lease = 8760h; }, "ok"},
      {"lease over", [](Options& it) { it.lease = 8760h + 1ms; },
       "invalid_argument lease: lease is 365d1ms; it must be from 100ms to 365d."},
      {"max_retries -1", [](Options& it) { it.max_retries = -1; },
       "invalid_argument max_retries: max_retries is -1; it must be from 0 to 1000."},
      {"max_retries 0", [](Options& it) { it.max_retries = 0; }, "ok"},
      {"max_retries 1000", [](Options& it) { it.max_retries = 1000; }, "ok"},
      {"max_retries 1001", [](Options& it) { it.max_retries = 1001; },
       "invalid_argument max_retries: max_retries is 1001; it must be from 0 to 1000."},
      {"max_attempts 0", [](Options& it) { it.max_attempts = 0; },
       "invalid_argument max_attempts: max_attempts is 0; it must be from 1 to 1000000."},
      {"max_attempts 1", [](Options& it) { it.max_attempts = 1; }, "ok"},
      {"max_attempts 1000000", [](Options& it) { it.max_attempts = 1'000'000; }, "ok"},
      {"max_attempts 1000001", [](Options& it) { it.max_attempts = 1'000'001; },
       "invalid_argument max_attempts: max_attempts is 1000001; it must be from 1 to 1000000."},
      {"worker_id with a space", [](Options& it) { it.worker_id = "a b"; },
       "invalid_argument worker_id: worker_id must be visible ASCII without spaces."},
  };
  for (const Row& row : rows) {
    Options options;
    row.edit(options);
    EXPECT_EQ(verdict(validate(options)), row.verdict) << row.name;
  }
}

}  // namespace
}  // namespace eventq
