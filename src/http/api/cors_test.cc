// cors_test.cc: which texts are origins, and which origins are listed.
#include "http/api/cors.h"

#include <gtest/gtest.h>

namespace eventq::http {
namespace {

TEST(Cors, AnOriginIsASchemeAHostAndAPortThatIsNotTheUsualOne) {
  for (const char* good : {"https://app.example.com", "http://localhost:5173", "http://127.0.0.1:3000",
                           "http://[::1]:8080", "http://[fe80::1]", "https://a:65535", "http://a:443"}) {
    EXPECT_TRUE(is_origin(good)) << good;
  }
  for (const char* bad : {"*",
                          "null",
                          "",
                          "app.example.com",
                          "https://",
                          "https://app.example.com/",
                          "https://App.example.com",
                          "https://a:443",
                          "http://a:80",
                          "http://a:",
                          "http://a:0",
                          "http://a:065",
                          "http://a:65536",
                          "http://a b",
                          "ftp://a",
                          "http://[::1",
                          "http://[]",
                          "http://u@a",
                          "http://*.example.com",
                          "https://a?b"}) {
    EXPECT_FALSE(is_origin(bad)) << bad;
  }
}

TEST(Cors, OnlyListedOriginsAreContainedAndTheListCanChange) {
  AllowedOrigins origins({"https://a.example"});
  EXPECT_TRUE(origins.contains("https://a.example"));
  EXPECT_FALSE(origins.contains("http://a.example"));
  EXPECT_FALSE(origins.contains("https://a.example:8443"));
  EXPECT_FALSE(origins.contains("https://a.example.org"));

  origins.set({});
  EXPECT_TRUE(origins.empty());
  EXPECT_FALSE(origins.contains("https://a.example"));
}

}  // namespace
}  // namespace eventq::http
