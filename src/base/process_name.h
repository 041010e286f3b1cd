// process_name.h: what tells this process from others, for people.
#pragma once

#include <string>

namespace eventq {

// "{hostname}:{pid}"
std::string process_name();

}  // namespace eventq
