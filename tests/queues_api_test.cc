// queues_api_test.cc: the routes of queues over HTTP: settings, status, checkpoints, replays, superseding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class QueuesApiTest : public LocalApiTest {
 protected:
  // `config` as the server shows it.
  std::string config_of(std::string_view queue) {
    const std::string body = get("/queues/" + std::string(queue)).body;
    const std::size_t begin = body.find(R"("config":)") + 9;
    return body.substr(begin, body.find(R"(,"status":)") - begin);
  }
};

TEST_F(QueuesApiTest, AnEventMayHaveItsOwnMaxAttempts) {
  const HttpResponse published =
      post("/events", R"({"title":"poison","tags":"t","queue":"q","max_attempts":1})");
  EXPECT_EQ(at(published, "max_attempts"), "1");
  publish("q");
  claim("q");
  claim("q");
  advance(60s);

  EXPECT_EQ(status_of("1"), R"("FAILED")");
  EXPECT_EQ(status_of("2"), R"("PROCESSING")");
  EXPECT_EQ(at(get("/events/1"), "max_attempts"), "1");
  EXPECT_EQ(at(get("/events/2"), "max_attempts"), "") << "the queue's setting holds";
}

// GET and PUT

TEST_F(QueuesApiTest, MainAlwaysExistsAndIsTheOnlyQueueAtFirst) {
  const HttpResponse queues = get("/queues");

  EXPECT_EQ(queues.status, 200);
  EXPECT_EQ(at(queues, "queues[0].id"), R"("main")");
  EXPECT_EQ(at(queues, "queues[1].id"), "");
}

TEST_F(QueuesApiTest, TheListShowsAllQueuesByNameWithoutTheirEvents) {
  publish("zebra");
  publish("ant");

  const HttpResponse queues = get("/queues");

  expect_members(R"({"queues":[{"id":"ant"},{"id":"main"},{"id":"zebra","depth":1}]})", queues);
  EXPECT_EQ(at(queues, "queues[2].events[0].eventId"), "");
}

TEST_F(QueuesApiTest, APutCreatesAQueueWith201AndChangesItWith200) {
  const HttpResponse created = put("/queues/mail", R"({"maxQueueDepth":50})");
  EXPECT_EQ(created.status, 201);
  // highWatermark is 80 % of maxQueueDepth by default.
  expect_members(R"({"id":"mail","config":{"maxQueueDepth":50,"highWatermark":40}})", created);
  EXPECT_EQ(at(created, "events"), "");

  EXPECT_EQ(put("/queues/mail", R"({"leaseMs":1000})").status, 200);
}

TEST_F(QueuesApiTest, APutReplacesAllSettings) {
  put("/queues/mail", R"({"maxQueueDepth":50,"onFailure":"block"})");

  const HttpResponse changed = put("/queues/mail", R"({"leaseMs":1000,"maxRetries":null})");

  EXPECT_EQ(at(changed, "config.leaseMs"), "1000");
  EXPECT_EQ(at(changed, "config.maxQueueDepth"), "10000");
  EXPECT_EQ(at(changed, "config.onFailure"), R"("skip")");
  EXPECT_EQ(at(changed, "config.maxRetries"), "3");
}

TEST_F(QueuesApiTest, APutAcceptsTheDocumentOfAGet) {
  put("/queues/mail",
      R"({"maxQueueDepth":50,"highWatermark":30,"batchSize":5,"processingInterval":20,"persistenceThreshold":9,)"
      R"("leaseMs":5000,"maxAttempts":4,"maxRetries":7,"retry":{"kind":"exponential","baseMs":10,"capMs":100,)"
      R"("jitter":0.25},"durability":"buffered","onFailure":"block",)"
      R"("retention":{"completedSeconds":60,"failedSeconds":120}})");
  const std::string config = config_of("mail");

  const HttpResponse copied = put("/queues/copy", R"({"config":)" + config + "}");
  EXPECT_EQ(copied.status, 201) << copied.body;
  EXPECT_EQ(config_of("copy"), config);
  EXPECT_EQ(put("/queues/other", config).status, 201);
  EXPECT_EQ(config_of("other"), config);
}

