// placement_test.cc: events with a key always go to the same shard, events without one to any.
#include "shards/placement.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/hash.h"
#include "model/shard_of.h"

namespace eventq {
namespace {

NewEvent event(std::string ordering_key = "", std::string correlation_id = "", std::string supersede_key = "",
               std::string event_id = "") {
  NewEvent event;
  event.ordering_key = std::move(ordering_key);
  event.correlation_id = std::move(correlation_id);
  event.supersede_key = std::move(supersede_key);
  event.event_id = std::move(event_id);
  return event;
}

Publication publication(std::vector<NewEvent> events) {
  Publication publication;
  publication.events = std::move(events);
  return publication;
}

// Keys of two different shards out of two.
std::string key_of_shard(int shard) {
  for (int i = 0;; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (shard_of(hash64(key), 2) == shard) return key;
  }
}

TEST(Placement, AnIdNamesItsShardByItsRemainder) {
  EXPECT_EQ(shard_of(EventId(1), 1), 0);
  EXPECT_EQ(shard_of(EventId(6), 3), 0);
  EXPECT_EQ(shard_of(EventId(7), 3), 1);
  EXPECT_EQ(shard_of(EventId(8), 3), 2);
}

TEST(Placement, APublicationWithoutAKeyMayGoToAnyShard) {
  const auto hash = placement_of(publication({event(), event()}), 4);
  ASSERT_TRUE(hash);
  EXPECT_FALSE(*hash);
}

TEST(Placement, TheFirstKindOfKeyThatIsSetChoosesTheShard) {
  EXPECT_EQ(*placement_of(publication({event("line", "corr", "key", "id")}), 2), hash64("line"));
  EXPECT_EQ(*placement_of(publication({event("", "corr", "key", "id")}), 2), hash64("corr"));
  EXPECT_EQ(*placement_of(publication({event("", "", "key", "id")}), 2), hash64("key"));
  EXPECT_EQ(*placement_of(publication({event("", "", "", "id")}), 2), hash64("id"));
  Publication keyed = publication({event()});
  keyed.key = IdempotencyKey{"again", "fingerprint"};
  EXPECT_EQ(*placement_of(keyed, 2), hash64("again"));
}

TEST(Placement, KeysOfTwoShardsInOneRequestAreRefusedAndTheErrorNamesBoth) {
  const std::string here = key_of_shard(0);
  const std::string there = key_of_shard(1);
  for (const auto& [mine, yours] :
       {std::pair(event(here), event(there)), std::pair(event("", here), event("", there)),
        std::pair(event("", "", here), event("", "", there))}) {
    const auto placed = placement_of(publication({mine, yours}), 2);
    ASSERT_FALSE(placed);
    EXPECT_EQ(placed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(placed.error().message.find(here), std::string::npos) << placed.error().message;
    EXPECT_NE(placed.error().message.find(there), std::string::npos) << placed.error().message;
    EXPECT_TRUE(placement_of(publication({mine, yours}), 1)) << "a single shard has all keys";
  }
}

TEST(Placement, TheFirstOfSeveralEventIdsChoosesTheShard) {
  const auto placed =
      placement_of(publication({event("", "", "", key_of_shard(1)), event("", "", "", key_of_shard(0))}), 2);
  EXPECT_EQ(shard_of(**placed, 2), 1);
}

TEST(Placement, ACorrelationIdIsMadeForTheShardItsEventsGoTo) {
  int made = 0;
  std::set<std::string> ids;
  for (int shard = 0; shard < 5; ++shard) {
    const std::string id = correlation_id_for(shard, 5, [&] { return std::to_string(++made); });
    EXPECT_EQ(shard_of(hash64(id), 5), shard);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 5U);
}

TEST(Placement, ACorrelationIdIsMadeForABatchWithoutOne) {
  Publication both = publication({event(), event()});
  EXPECT_FALSE(makes_correlation(both));
  both.correlated = true;
  EXPECT_TRUE(makes_correlation(both));
  both.events.front().correlation_id = "mine";
  EXPECT_FALSE(makes_correlation(both));
}

TEST(Placement, KeysSpreadEvenlyOverTheShards) {
  std::vector<int> count(4);
  for (int i = 0; i < 10'000; ++i) {
    count[static_cast<std::size_t>(shard_of(hash64("order-" + std::to_string(i)), 4))] += 1;
  }
  for (const int keys : count) EXPECT_NEAR(keys, 2500, 250);
}

}  // namespace
}  // namespace eventq
