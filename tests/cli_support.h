// cli_support.h: a server, and the commands of `eventq` run against it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/framework/record.h"
#include "support/http_client.h"
#include "support/server_process.h"

namespace eventq {

class CliTest : public testing::Test {
 protected:
  explicit CliTest(std::vector<std::string> serve = {}) : server_(std::move(serve)) {}

  void SetUp() override { ASSERT_TRUE(server_.start()) << server_.log(); }

  // `redirects` as in a shell. Commands do not prompt, because standard input is not a terminal.
  [[nodiscard]] ProcessSetup setup(const std::vector<std::string>& arguments,
                                   const std::string& redirects = "</dev/null") const {
    ProcessSetup setup = eventq_program(server_.file(""), arguments,
                                        {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port())});
    const std::vector<std::string> shell = {"/bin/sh", "-c", R"(exec "$0" "$@" )" + redirects};
    setup.command.insert(setup.command.begin(), shell.begin(), shell.end());
    return setup;
  }

  [[nodiscard]] Finished eventq(const std::vector<std::string>& arguments,
                                const std::string& redirects = "</dev/null") const {
    return run(setup(arguments, redirects));
  }

  // Publishes an event and returns its id.
  std::string publish(const std::string& tags, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"publish", tags, "-o", "id"});
    const Finished done = eventq(more);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out.substr(0, done.out.find('\n'));
  }

  // Claims the next event with this tag for a worker, and waits until there is one.
  std::string claim(const std::string& tag) {
    HttpClient client(server_.port());
    const auto claimed = client.get("/events/subscribe?worker_id=w1&wait=9&tags=" + tag);
    EXPECT_TRUE(claimed && claimed->status == 200);
    return claimed ? member(claimed->body, "id") : "";
  }

  // Reports a claimed event: "complete" or "fail".
  void report(const std::string& id, const std::string& how, const std::string& more = "") {
    HttpClient client(server_.port());
    const auto reported = client.post("/events/" + id + "/" + how, R"({"worker_id":"w1")" + more + "}");
    EXPECT_TRUE(reported) << how;
  }

  // Publishes an event and lets it fail for the last time, with this message.
  std::string failed_event(const std::string& tag, const std::string& message) {
    const std::string id = publish(tag, {"--retries", "0"});
    EXPECT_EQ(claim(tag), id);
    report(id, "fail", R"(,"error_message":")" + message + "\"");
    EXPECT_EQ(status_of(id), "FAILED");
    return id;
  }

  [[nodiscard]] std::string status_of(const std::string& id) const {
    return member(eventq({"get", id}).out, "status");
  }

  static std::string member(std::string_view json, std::string_view path) {
    JsonParser parser;
    const auto value = parser.parse(json);
    return value ? cli::text_at(*value, path).value_or("") : "(no JSON)";
  }

  ServerProcess server_;
};

}  // namespace eventq