TEST_F(QueuesApiTest, AQueueIsPutAsItWasRead) {
  put("/queues/mail", R"({"maxQueueDepth":50})");
  post("/queues/mail/pause", R"({"by":"ann","reason":"a test"})");
  std::string payload = "1";
  for (int depth = 1; depth < 63; ++depth) payload = "[" + payload + "]";
  publish("mail", R"(,"payload":)" + payload);
  publish("mail", R"(,"payload":")" + std::string(1'000'000, 'x') + "\"");
  publish("mail", R"(,"payload":")" + std::string(1'000'000, 'x') + "\"");
  const std::string shown = get("/queues/mail").body;

  const HttpResponse same = put("/queues/mail", shown);

  EXPECT_EQ(same.status, 200) << same.body;
  expect_members(R"({"status":"paused","statusBy":"ann","depth":3,"config":{"maxQueueDepth":50}})", same);
  EXPECT_EQ(put("/queues/other", shown).status, 400) << "the body's id is another queue's";
}

TEST_F(QueuesApiTest, APatchChangesOnlyWhatItNames) {
  put("/queues/mail",
      R"({"maxQueueDepth":50,"onFailure":"block","retry":{"kind":"exponential","baseMs":10}})");

  const HttpResponse changed =
      request("PATCH", "/queues/mail", R"({"leaseMs":1000,"retry":{"baseMs":20},"maxQueueDepth":null})");

  EXPECT_EQ(changed.status, 200);
  expect_members(R"({"config":{"leaseMs":1000,"maxQueueDepth":10000,"onFailure":"block",)"
                 R"("retry":{"kind":"exponential","baseMs":20}}})",
                 changed);
}

TEST_F(QueuesApiTest, APatchWhoseResultIsInvalidChangesNothing) {
  put("/queues/mail", R"({"maxQueueDepth":50})");

  const HttpResponse refused = request("PATCH", "/queues/mail", R"({"highWatermark":51,"leaseMs":1000})");

  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(at(refused, "field"), R"("highWatermark")");
  EXPECT_EQ(at(get("/queues/mail"), "config.leaseMs"), "60000");
}

TEST_F(QueuesApiTest, AnEmptyQueueIsDeletedAndMadeAgainByAnEvent) {
  put("/queues/mail", R"({"maxQueueDepth":50})");

  const HttpResponse deleted = request("DELETE", "/queues/mail");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.body, R"({"id":"mail","deleted":true})");
  EXPECT_EQ(get("/queues/mail").status, 404);
  EXPECT_EQ(request("DELETE", "/queues/mail").status, 404);
  publish("mail");
  expect_members(R"({"depth":1,"config":{"maxQueueDepth":10000}})", get("/queues/mail"));
}

TEST_F(QueuesApiTest, AQueueWithEventsAndMainAreNotDeleted) {
  publish("mail");
  const HttpResponse full = request("DELETE", "/queues/mail");
  EXPECT_EQ(full.status, 409);
  EXPECT_THAT(full.body, HasSubstr("holds 1 live and 0 ended events"));
  complete(claim("mail"));
  EXPECT_THAT(request("DELETE", "/queues/mail").body, HasSubstr("holds 0 live and 1 ended events"));
  EXPECT_EQ(request("DELETE", "/queues/main").status, 409);
}

TEST_F(QueuesApiTest, ACheckpointThatWasAskedForStaysUntilItIsDeleted) {
  publish("mail");
  const HttpResponse made = post("/queues/mail/checkpoint");
  EXPECT_EQ(at(made, "requested"), "true");
  const std::string id = at(made, "id").substr(1, 36);
  complete(claim("mail"));

  EXPECT_EQ(at(post("/queues/mail/replay", R"({"checkpoint":")" + id + R"(","dry_run":true})"), "matched"),
            "1");
  const HttpResponse deleted = request("DELETE", "/queues/mail/checkpoints/" + id);
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(at(deleted, "id"), "\"" + id + "\"");
  EXPECT_EQ(request("DELETE", "/queues/mail/checkpoints/" + id).status, 404);
  EXPECT_EQ(get("/queues/mail/checkpoints").body, R"({"checkpoints":[]})");
}

