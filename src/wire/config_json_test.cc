// config_json_test.cc: a queue's settings are read and written, and the limits of each setting.
#include "wire/config_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace eventq::wire {
namespace {

class ConfigJson : public testing::Test {
 protected:
  JsonValue json(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *value : JsonValue();
  }

  // The field of the error for a PUT with this body; empty when it is accepted.
  std::string fault(std::string_view body) {
    const auto config = parse_config_body(json(body), "mail");
    if (!config) return config.error().field;
    const auto invalid = validate("mail", *config, default_policy(Options{}));
    return invalid ? invalid->field : "";
  }

  JsonParser parser_;
};

constexpr std::string_view kAll =
    R"({"maxQueueDepth":500,"batchSize":20,"processingInterval":250,"persistenceThreshold":50,)"
    R"("highWatermark":400,"leaseMs":30000,"maxAttempts":5,"maxRetries":7,)"
    R"("retry":{"kind":"exponential","baseMs":1000,"capMs":60000,"jitter":0.2},)"
    R"("durability":"buffered","onFailure":"block","retention":{"completedSeconds":60,"failedSeconds":120}})";

TEST_F(ConfigJson, EachMemberIsRead) {
  const auto config = parse_config(json(kAll));

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->max_queue_depth, 500);
  EXPECT_EQ(config->batch_size, 20);
  EXPECT_EQ(config->processing_interval, Millis(250));
  EXPECT_EQ(config->persistence_threshold, 50);
  EXPECT_EQ(config->high_watermark, 400);
  EXPECT_EQ(config->lease, std::chrono::seconds(30));
  EXPECT_EQ(config->max_attempts, 5);
  EXPECT_EQ(config->max_retries, 7);
  EXPECT_EQ(config->retry,
            (RetryPolicy{RetryPolicy::Kind::exponential, Millis(1000), std::chrono::minutes(1), 0.2}));
  EXPECT_EQ(config->durability, Durability::buffered);
  EXPECT_EQ(config->on_failure, OnFailure::block);
  EXPECT_EQ(config->completed_retention, std::chrono::minutes(1));
  EXPECT_EQ(config->failed_retention, std::chrono::minutes(2));
}

TEST_F(ConfigJson, NullAndAbsentAreTheSame) {
  const auto config = parse_config(json(
      R"({"maxQueueDepth":null,"batchSize":null,"retry":null,"durability":null,"retention":{"failedSeconds":null}})"));

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(*config, QueueConfig());
}

TEST_F(ConfigJson, ABodyIsTheSettingsOrAnObjectWithAConfig) {
  const auto direct = parse_config_body(json(R"({"batchSize":7})"), "mail");
  const auto wrapped = parse_config_body(json(R"({"config":{"batchSize":7}})"), "mail");
  const auto nothing = parse_config_body(json(R"({"config":null})"), "mail");

  ASSERT_TRUE(direct.has_value() && wrapped.has_value() && nothing.has_value());
  EXPECT_EQ(direct->batch_size, 7);
  EXPECT_EQ(*wrapped, *direct);
  EXPECT_EQ(*nothing, QueueConfig());
  EXPECT_EQ(fault(R"({"config":{"batchSize":"7"}})"), "config.batchSize");
  EXPECT_EQ(fault(R"({"config":{},"batchSize":7})"), "batchSize");
  EXPECT_EQ(parse_config_body(json(R"({"config":{},"batchSize":7})"), "mail").error().message,
            "Send the settings themselves or inside \"config\", not both.");
  EXPECT_EQ(fault(R"({"config":[]})"), "config");
}

