// reload_test.cc: which changes of a configuration a running server takes over.
#include "server/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ServerConfig config_with(ServeFlags flags, std::map<std::string, QueueConfig> queues) {
  ServerConfig config = load_config(flags, {}).value();
  config.settings.queue.queues = std::move(queues);
  return config;
}

TEST(Reload, AnUnchangedConfigurationHasNoDifference) {
  const ServerConfig config = config_with({.values = {{"lease", "5s"}}}, {{"mail", {}}});

  const ConfigDifference found = difference(config, config);

  EXPECT_FALSE(found.origins);
  EXPECT_THAT(found.queues, IsEmpty());
  EXPECT_THAT(found.removed, IsEmpty());
  EXPECT_THAT(found.needs_restart, IsEmpty());
}

TEST(Reload, QueuesAndOriginsAreTakenOverAndOtherSettingsNeedARestart) {
  const ServerConfig running = config_with({}, {{"a", {}}, {"b", QueueConfig{.batch_size = 5}}, {"c", {}}});
  const ServerConfig wanted = config_with(
      {.values = {{"lease", "5s"}, {"allow_origin", "https://a.example"}, {"listen", "127.0.0.1:9"}}},
      {{"a", {}}, {"b", QueueConfig{.batch_size = 6}}, {"d", {}}});

  const ConfigDifference found = difference(running, wanted);

  EXPECT_TRUE(found.origins);
  EXPECT_THAT(found.queues, ElementsAre("b", "d"));
  EXPECT_THAT(found.removed, ElementsAre("c"));
  EXPECT_THAT(found.needs_restart, ElementsAre("listen", "lease"));
}

TEST(Reload, AnotherPasswordOfAStoreNeedsARestart) {
  const ServerConfig running = config_with({.values = {{"store", "postgres://u:old@db/e"}}}, {});
  const ServerConfig wanted = config_with({.values = {{"store", "postgres://u:new@db/e"}}}, {});

  EXPECT_THAT(difference(running, wanted).needs_restart, ElementsAre("store"));
}

}  // namespace
}  // namespace eventq::server
