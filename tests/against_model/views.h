// views.h: answers as lines that can be compared.
//
// The views are written apart from src/wire, so that what HTTP clients are promised stands here a
// second time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "against_model/operation.h"
#include "support/http_client.h"
#include "support/json_lines.h"

namespace eventq {

// Everything in an answer, for two engines.
JsonLines whole_view(const Answer& answer);

// What a client sees of it over HTTP: status, the headers that say something, and the body.
JsonLines client_view(const Operation& operation, const Answer& answer, std::string_view request_id);

// The same, of a response.
JsonLines client_view(const HttpResponse& response);

// Ids that a system made by itself differ from system to system. Each is replaced by the number of the
// event that had it first; that two events share one, or one event has two, is a difference that stays.
class MadeIds {
 public:
  // From the answer to a publication: that is where every id is told first.
  void learn(const Answer& answer);
  void learn(const JsonLines& response);
  [[nodiscard]] JsonLines replaced(JsonLines lines) const;

 private:
  void learn(std::int64_t id, const std::string& event_id, const std::string& correlation_id);

  std::map<std::string, std::string> names_;  // of made ids
  std::set<std::string> given_;               // the names; each is given once
};

}  // namespace eventq