TEST_F(ConfigJson, TheReadOnlyMembersOfAShownQueueAreIgnored) {
  const auto shown = parse_config_body(
      json(R"({"id":"mail","events":[{"eventId":"evt_1"}],"checkpointId":null,"queueMetrics":{},"config":)"
           R"({"batchSize":7},"status":"paused","created_at":"x","updated_at":"y","depth":1,"counts":{},)"
           R"("statusBy":"a","statusReason":"b","statusAt":"z"})"),
      "mail");

  ASSERT_TRUE(shown.has_value()) << shown.error().message;
  EXPECT_EQ(shown->batch_size, 7);
  EXPECT_EQ(
      parse_config_body(json(R"({"id":"other","config":{}})"), "mail").error().message,
      "id is \"other\", but the path names the queue \"mail\". Leave id out, or send the settings to the "
      "queue that it names.");
  EXPECT_EQ(fault(R"({"id":7,"config":{}})"), "id");
  EXPECT_EQ(fault(R"({"status":"paused"})"), "status") << "without config, all settings would be cleared";
}

TEST_F(ConfigJson, APatchHasTheSettingsThatItNamesAndClearsThoseThatAreNull) {
  const auto patch = parse_config_patch(json(
      R"({"batchSize":7,"leaseMs":null,"retry":{"kind":"exponential"},"retention":{"failedSeconds":null}})"));

  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  EXPECT_EQ(patch->set, QueueConfig{.batch_size = 7});
  EXPECT_TRUE(patch->cleared.lease && patch->cleared.failed_retention);
  EXPECT_FALSE(patch->cleared.batch_size || patch->cleared.completed_retention || patch->cleared.retry);
  ASSERT_TRUE(patch->retry);
  EXPECT_EQ(patch->retry->kind, RetryPolicy::Kind::exponential);
  EXPECT_FALSE(patch->retry->base || patch->retry->cap || patch->retry->jitter);
}

TEST_F(ConfigJson, ANullClearsEachSetting) {
  const auto patch = parse_config_patch(
      json(R"({"maxQueueDepth":null,"batchSize":null,"processingInterval":null,"persistenceThreshold":null,)"
           R"("highWatermark":null,"leaseMs":null,"maxAttempts":null,"maxRetries":null,"retry":null,)"
           R"("durability":null,"onFailure":null,"retention":null})"));

  ASSERT_TRUE(patch.has_value()) << patch.error().message;
  const auto all = parse_config(json(kAll));
  EXPECT_EQ(patched("mail", *all, *patch, default_policy(Options{})), QueueConfig());
}

TEST_F(ConfigJson, APatchRefusesAnUnknownSettingAndAWrongType) {
  EXPECT_EQ(parse_config_patch(json(R"({"batchsize":7})")).error().field, "batchsize");
  EXPECT_EQ(parse_config_patch(json(R"({"retry":{"kind":5}})")).error().field, "retry.kind");
  EXPECT_EQ(parse_config_patch(json(R"({"config":{}})")).error().field, "config");
  EXPECT_FALSE(parse_config_patch(json("[]")));
}

