// author.cc: see author.h.
#include "cli/commands/author.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/process_name.h"
#include "base/utf8.h"

namespace eventq::cli {
namespace {

// The name of the user, or the number of a user without a name.
std::string user_name() {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(geteuid());
}

}  // namespace

Parameter by_option() {
  return {"--by", "NAME", "The person that asks for it, for the log; EVENTQ_BY or user@host by default"};
}

Parameter reason_option() { return {"--reason", "TEXT", "The reason, for the log"}; }

std::string author(const Invocation& run) {
  if (const auto by = run.arguments.text("--by")) return *by;
  const char* const set = std::getenv("EVENTQ_BY");
  if (set != nullptr && *set != '\0' && valid_utf8(set)) return set;
  return user_name() + "@" + host_name();
}

void add_author(const Invocation& run, QueryString& query) {
  query.add("by", author(run)).add("reason", run.arguments.text("--reason"));
}

void add_author(const Invocation& run, JsonWriter& body) {
  body.key("by").string(author(run));
  if (const auto reason = run.arguments.text("--reason")) body.key("reason").string(*reason);
}

std::string with_author(const Invocation& run, std::string path) {
  QueryString query;
  add_author(run, query);
  return std::move(path) + "?" + query.text();
}

}  // namespace eventq::cli
