// typed_handler_test.cc: handlers of the user's own types, and what a conversion that fails does, on every
// store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "eventq/worker.h"
#include "support/worker_queue.h"

namespace eventq {
namespace {

using testing::SizeIs;

using TypedHandlerTest = WorkerQueueTest;
INSTANTIATE_TEST_SUITE_P(AllStores, TypedHandlerTest, testing::Values("memory", "real"),
                         name_of_worker_queue);

// No default constructor and no copies, because a user's type may have neither.
struct SendMail {
  explicit SendMail(std::string to) : address(std::make_unique<std::string>(std::move(to))) {}
  std::unique_ptr<std::string> address;
};

Result<SendMail> parse_mail(const Event& event) {
  if (event.payload == "null") return Error{ErrorCode::invalid_argument, "It has no address.", "payload"};
  return SendMail(event.payload);
}

EventId publish_mail(Queue& queue, const std::string& payload) {
  return queue.publish({.title = "mail", .tags = {"email"}, .payload = payload}).value().id;
}

TEST_P(TypedHandlerTest, TheHandlerGetsTheConvertedEvent) {
  Worker worker(*queue);
  worker.on<SendMail>("email", parse_mail,
                      [](const SendMail& mail, const Event& event, const std::stop_token&) {
                        return Handled::error(event.title + " to " + *mail.address);
                      });
  ASSERT_TRUE(worker.start());

  const EventId id = publish_mail(*queue, R"("a@b")");

  EXPECT_EQ(ended(id).status, Status::completed_with_errors);
  EXPECT_THAT(entries(id, Action::completed).at(0).errors, testing::ElementsAre(R"(mail to "a@b")"));
}

TEST_P(TypedHandlerTest, AHandlerOfTheValueAloneIsEnough) {
  Worker worker(*queue);
  worker.on<SendMail>("email", parse_mail,
                      [](const SendMail& mail) { return Handled::error(*mail.address); });
  ASSERT_TRUE(worker.start());

  const EventId id = publish_mail(*queue, R"("a@b")");

  EXPECT_EQ(ended(id).status, Status::completed_with_errors);
  EXPECT_THAT(entries(id, Action::completed).at(0).errors, testing::ElementsAre(R"("a@b")"));
}

TEST_P(TypedHandlerTest, AnErrorOfTheConversionIsAPermanentFailure) {
  Worker worker(*queue);
  worker.on<SendMail>("email", parse_mail, [](const SendMail&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());

  const EventId id = publish_mail(*queue, "null");

  EXPECT_EQ(ended(id).status, Status::failed);
  const auto failed = entries(id, Action::failed);
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].error_message, "The event cannot be converted: It has no address.");
}

TEST_P(TypedHandlerTest, AnExceptionOfTheConversionIsAPermanentFailure) {
  Worker worker(*queue);
  worker.on<int>(
      "email", [](const Event& event) { return std::stoi(event.payload); },
      [](int) { return Handled::done(); });
  ASSERT_TRUE(worker.start());

  const EventId id = publish_mail(*queue, R"("a@b")");

  EXPECT_EQ(ended(id).status, Status::failed);
  EXPECT_EQ(entries(id, Action::failed).at(0).error_message, "The event cannot be converted: stoi");
}

TEST_P(TypedHandlerTest, AnExceptionOfTheHandlerIsRetried) {
  Worker worker(*queue);
  worker.on<SendMail>("email", parse_mail,
                      [](const SendMail&, const Event& event, const std::stop_token&) -> Handled {
                        if (event.attempts == 1) throw std::runtime_error("no connection");
                        return Handled::done();
                      });
  ASSERT_TRUE(worker.start());

  const EventId id = publish_mail(*queue, R"("a@b")");

  EXPECT_EQ(ended(id).status, Status::completed);
  EXPECT_EQ(entries(id, Action::failed).at(0).error_message, "no connection");
}

TEST_P(TypedHandlerTest, APatternTakesATypedHandlerToo) {
  Worker worker(*queue);
  worker.on_pattern("mail.>", typed_handler<SendMail>(
                                  parse_mail, [](const SendMail& mail, const Event&, const std::stop_token&) {
                                    return Handled::error(*mail.address);
                                  }));
  ASSERT_TRUE(worker.start());

  const EventId id =
      queue->publish({.title = "m", .tags = {"x"}, .payload = "1", .pattern = "mail.sent"}).value().id;

  EXPECT_EQ(ended(id).status, Status::completed_with_errors);
}

TEST_P(TypedHandlerTest, AnEmptyConversionOrHandlerIsRefusedAtTheStart) {
  Worker without_conversion(*queue);
  without_conversion.on<SendMail>("email", nullptr, [](const SendMail&) { return Handled::done(); });
  EXPECT_EQ(without_conversion.start().error().message, "The handler for \"email\" is empty.");

  Worker without_handler(*queue);
  without_handler.on<SendMail>("email", parse_mail, ValueHandler<SendMail>());
  EXPECT_EQ(without_handler.start().error().message, "The handler for \"email\" is empty.");
}

}  // namespace
}  // namespace eventq
