// names_test.cc: the spelling of statuses and actions, which stored rows contain and so must not change.
#include "model/names.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

TEST(Names, EachStatusHasItsOneSpelling) {
  struct Row {
    Status status;
    std::string_view name;
  };
  for (const Row& row :
       {Row{Status::pending, "PENDING"}, Row{Status::processing, "PROCESSING"},
        Row{Status::completed, "COMPLETED"}, Row{Status::completed_with_errors, "COMPLETED_WITH_ERRORS"},
        Row{Status::failed, "FAILED"}, Row{Status::superseded, "SUPERSEDED"},
        Row{Status::cancelled, "CANCELLED"}}) {
    EXPECT_EQ(name_of(row.status), row.name);
    EXPECT_EQ(status_named(row.name), row.status) << row.name;
  }
}

TEST(Names, EachActionHasItsOneSpelling) {
  struct Row {
    Action action;
    std::string_view name;
  };
  for (const Row& row :
       {Row{Action::picked, "PICKED"}, Row{Action::started, "STARTED"}, Row{Action::completed, "COMPLETED"},
        Row{Action::failed, "FAILED"}, Row{Action::abandoned, "ABANDONED"}, Row{Action::released, "RELEASED"},
        Row{Action::reset, "RESET"}, Row{Action::cancelled, "CANCELLED"}}) {
    EXPECT_EQ(name_of(row.action), row.name);
    EXPECT_EQ(action_named(row.name), row.action) << row.name;
  }
}

TEST(Names, EachActionOfAQueuesLogHasItsOneSpelling) {
  struct Row {
    QueueAction action;
    std::string_view name;
  };
  for (const Row& row :
       {Row{QueueAction::created, "created"}, Row{QueueAction::configured, "configured"},
        Row{QueueAction::paused, "paused"}, Row{QueueAction::resumed, "resumed"},
        Row{QueueAction::draining, "draining"}, Row{QueueAction::superseded, "superseded"},
        Row{QueueAction::replayed, "replayed"}, Row{QueueAction::retried, "retried"},
        Row{QueueAction::checkpoint_made, "checkpoint_made"},
        Row{QueueAction::checkpoint_deleted, "checkpoint_deleted"}, Row{QueueAction::deleted, "deleted"}}) {
    EXPECT_EQ(name_of(row.action), row.name);
    EXPECT_EQ(queue_action_named(row.name), row.action) << row.name;
  }
  EXPECT_FALSE(queue_action_named("PAUSED"));
}

TEST(Names, AnyOtherSpellingHasNoMeaning) {
  for (const std::string_view name :
       {"", "pending", "Pending", " PENDING", "PENDING ", "PEND", "PENDINGS", "0"}) {
    EXPECT_FALSE(status_named(name)) << name;
    EXPECT_FALSE(action_named(name)) << name;
  }
  EXPECT_FALSE(status_named("PICKED"));
  EXPECT_FALSE(action_named("PROCESSING"));
}

TEST(Names, AnEventHasEndedUnlessItIsPendingOrProcessing) {
  EXPECT_FALSE(has_ended(Status::pending));
  EXPECT_FALSE(has_ended(Status::processing));
  EXPECT_TRUE(has_ended(Status::completed));
  EXPECT_TRUE(has_ended(Status::completed_with_errors));
  EXPECT_TRUE(has_ended(Status::failed));
  EXPECT_TRUE(has_ended(Status::superseded));
  EXPECT_TRUE(has_ended(Status::cancelled));
}

}  // namespace
}  // namespace eventq
