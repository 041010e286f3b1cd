// correlation_end.cc: see correlation_end.h.
#include "wire/correlation_end.h"

#include <string_view>

#include "base/json_writer.h"
#include "model/names.h"

namespace eventq::wire {
namespace {

constexpr std::string_view kLongestEnd = R"(],"results_complete":false})";

std::string write_end(const CorrelatedEnd& end) {
  return json_text([&](JsonWriter& json) {
    json.begin_object().key("id").integer(id_number(end.id)).key("event_id").string(end.event_id);
    json.key("status").string(name_of(end.status)).key("result");
    if (end.result.empty()) {
      json.null();
    } else {
      json.raw(end.result);
    }
    json.end_object();
  });
}

}  // namespace

std::string write_correlation_end(const Correlation& totals, std::span<const CorrelatedEnd> ends,
                                  std::size_t bytes) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("correlation_id").string(totals.id).key("total").integer(totals.total);
  json.key("completed").integer(totals.completed).key("failed").integer(totals.failed);
  json.key("results").begin_array();
  std::int64_t written = 0;
  for (const CorrelatedEnd& end : ends) {
    const std::string result = write_end(end);
    if (text.size() + 1 + result.size() + kLongestEnd.size() > bytes) break;
    json.raw(result);
    ++written;
  }
  json.end_array().key("results_complete").boolean(written == totals.total).end_object();
  return text;
}

}  // namespace eventq::wire
