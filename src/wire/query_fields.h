// query_fields.h: reads the parameters of a query by name and type, as fields.h does for JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/percent.h"
#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::wire {

// Call one method for every possible parameter, then fault().
class QueryFields {
 public:
  explicit QueryFields(const std::vector<QueryParameter>& query) : query_(query), asked_(query.size()) {}

  std::optional<std::string> text(std::string_view name);
  std::optional<std::int64_t> whole(std::string_view name);  // digits only
  std::optional<bool> boolean(std::string_view name);        // true, 1, yes; false, 0, no; in any letter case
  std::optional<Millis> seconds(std::string_view name, std::chrono::seconds most);  // as parse_seconds()

  // The first error: a value of the wrong type, or an unknown parameter.
  [[nodiscard]] std::optional<Error> fault();

 private:
  void refuse(std::string_view name, std::string message);

  const std::vector<QueryParameter>& query_;
  std::vector<bool> asked_;
  std::vector<std::string_view> known_;
  std::optional<Error> fault_;
};

}  // namespace eventq::wire