TEST_F(ConfigJson, TheLimitsOfEachMemberAreExact) {
  const struct {
    std::string_view name;
    std::int64_t least;
    std::int64_t most;
  } rows[] = {
      {"maxQueueDepth", 1, 1'000'000'000},
      {"batchSize", 1, 1000},
      {"processingInterval", 1, 3'600'000},
      {"persistenceThreshold", 1, 1'000'000'000},
      {"leaseMs", 100, 31'536'000'000},
      {"maxAttempts", 1, 1'000'000},
      {"maxRetries", 0, 1000},
      {"retry.baseMs", 0, 31'536'000'000},
      {"retry.capMs", 0, 31'536'000'000},
      {"retention.completedSeconds", 0, 3'153'600'000},
      {"retention.failedSeconds", 0, 3'153'600'000},
  };
  for (const auto& row : rows) {
    const auto faulty = [&](std::int64_t value) {
      const std::size_t dot = row.name.find('.');
      const std::string member = "\"" + std::string(row.name.substr(dot + 1)) + "\":" + std::to_string(value);
      if (dot == std::string_view::npos) return fault("{" + member + "}");
      return fault("{\"" + std::string(row.name.substr(0, dot)) + "\":{" + member + "}}");
    };
    EXPECT_EQ(faulty(row.least - 1), row.name);
    EXPECT_EQ(faulty(row.least), "") << row.name;
    EXPECT_EQ(faulty(row.least + 1), "") << row.name;
    EXPECT_EQ(faulty(row.most - 1), "") << row.name;
    EXPECT_EQ(faulty(row.most), "") << row.name;
    EXPECT_EQ(faulty(row.most + 1), row.name);
  }
}

TEST_F(ConfigJson, TheWatermarkIsBelowTheDepth) {
  const auto with = [&](std::int64_t watermark) {
    return fault(R"({"maxQueueDepth":1000,"highWatermark":)" + std::to_string(watermark) + "}");
  };
  EXPECT_EQ(with(0), "highWatermark");
  EXPECT_EQ(with(1), "");
  EXPECT_EQ(with(2), "");
  EXPECT_EQ(with(999), "");
  EXPECT_EQ(with(1000), "");
  EXPECT_EQ(with(1001), "highWatermark");
  // The default depth limit counts, too.
  EXPECT_EQ(fault(R"({"highWatermark":10000})"), "");
  EXPECT_EQ(fault(R"({"highWatermark":10001})"), "highWatermark");
}

TEST_F(ConfigJson, JitterIsANumberFrom0To1) {
  for (const std::string_view good : {"0", "0.0", "0.25", "1", "1.0", "1e-3"}) {
    EXPECT_EQ(fault(R"({"retry":{"jitter":)" + std::string(good) + "}}"), "") << good;
  }
  for (const std::string_view bad : {"-0.01", "1.01", "1e400", "\"0.5\"", "true"}) {
    EXPECT_EQ(fault(R"({"retry":{"jitter":)" + std::string(bad) + "}}"), "retry.jitter") << bad;
  }
}

TEST_F(ConfigJson, ABadMemberIsNamed) {
  const struct {
    std::string_view body;
    std::string_view field;
  } cases[] = {
      {R"({"maxQueueDepth":"10"})", "maxQueueDepth"},
      {R"({"maxQueueDepth":1.0})", "maxQueueDepth"},
      {R"({"batchSize":4294967297})", "batchSize"},
      {R"({"durability":"none"})", "durability"},
      {R"({"onFailure":true})", "onFailure"},
      {R"({"retry":"fixed"})", "retry"},
      {R"({"retry":{"kind":"linear"}})", "retry.kind"},
      {R"({"retry":{"baseMs":1,"delay":1}})", "retry.delay"},
      {R"({"retention":60})", "retention"},
      {R"({"retention":{"completed":60}})", "retention.completed"},
      {R"({"max_queue_depth":10})", "max_queue_depth"},
      {"[]", ""},
  };
  for (const auto& row : cases) {
    const auto config = parse_config_body(json(row.body), "mail");
    ASSERT_FALSE(config.has_value()) << row.body;
    EXPECT_EQ(config.error().field, row.field) << row.body;
    EXPECT_EQ(config.error().code, ErrorCode::invalid_argument) << row.body;
  }
  EXPECT_EQ(parse_config_body(json(R"({"durability":"none"})"), "mail").error().message,
            "durability is \"none\"; it must be \"strict\" or \"buffered\".");
}

TEST_F(ConfigJson, TheSettingsInForceAreShown) {
  const auto shown = [&](const std::string& name, const std::string& config) {
    const auto own = parse_config(json(config));
    EXPECT_TRUE(own.has_value());
    std::string out;
    JsonWriter writer(out);
    if (own) write_config(writer, resolve(name, *own, default_policy(Options{})));
    return out;
  };
  EXPECT_EQ(shown("mail", "{}"),
            R"({"maxQueueDepth":10000,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,)"
            R"("highWatermark":8000,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,)"
            R"("retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict",)"
            R"("onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}})");
  EXPECT_TRUE(
      shown("main", "{}")
          .starts_with(
              R"({"maxQueueDepth":null,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,)"
              R"("highWatermark":null,)"));
  EXPECT_EQ(shown("mail", std::string(kAll)), kAll);
}

}  // namespace
}  // namespace eventq::wire
