// cause.h: the cause by which failed events are grouped. Pure functions of an error message.
//
// A cause is one line of the message with its variable parts as "#": ids, numbers, addresses, times. Codes
// with a meaning stay: "550 5.1.1", "status code 503", "card_declined: 51", "[Errno 111]". Causes are stored
// with failed events and compared byte by byte, so a change of the rules applies to later failures only.
#pragma once

#include <string>
#include <string_view>

#include "eventq/event.h"
#include "model/query.h"

namespace eventq {

// The line of a message that says what went wrong. Of a Python traceback this is the line of the exception
// after the last frame. Of other messages it is the first line that has a letter or a digit. A line that ends
// with a colon, and the source text that Node.js prints, are skipped.
[[nodiscard]] std::string_view telling_line(std::string_view message);

// The cause of a failure, at most 200 bytes. Without a message it is made from the reason or the status code.
[[nodiscard]] std::string cause_of(const LogEntry& failure);

// What a list shows as the message of a group: the telling line of the sample, at most limits::kSample bytes,
// or the cause if the sample is empty.
[[nodiscard]] std::string sample_of(const FailureGroup& group);

// A short name of the group of failures with this queue and cause: 8 hexadecimal digits.
[[nodiscard]] std::string failure_group_id(std::string_view queue, std::string_view cause);

}  // namespace eventq
