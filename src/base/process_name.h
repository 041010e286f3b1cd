// process_name.h: a readable name for this process, used as its default worker_id.
#pragma once

#include <string>

namespace eventq {

// "localhost" if the system does not know its name.
std::string host_name();

// "{hostname}:{pid}"
std::string process_name();

}  // namespace eventq
