// author.h: the person that a command acts for, and the reason, which the server writes into its logs.
#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "cli/commands/events.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {

// The options --by and --reason.
[[nodiscard]] Parameter by_option();
[[nodiscard]] Parameter reason_option();

// --by, else EVENTQ_BY, else "user@host".
[[nodiscard]] std::string author(const Invocation& run);

// Adds `by` and `reason` to a query, or to the object that `body` has begun.
void add_author(const Invocation& run, QueryString& query);
void add_author(const Invocation& run, JsonWriter& body);  // REQUIRES: check_utf8() of both options

// `path` with both in its query.
[[nodiscard]] std::string with_author(const Invocation& run, std::string path);

}  // namespace eventq::cli