TEST_F(QueuesApiTest, SettingsSurviveARestart) {
  put("/queues/mail", R"({"maxQueueDepth":50})");

  server_.restart();

  EXPECT_EQ(at(get("/queues/mail"), "config.maxQueueDepth"), "50");
}

TEST_F(QueuesApiTest, AnInvalidSettingIsRefusedByName) {
  const auto refused = [this](std::string_view config) {
    const HttpResponse response = put("/queues/mail", config);
    EXPECT_EQ(response.status, 400) << config;
    return at(response, "field");
  };

  EXPECT_EQ(refused(R"({"maxQueueDepth":0})"), R"("maxQueueDepth")");
  EXPECT_EQ(refused(R"({"batchSize":1001})"), R"("batchSize")");
  EXPECT_EQ(refused(R"({"processingInterval":0})"), R"("processingInterval")");
  EXPECT_EQ(refused(R"({"persistenceThreshold":-1})"), R"("persistenceThreshold")");
  EXPECT_EQ(refused(R"({"maxQueueDepth":10,"highWatermark":11})"), R"("highWatermark")");
  EXPECT_EQ(refused(R"({"leaseMs":99})"), R"("leaseMs")");
  EXPECT_EQ(refused(R"({"retry":{"jitter":1.5}})"), R"("retry.jitter")");
  EXPECT_EQ(refused(R"({"retry":{"kind":"linear"}})"), R"("retry.kind")");
  EXPECT_EQ(refused(R"({"durability":"sometimes"})"), R"("durability")");
  EXPECT_EQ(refused(R"({"color":"red"})"), R"("color")");
  EXPECT_EQ(get("/queues/mail").status, 404) << "a refused request does not create the queue";
}

TEST_F(QueuesApiTest, ANameIsOneSegmentOfThePathPercentDecoded) {
  publish("billing/eu");

  EXPECT_EQ(at(get("/queues/billing%2Feu"), "id"), R"("billing/eu")");
  EXPECT_EQ(get("/queues/billing/eu").status, 404);
  EXPECT_EQ(get("/queues/no%20blanks").status, 400);
  EXPECT_EQ(put("/queues/" + std::string(129, 'q'), "{}").status, 400);
}

TEST_F(QueuesApiTest, TheParameterEventsLimitsTheEventsShown) {
  for (int i = 0; i < 12; ++i) publish("mail");

  EXPECT_NE(at(get("/queues/mail"), "events[9].eventId"), "");
  EXPECT_EQ(at(get("/queues/mail"), "events[10].eventId"), "");
  EXPECT_NE(at(get("/queues/mail?events=1000"), "events[11].eventId"), "");
  EXPECT_THAT(get("/queues/mail?events=0").body, testing::Not(HasSubstr("\"events\"")));
  EXPECT_EQ(get("/queues/mail?events=1001").status, 400);
}

TEST_F(QueuesApiTest, CountsHaveEveryStatus) {
  put("/queues/mail", R"({"maxRetries":1})");
  for (int i = 0; i < 6; ++i) publish("mail", i == 5 ? R"(,"supersede_key":"k")" : "");
  complete(claim("mail"));
  fail(claim("mail"));
  post("/events/" + claim("mail") + "/complete", R"({"worker_id":"w:1","errors":["half"]})");
  claim("mail");
  post("/events/5/cancel");
  publish("mail", R"(,"supersede_key":"k")");

  EXPECT_THAT(get("/queues/mail").body,
              HasSubstr(R"("depth":2,"counts":{"PENDING":1,"PROCESSING":1,"COMPLETED":1,)"
                        R"("COMPLETED_WITH_ERRORS":1,"FAILED":1,"SUPERSEDED":1,"CANCELLED":1})"));
}

// Every request for a queue that does not exist.

