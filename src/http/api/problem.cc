// problem.cc: see problem.h.
#include "http/api/problem.h"

#include <string>
#include <utility>

#include "base/json_writer.h"

namespace eventq::http {
namespace {

// `outcome` says whether the request changed anything: after "unchanged" the client may retry, after
// "unknown" the change may have been made. Empty leaves the member out: most 4xx say by their status that
// nothing was changed, and with 408 and 500 the server cannot say.
struct ProblemType {
  int status;
  std::string_view kind;
  std::string_view title;
  std::string_view outcome;
};

// The status of an error, and `kind`, by which a client tells apart errors with one status. Both are part of
// the API, so an existing line must not change.
ProblemType type_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return {400, "invalid-request", "Invalid request", ""};
    case ErrorCode::too_large: return {413, "too-large", "Too large", ""};
    case ErrorCode::not_found: return {404, "not-found", "Not found", ""};
    case ErrorCode::conflict: return {409, "conflict", "Conflict", ""};
    case ErrorCode::lease_lost: return {409, "lease-lost", "Lease lost", ""};
    case ErrorCode::queue_full: return {429, "queue-full", "Queue full", "unchanged"};
    case ErrorCode::timeout: return {408, "timeout", "Timeout", ""};
    case ErrorCode::unavailable: return {503, "store-unavailable", "Store unavailable", "unchanged"};
    case ErrorCode::unknown_outcome: return {503, "outcome-unknown", "Outcome unknown", "unknown"};
    case ErrorCode::no_space: return {507, "disk-full", "Disk full", "unchanged"};
    case ErrorCode::corrupt: return {500, "store-corrupt", "Store corrupt", ""};
    case ErrorCode::internal: return {500, "internal-error", "Internal error", ""};
  }
  return {500, "internal-error", "Internal error", ""};
}

// Errors that HTTP itself defines and no ErrorCode names.
ProblemType type_of(int status) {
  switch (status) {
    case 403: return {status, "forbidden", "Forbidden", ""};
    case 404: return {status, "not-found", "Not found", ""};
    case 405: return {status, "method-not-allowed", "Method not allowed", ""};
    case 412: return {status, "precondition-failed", "Precondition failed", ""};
    case 408: return {status, "timeout", "Timeout", ""};
    case 413: return {status, "too-large", "Too large", ""};
    case 414:
    case 431: return {status, "head-too-large", "Head too large", ""};
    case 415: return {status, "unsupported-media-type", "Unsupported media type", ""};
    case 503: return {status, "overloaded", "Overloaded", "unchanged"};
    default: return {status, "invalid-request", "Invalid request", ""};
  }
}

wire::Problem make(const ProblemType& type, std::string message) {
  wire::Problem problem;
  problem.status = type.status;
  problem.kind = type.kind;
  problem.title = type.title;
  problem.outcome = type.outcome;
  problem.message = std::move(message);
  return problem;
}

}  // namespace

wire::Problem problem_of(const Error& error) {
  wire::Problem problem = make(type_of(error.code), error.message);
  problem.field = error.field;
  problem.retry_after = error.retry_after;
  return problem;
}

wire::Problem problem_of(int status, std::string_view message) {
  return make(type_of(status), std::string(message));
}

Response respond_with(wire::Problem problem, std::string_view request_id) {
  problem.request_id = request_id;
  Response response;
  response.status = problem.status;
  JsonWriter json(response.body);
  wire::write_problem(json, problem);
  if (problem.retry_after.count() > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(problem.retry_after.count()));
  }
  return response;
}

}  // namespace eventq::http
