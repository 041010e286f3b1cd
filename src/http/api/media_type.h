// media_type.h: how much an Accept field prefers a media type.
#pragma once

#include <string_view>

namespace eventq::http {

// The q value of `type` in `accept`, from 0 to 1; 0 when the type is not named. Wildcards do not count,
// because a client that sends one accepts the default. Case and parameters of the type do not matter.
[[nodiscard]] double accept_quality(std::string_view accept, std::string_view type);

}  // namespace eventq::http