TEST_F(QueuesApiTest, AnUnknownQueueIs404AndStaysUnknown) {
  for (const std::string_view target :
       {"/queues/none", "/queues/none/checkpoints", "/queues/none/recovery"}) {
    EXPECT_EQ(get(target).status, 404) << target;
  }
  for (const std::string_view action : {"pause", "resume", "drain", "drain?timeout=1", "checkpoint"}) {
    EXPECT_EQ(post("/queues/none/" + std::string(action)).status, 404) << action;
  }
  EXPECT_EQ(post("/queues/none/replay", R"({"from":"2024-01-01T00:00:00Z"})").status, 404);
  EXPECT_EQ(post("/queues/none/supersede", R"({"supersede_key":"k"})").status, 404);
  EXPECT_EQ(claim("none"), "");
  EXPECT_EQ(get("/queues/none").status, 404) << "a read does not create it";
}

TEST_F(QueuesApiTest, AnUnknownParameterMemberOrMethodIsRefused) {
  publish("mail");
  for (const std::string_view target : {"/queues", "/queues/mail", "/queues/mail/checkpoints",
                                        "/queues/mail/recovery", "/workers", "/failures", "/metrics"}) {
    EXPECT_EQ(get(std::string(target) + "?color=red").status, 400) << target;
    EXPECT_EQ(request("POST", target).status, 405) << target;
  }
  for (const std::string_view action : {"pause", "resume", "drain", "checkpoint", "replay", "supersede"}) {
    const std::string target = "/queues/mail/" + std::string(action);
    EXPECT_EQ(post(target + "?color=red").status, 400) << target;
    EXPECT_EQ(post(target, R"({"color":"red"})").status, 400) << target;
    EXPECT_EQ(get(target).header("Allow"), "POST") << target;
  }
  EXPECT_EQ(post("/events/1/wait?color=red").status, 400);
  EXPECT_EQ(post("/failures/redrive", R"({"color":"red"})").status, 400);
  EXPECT_EQ(at(get("/queues/mail"), "status"), R"("active")");
}

// Status

TEST_F(QueuesApiTest, APausedQueueShowsTheReasonTheCallerAndTheTime) {
  publish("mail");
  advance(5s);

  const HttpResponse paused = post("/queues/mail/pause", R"({"reason":"mail server moves","by":"alice"})");

  EXPECT_EQ(paused.status, 200);
  expect_members(R"({"status":"paused","statusReason":"mail server moves","statusBy":"alice",
                     "statusAt":"2024-03-15T00:00:05.000Z"})",
                 paused);
  EXPECT_EQ(at(get("/events/1/why"), "reason"), R"("queue_paused")");

  const HttpResponse resumed = post("/queues/mail/resume");
  EXPECT_EQ(at(resumed, "status"), R"("active")");
  EXPECT_EQ(at(resumed, "statusReason"), "");
}

TEST_F(QueuesApiTest, AResumeServesWaitingClaims) {
  put("/queues/mail", "{}");
  post("/queues/mail/pause");
  HttpClient worker = waiting("GET", "/events/subscribe?tags=t&queue=mail&worker_id=w:1&wait=20");
  const std::string id = publish("mail");
  server_.settle();
  EXPECT_FALSE(worker.readable_within(0ms));

  post("/queues/mail/resume");

  EXPECT_EQ(at(worker.receive().value(), "id"), id);
}

TEST_F(QueuesApiTest, AClaimedEventCanBeReportedWhileTheQueueIsPaused) {
  publish("mail");
  claim("mail");
  post("/queues/mail/pause");

  EXPECT_EQ(complete("1"), 200);
}

TEST_F(QueuesApiTest, ADrainWithATimeoutIsAnsweredWhenTheQueueIsEmpty) {
  publish("mail");
  claim("mail");
  HttpClient drain = waiting("POST", "/queues/mail/drain?timeout=20", "", {}, 2);

  complete("1");

  const HttpResponse drained = drain.receive().value();
  EXPECT_EQ(drained.status, 200);
  EXPECT_EQ(at(drained, "depth"), "0");
  EXPECT_EQ(at(drained, "status"), R"("draining")");
}

TEST_F(QueuesApiTest, ADrainThatTakesTooLongIs408AndContinues) {
  publish("mail");
  HttpClient drain = waiting("POST", "/queues/mail/drain?timeout=20", "", {}, 2);

  advance(20s);

  const HttpResponse late = drain.receive().value();
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(at(late, "type"), R"("urn:eventq:problem:timeout")");
  EXPECT_EQ(at(get("/queues/mail"), "status"), R"("draining")");
}

