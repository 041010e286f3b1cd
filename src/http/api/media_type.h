// media_type.h: what an Accept field asks for.
#pragma once

#include <string_view>

namespace eventq::http {

// How much `accept` wants `type`, from 0 (not at all) to 1: its q where the type itself is named, or 0.
// Wildcards name nothing: they take whatever comes. Neither case nor parameters of the type matter.
[[nodiscard]] double accept_quality(std::string_view accept, std::string_view type);

}  // namespace eventq::http
