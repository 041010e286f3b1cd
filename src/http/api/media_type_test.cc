// media_type_test.cc: Accept fields as browsers, scrapers and programs send them.
#include "http/api/media_type.h"

#include <gtest/gtest.h>

namespace eventq::http {
namespace {

TEST(MediaType, ANamedTypeHasItsQuality) {
  EXPECT_EQ(accept_quality("application/json", "application/json"), 1);
  EXPECT_EQ(accept_quality("text/html, Application/JSON;charset=utf-8 ; q=0.5", "application/json"), 0.5);
  EXPECT_EQ(accept_quality(
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
                "text/plain"),
            0.3);
}

TEST(MediaType, ATypeThatIsNotNamedHasQualityZero) {
  for (const std::string_view accept :
       {"", "*/*", "application/*", "application/json;q=0", "application/jsonx", "application/json;q=x",
        ",;,=", "text/plain;x=application/json"}) {
    EXPECT_EQ(accept_quality(accept, "application/json"), 0) << accept;
  }
}

}  // namespace
}  // namespace eventq::http
