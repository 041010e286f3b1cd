// routes_test.cc: which route a path matches, and which methods a path allows.
#include "http/api/routes.h"

#include <gtest/gtest.h>

#include <string_view>

namespace eventq::http {
namespace {

// A table with routes that a layer above registers.
const RouteTable& table() {
  static const RouteTable routes(
      ApiExtension{{{"GET", "/shelves/{name}/files/{id}", nullptr, RouteEffect::reads, 0},
                    {"PUT", "/shelves/{name}/files/{id}", nullptr, RouteEffect::changes, 1},
                    {"PATCH", "/shelves/{name}/files/{id}/move", nullptr, RouteEffect::changes, 1},
                    {"DELETE", "/shelves/{name}/files/{id}", nullptr, RouteEffect::changes, 1}},
                   nullptr});
  return routes;
}

RouteMatch match(std::string_view method, std::string_view path) { return table().match(method, path); }

std::string_view path_of(const RouteMatch& found) { return found.route ? found.route->path : ""; }

TEST(Routes, TheIdOfAnEventIsANumberOrAnEventId) {
  for (const std::string_view id : {"17", "x17", "evt_1", "a%2Fb", "-1", "1.0", "batch"}) {
    const std::string path = "/events/" + std::string(id) + "/wait";
    const RouteMatch found = match("POST", path);
    EXPECT_EQ(path_of(found), "/events/{id}/wait") << id;
    EXPECT_EQ(found.id.of(path), id);
    EXPECT_EQ(found.name.of(path), "");
  }
  EXPECT_EQ(path_of(match("POST", "/events//wait")), "");
  EXPECT_EQ(path_of(match("POST", "/events/a/b/wait")), "");
}

TEST(Routes, TheIdOfAnotherThingIsDigitsOnly) {
  EXPECT_EQ(path_of(match("GET", "/shelves/a/files/17")), "/shelves/{name}/files/{id}");
  EXPECT_EQ(path_of(match("GET", "/shelves/a/files/evt_1")), "");
  EXPECT_EQ(allowed_methods(match("POST", "/shelves/a/files/evt_1")), "");
}

TEST(Routes, AFixedPathWinsOverAnEventIdWhateverTheMethod) {
  EXPECT_EQ(path_of(match("GET", "/events/subscribe")), "/events/subscribe");
  EXPECT_EQ(path_of(match("POST", "/events/complete")), "/events/complete");
  EXPECT_EQ(path_of(match("GET", "/events/batch")), "");
  EXPECT_EQ(allowed_methods(match("GET", "/events/batch")), "POST");
  EXPECT_EQ(allowed_methods(match("HEAD", "/events/stream")), "GET");
  EXPECT_EQ(path_of(match("POST", "/events/batch/wait")), "/events/{id}/wait");
}

TEST(Routes, ANameIsOneSegmentAsSent) {
  constexpr std::string_view kPath = "/queues/a%2Fb";
  const RouteMatch found = match("GET", kPath);
  EXPECT_EQ(path_of(found), "/queues/{name}");
  EXPECT_EQ(found.name.of(kPath), "a%2Fb");
  EXPECT_EQ(found.id.of(kPath), "");
  EXPECT_EQ(path_of(match("POST", "/queues/7/pause")), "/queues/{name}/pause");
  EXPECT_EQ(path_of(match("GET", "/events/correlation/wait")), "/events/correlation/{name}");
  EXPECT_EQ(path_of(match("POST", "/events/correlation/wait/wait")), "/events/correlation/{name}/wait");
  EXPECT_EQ(allowed_methods(match("POST", "/events/correlation/cancel")), "GET");
  for (const std::string_view path :
       {"/queues//", "/queues/a/b", "/queues//pause", "/queues/a/pause//", "/queue"}) {
    EXPECT_EQ(path_of(match("GET", path)), "") << path;
    EXPECT_EQ(allowed_methods(match("GET", path)), "") << path;
  }
}

TEST(Routes, APathMayHaveANameAndAnId) {
  constexpr std::string_view kPath = "/shelves/my%20notes/files/17/move";
  const RouteMatch found = match("PATCH", kPath);
  EXPECT_EQ(path_of(found), "/shelves/{name}/files/{id}/move");
  EXPECT_EQ(found.name.of(kPath), "my%20notes");
  EXPECT_EQ(found.id.of(kPath), "17");
  EXPECT_EQ(path_of(match("GET", "/shelves/files/files/1")), "/shelves/{name}/files/{id}");
  for (const std::string_view path :
       {"/shelves//files/17/move", "/shelves/a/files//move", "/shelves/a/files/x/move",
        "/shelves/a/files/17/move//", "/shelves/a/b/files/17/move", "/shelves/a/files/17"}) {
    EXPECT_EQ(path_of(match("PATCH", path)), "") << path;
  }
}

TEST(Routes, ATrailingSlashMatchesTheSameRoute) {
  EXPECT_EQ(path_of(match("GET", "/queues/")), "/queues");
  EXPECT_EQ(path_of(match("POST", "/events/")), "/events");
  EXPECT_EQ(path_of(match("POST", "/queues/mail/pause/")), "/queues/{name}/pause");
  constexpr std::string_view kPath = "/shelves/my%20notes/files/17/";
  const RouteMatch found = match("PUT", kPath);
  EXPECT_EQ(path_of(found), "/shelves/{name}/files/{id}");
  EXPECT_EQ(found.name.of(kPath), "my%20notes");
  EXPECT_EQ(found.id.of(kPath), "17");
  EXPECT_EQ(path_of(match("GET", "/")), "/");
  EXPECT_EQ(path_of(match("GET", "//")), "");
  EXPECT_EQ(path_of(match("GET", "/queues//")), "");
}

TEST(Routes, APathWithOtherMethodsNamesThem) {
  EXPECT_EQ(allowed_methods(match("POST", "/shelves/a/files/17")), "GET, PUT, DELETE");
  EXPECT_EQ(allowed_methods(match("GET", "/shelves/a/files/17/move")), "PATCH");
  EXPECT_EQ(allowed_methods(match("DELETE", "/events")), "GET, POST");
  EXPECT_EQ(allowed_methods(match("DELETE", "/events/17")), "GET");
  EXPECT_EQ(allowed_methods(match("DELETE", "/events/evt_1")), "GET");
  EXPECT_EQ(allowed_methods(match("GET", "/events/evt_1/wait")), "POST");
  EXPECT_EQ(allowed_methods(match("POST", "/queues/mail")), "GET, PUT, PATCH, DELETE");
  EXPECT_EQ(allowed_methods(match("GET", "/queues/mail/pause")), "POST");
  EXPECT_EQ(allowed_methods(match("PUT", "/metrics")), "GET");
}

TEST(Routes, HeadMatchesOnlyAGetThatReads) {
  EXPECT_EQ(path_of(match("HEAD", "/metrics")), "/metrics");
  EXPECT_EQ(path_of(match("HEAD", "/queues/mail")), "/queues/{name}");
  EXPECT_EQ(path_of(match("HEAD", "/events/subscribe")), "");
}

}  // namespace
}  // namespace eventq::http
