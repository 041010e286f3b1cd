// local_api.h: a fixture for HTTP tests of a server inside the test. Only advance() moves its clock.
//
// Threads: belongs to one thread; another thread needs its own HttpClient.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/time_text.h"
#include "support/http_client.h"
#include "support/json_lines.h"
#include "support/local_server.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {

// The value at a path of a JSON text, as json_lines.h writes both; empty when there is none.
inline std::string at(std::string_view json, const std::string& where) {
  const JsonLines lines = json_lines(json);
  const auto found = lines.find(where);
  return found == lines.end() ? std::string() : found->second;
}
inline std::string at(const HttpResponse& response, const std::string& where) {
  return at(response.body, where);
}

inline TimePoint time_at(std::string_view iso) { return parse_iso_time(iso).value(); }

class LocalApiTest : public testing::Test {
 protected:
  explicit LocalApiTest(Options options = {}, http::ApiExtension extension = {})
      : server_(store_.url(), with_clock(std::move(options), clock_), std::move(extension)) {}

  HttpResponse request(std::string_view method, std::string_view target, std::string_view body = {},
                       const HttpHeaders& headers = {}) {
    HttpClient client(server_.port());
    auto response = client.request(method, target, body, headers);
    EXPECT_TRUE(response.has_value()) << target << ": " << (response ? "" : response.error().message);
    return response ? std::move(*response) : HttpResponse();
  }
  HttpResponse get(std::string_view target) { return request("GET", target); }
  HttpResponse put(std::string_view target, std::string_view body) { return request("PUT", target, body); }
  HttpResponse post(std::string_view target, std::string_view body = {}, const HttpHeaders& headers = {}) {
    return request("POST", target, body, headers);
  }

  // Publishes an event with the tag t into a queue, with `more` members (",\"priority\":1"). Returns its id.
  std::string publish(std::string_view queue, std::string_view more = {}) {
    const HttpResponse response = post("/events", R"({"title":"event","tags":"t","queue":")" +
                                                      std::string(queue) + '"' + std::string(more) + "}");
    EXPECT_EQ(response.status, 201) << response.body;
    return at(response, "id");
  }

  // Claims the next event of a queue. Returns its id; empty when there is none.
  std::string claim(std::string_view queue, std::string_view worker = "w:1") {
    const HttpResponse response =
        get("/events/subscribe?tags=t&queue=" + std::string(queue) + "&worker_id=" + std::string(worker));
    EXPECT_TRUE(response.status == 200 || response.status == 204) << response.body;
    return at(response, "id");
  }
  int complete(std::string_view id, std::string_view worker = "w:1") {
    return post("/events/" + std::string(id) + "/complete", worker_body(worker)).status;
  }
  int fail(std::string_view id, std::string_view message = "broken", std::string_view worker = "w:1") {
    return post("/events/" + std::string(id) + "/fail",
                worker_body(worker, R"(,"error_message":")" + std::string(message) + '"'))
        .status;
  }
  std::string status_of(std::string_view id) { return at(get("/events/" + std::string(id)), "status"); }
  std::string depth_of(std::string_view queue) {
    return at(get("/queues/" + std::string(queue) + "?events=0"), "depth");
  }

  // Sends a request and returns when it waits in the engine with the last of its `commands`.
  HttpClient waiting(std::string_view method, std::string_view target, std::string_view body = {},
                     const HttpHeaders& headers = {}, std::size_t commands = 1) {
    HttpClient client(server_.port());
    const std::size_t before = server_.commands();
    EXPECT_TRUE(client.send(method, target, body, headers).has_value());
    server_.await_commands(before + commands);
    server_.settle();
    EXPECT_FALSE(client.readable_within(std::chrono::milliseconds(0))) << target << " did not wait";
    return client;
  }

  // Expects each member of `json` with the same value in the answer, which may have more.
  static void expect_members(std::string_view json, const HttpResponse& response) {
    EXPECT_EQ(missing(json_lines(json), json_lines(response.body)), "") << response.body;
  }

  void advance(Millis by) {
    clock_.advance(by);
    server_.settle();
  }

  static Options with_clock(Options options, const Clock& clock) {
    options.clock = &clock;
    return options;
  }
  static std::string worker_body(std::string_view worker, std::string_view more = {}) {
    return R"({"worker_id":")" + std::string(worker) + '"' + std::string(more) + "}";
  }

  TestStore store_;
  ManualClock clock_{time_at("2024-03-15T00:00:00Z")};
  LocalServer server_;
};

}  // namespace eventq