TEST_F(QueuesApiTest, ADrainOfAnEmptyQueueIsAnsweredAtOnce) {
  put("/queues/mail", "{}");

  EXPECT_EQ(post("/queues/mail/drain?timeout=60").status, 200);
  EXPECT_EQ(post("/queues/mail/drain?timeout=0").status, 200);
  EXPECT_EQ(post("/queues/mail/drain?timeout=3601").status, 400);
}

TEST_F(QueuesApiTest, ADrainingQueueRefusesEveryCallThatAddsEvents) {
  put("/queues/mail", R"({"maxRetries":1})");
  publish("mail");
  fail(claim("mail"));
  publish("mail");
  complete(claim("mail"));
  post("/queues/mail/drain");

  EXPECT_EQ(post("/events", R"({"title":"x","tags":"t","queue":"mail"})").status, 409);
  EXPECT_EQ(post("/events/batch", R"({"events":[{"title":"x","tags":"t","queue":"mail"}]})").status, 409);
  EXPECT_EQ(post("/events/1/reset").status, 409);
  EXPECT_EQ(post("/failures/redrive", R"({"queue":"mail"})").status, 409);
  EXPECT_EQ(post("/queues/mail/replay", R"({"from":"2024-03-15T00:00:00Z"})").status, 409);
  EXPECT_EQ(depth_of("mail"), "0");
}

// Checkpoints, recovery, replay

TEST_F(QueuesApiTest, CheckpointsAreListedNewestFirst) {
  publish("mail", R"(,"event_id":"a")");
  publish("mail", R"(,"event_id":"b")");
  post("/queues/mail/checkpoint");
  complete(claim("mail"));
  advance(1s);
  post("/queues/mail/checkpoint");
  complete(claim("mail"));
  advance(1s);
  const HttpResponse last = post("/queues/mail/checkpoint", "{}");

  EXPECT_EQ(last.status, 201);
  const HttpResponse listed = get("/queues/mail/checkpoints");
  EXPECT_EQ(at(listed, "checkpoints[0].id"), at(last, "id"));
  EXPECT_EQ(at(listed, "checkpoints[0].checkpointId"), R"("b")");
  EXPECT_EQ(at(listed, "checkpoints[0].eventCount"), "2");
  EXPECT_EQ(at(listed, "checkpoints[1].checkpointId"), R"("a")");
  EXPECT_EQ(at(listed, "checkpoints[2].checkpointId"), "null");
  EXPECT_EQ(at(get("/queues/mail/checkpoints?limit=1"), "checkpoints[1].id"), "");
  EXPECT_EQ(get("/queues/mail/checkpoints?limit=0").status, 400);
}

TEST_F(QueuesApiTest, AQueueCreatedSinceTheStartHasNoRecovery) {
  publish("mail");
  EXPECT_EQ(get("/queues/mail/recovery").status, 404);

  server_.restart();

  const HttpResponse recovery = get("/queues/mail/recovery");
  EXPECT_EQ(recovery.status, 200);
  expect_members(R"({"checkpointId":null,"eventsRecovered":1,"status":"completed"})", recovery);
}

TEST_F(QueuesApiTest, AReplayPublishesEventsAgainThatEndedSinceACheckpoint) {
  publish("mail");
  complete(claim("mail"));
  advance(1s);
  const std::string checkpoint = at(post("/queues/mail/checkpoint"), "id");
  const std::string id = publish("mail", R"(,"pattern":"order.paid","payload":{"n":2},"correlation_id":"c")");
  advance(1s);
  complete(claim("mail"));

  const HttpResponse replayed = post("/queues/mail/replay", R"({"checkpoint":)" + checkpoint + "}");

  EXPECT_EQ(replayed.status, 200);
  expect_members(R"({"dry_run":false,"matched":1,"events":[{"id":)" + id + R"(}],"more":false})", replayed);
  const HttpResponse copy = get("/events/" + at(replayed, "events[0].replayed_as"));
  expect_members(R"({"status":"PENDING","payload":{"n":2},"pattern":"order.paid"})", copy);
  EXPECT_EQ(at(copy, "causation_id"), at(get("/events/" + id), "event_id"));
}

