// sqlstate.h: what PostgreSQL's error codes mean to a caller.
#pragma once

#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::postgres {

// `state` is SQLSTATE, `words` the database's own message.
Error error_for_sqlstate(std::string_view state, std::string_view words);

// The connection is gone, or was never there.
Error unavailable(std::string_view words);

// Whether a connection that met it is of no use any more, although it is open: the server became a standby.
bool makes_connection_useless(std::string_view state);

}  // namespace eventq::postgres
