// sqlstate.h: converts PostgreSQL's error codes to errors of eventq.
#pragma once

#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::postgres {

// `state` is the SQLSTATE, `words` the database's message.
Error error_for_sqlstate(std::string_view state, std::string_view words);

// The error for a connection that was lost.
Error unavailable(std::string_view words);

// The error for a connection that could not be opened. `url` has no password; `words` is libpq's message.
Error cannot_connect(std::string_view url, std::string_view words);

// True if a connection is open but unusable after this error, because the server became a standby.
bool makes_connection_useless(std::string_view state);

}  // namespace eventq::postgres