TEST_F(QueuesApiTest, ADryRunOfAReplayChangesNothing) {
  publish("mail");
  complete(claim("mail"));

  const HttpResponse dry_run =
      post("/queues/mail/replay", R"({"from":"2024-03-15T00:00:00Z","dry_run":true})");

  EXPECT_EQ(dry_run.body, R"({"dry_run":true,"matched":1,"events":[{"id":1}],"more":false})");
  EXPECT_EQ(depth_of("mail"), "0");
}

TEST_F(QueuesApiTest, AReplayChoosesByTimeStatusTagsAndPattern) {
  put("/queues/mail", R"({"maxRetries":1})");
  publish("mail", R"(,"pattern":"a")");
  complete(claim("mail"));
  advance(10s);
  publish("mail", R"(,"pattern":"b")");
  fail(claim("mail"));
  const auto matched = [this](std::string_view members) {
    return at(post("/queues/mail/replay", R"({"dry_run":true,)" + std::string(members) + "}"), "matched");
  };

  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:00Z")"), "1");
  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:00Z","statuses":["FAILED","COMPLETED"])"), "2");
  EXPECT_EQ(matched(R"("to":"2024-03-15T00:00:10Z","statuses":["FAILED","COMPLETED"])"), "1");
  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:10Z","statuses":["FAILED"],"pattern":"b")"), "1");
  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:00Z","pattern":"b")"), "0");
  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:00Z","tags":"other")"), "0");
  EXPECT_EQ(matched(R"("from":"2024-03-15T00:00:00Z","tags":["other","t"])"), "1");
}

TEST_F(QueuesApiTest, AReplayNeedsACheckpointOrATime) {
  publish("mail");
  const std::string checkpoint = at(post("/queues/mail/checkpoint"), "id");
  const auto status = [this](std::string_view body) { return post("/queues/mail/replay", body).status; };

  EXPECT_EQ(status("{}"), 400);
  EXPECT_EQ(status(R"({"from":"2024-03-15T00:00:00Z","checkpoint":)" + checkpoint + "}"), 400);
  EXPECT_EQ(status(R"({"from":"yesterday"})"), 400);
  EXPECT_EQ(status(R"({"from":"2024-03-15T00:00:00Z","limit":10001})"), 400);
  EXPECT_EQ(status(R"({"from":"2024-03-15T00:00:00Z","statuses":["PENDING"]})"), 400);
  EXPECT_EQ(status(R"({"checkpoint":"01a1e1f7-e503-760e-a3fa-90758826ecc1"})"), 404);
}

TEST_F(QueuesApiTest, AReplayThatReachedItsLimitReportsMore) {
  for (int i = 0; i < 3; ++i) {
    publish("mail");
    complete(claim("mail"));
  }

  const HttpResponse replayed = post("/queues/mail/replay", R"({"from":"2024-03-15T00:00:00Z","limit":2})");

  EXPECT_EQ(at(replayed, "matched"), "2");
  EXPECT_EQ(at(replayed, "more"), "true");
}

// Superseding

TEST_F(QueuesApiTest, ASupersedeEndsThePendingEventsOfAKey) {
  publish("mail", R"(,"supersede_key":"k")");
  claim("mail");
  publish("mail", R"(,"supersede_key":"k")");
  publish("mail", R"(,"supersede_key":"other")");

  const HttpResponse superseded =
      post("/queues/mail/supersede", R"({"supersede_key":"k","reason":"withdrawn"})");

  EXPECT_EQ(superseded.body, R"({"superseded":1,"events":[2]})");
  EXPECT_EQ(status_of("1"), R"("PROCESSING")");
  EXPECT_EQ(status_of("2"), R"("SUPERSEDED")");
  EXPECT_EQ(status_of("3"), R"("PENDING")");
  const HttpResponse event = get("/events/2?include_logs=true");
  EXPECT_EQ(at(event, "logs[0].action"), R"("SUPERSEDED")");
  EXPECT_EQ(at(event, "logs[0].reason"), R"("withdrawn")");
  EXPECT_EQ(post("/queues/mail/supersede", "{}").status, 400);
}

