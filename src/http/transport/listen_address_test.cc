// listen_address_test.cc: tests of listen_address.h.
#include "http/transport/listen_address.h"

#include <gtest/gtest.h>

namespace eventq::http {
namespace {

TEST(ListenAddress, IsAnAddressAndAPort) {
  struct Case {
    const char* text;
    const char* host;
    std::uint16_t port;
    bool loopback;
  };
  for (const Case& row : {
           Case{"127.0.0.1:8080", "127.0.0.1", 8080, true},
           Case{"127.8.7.6:1", "127.8.7.6", 1, true},
           Case{"[::1]:8080", "::1", 8080, true},
           Case{"localhost:8080", "localhost", 8080, true},
           Case{"127.0.0.1:0", "127.0.0.1", 0, true},
           Case{"0.0.0.0:80", "0.0.0.0", 80, false},
           Case{"192.168.1.2:65535", "192.168.1.2", 65535, false},
           Case{"[::]:80", "::", 80, false},
           Case{"[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1", 80, false},
           Case{"[127::1]:80", "127::1", 80, false},
       }) {
    const auto address = parse_listen_address(row.text);

    ASSERT_TRUE(address) << row.text;
    EXPECT_EQ(address->host, row.host) << row.text;
    EXPECT_EQ(address->port, row.port) << row.text;
    EXPECT_EQ(is_loopback(*address), row.loopback) << row.text;
    EXPECT_EQ(format(*address), row.text);
  }
}

TEST(ListenAddress, RefusesOtherTexts) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text : {
           ""sv,
           ":"sv,
           "8080"sv,
           ":8080"sv,
           "127.0.0.1"sv,
           "127.0.0.1:"sv,
           "127.0.0.1:65536"sv,
           "127.0.0.1:-1"sv,
           "127.0.0.1:08"sv,
           "127.0.0.1:http"sv,
           "127.1:80"sv,
           "127.0.0.01:80"sv,
           "::1:80"sv,
           "[::1]"sv,
           "[127.0.0.1]:80"sv,
           "[localhost]:80"sv,
           "[]:80"sv,
           "[:80"sv,
           "example.com:80"sv,
           "http://127.0.0.1:80"sv,
           " 127.0.0.1:80"sv,
           "127.0.0.1\0:80"sv,
       }) {
    EXPECT_FALSE(parse_listen_address(text)) << text;
  }
}

}  // namespace
}  // namespace eventq::http