TEST_F(QueuesApiTest, ASupersededEventNamesTheNewOne) {
  publish("mail", R"(,"supersede_key":"k")");
  const std::string newer = publish("mail", R"(,"supersede_key":"k")");

  EXPECT_EQ(at(get("/events/1"), "superseded_by"), newer);
  EXPECT_EQ(at(get("/events/1/why"), "reason"), R"("superseded")");
}

// GET /queues/{name}/log

TEST_F(QueuesApiTest, TheLogOfAQueueSaysWhoPausedResumedDrainedAndConfiguredIt) {
  put("/queues/mail?by=ann&reason=new+shop", R"({"maxQueueDepth":5})");
  put("/queues/mail?by=bob", R"({"maxQueueDepth":9})");
  post("/queues/mail/pause", R"({"by":"ann","reason":"database moves"})");
  post("/queues/mail/resume", R"({"by":"ann"})");
  post("/queues/mail/drain", R"({"reason":"shop closes"})");
  post("/queues/mail/checkpoint?by=eve&reason=before+the+release");

  const HttpResponse log = get("/queues/mail/log");

  EXPECT_EQ(log.status, 200);
  expect_members(R"({"entries":[
      {"queue":"mail","action":"checkpoint_made","by":"eve","reason":"before the release"},
      {"action":"draining","by":null,"reason":"shop closes","detail":{}},
      {"action":"resumed","by":"ann","reason":null},
      {"action":"paused","by":"ann","reason":"database moves"},
      {"action":"configured","by":"bob","detail":{"from":{"maxQueueDepth":5},"to":{"maxQueueDepth":9}}},
      {"action":"created","by":"ann","reason":"new shop","detail":{"to":{"maxQueueDepth":5}}}],
      "next":null})",
                 log);
}

TEST_F(QueuesApiTest, TheLogOfAQueueSaysWhoReplayedSupersededAndRetried) {
  put("/queues/mail", R"({"maxRetries":1})");
  publish("mail");
  const std::string failed = claim("mail");
  post("/events/" + failed + "/fail", R"({"worker_id":"w:1","error_message":"no route"})");
  const std::string pending = publish("mail", R"(,"supersede_key":"k")");
  post("/queues/mail/supersede", R"({"supersede_key":"k","by":"ann","reason":"old price"})");
  post("/failures/retry", R"({"queue":"mail","cause":"no route","by":"bob","reason":"route is back"})");
  complete(claim("mail"));
  post("/queues/mail/replay", R"({"to":"2100-01-01T00:00:00Z","by":"eve","reason":"lost"})");

  expect_members(R"({"entries":[
      {"action":"replayed","by":"eve","reason":"lost","detail":{"events":1}},
      {"action":"retried","by":"bob","reason":"route is back","detail":{"events":1,"cause":"no route"}},
      {"action":"superseded","by":"ann","reason":"old price","detail":{"supersede_key":"k","events":1}},
      {"action":"created"}]})",
                 get("/queues/mail/log"));
  EXPECT_THAT(get("/events/" + failed + "?include_logs=true").body,
              HasSubstr(R"("action":"RESET","attempt":1,"reason":"route is back","by":"bob")"));
  EXPECT_THAT(get("/events/" + pending + "?include_logs=true").body,
              HasSubstr(R"("reason":"old price","by":"ann")"));
}

TEST_F(QueuesApiTest, TheLogOfAQueueHasPagesAndOutlivesARestart) {
  for (const char* verb : {"pause", "resume", "drain"}) post("/queues/main/" + std::string(verb));
  server_.restart();

  const HttpResponse newest = get("/queues/main/log?limit=2");
  expect_members(R"({"entries":[{"action":"draining"},{"action":"resumed"}]})", newest);
  const std::string next = at(newest, "next");
  const HttpResponse oldest = get("/queues/main/log?limit=2&before=" + next.substr(1, next.size() - 2));
  expect_members(R"({"entries":[{"action":"paused"}],"next":null})", oldest);

  EXPECT_EQ(get("/queues/none/log").status, 404);
  EXPECT_EQ(get("/queues/main/log?before=7").status, 400);
  EXPECT_EQ(get("/queues/main/log?limit=1001").status, 400);
}

}  // namespace
}  // namespace eventq
