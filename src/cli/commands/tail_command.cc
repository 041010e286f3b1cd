// tail_command.cc: `eventq tail`: prints events when they are published, change and end.
//
// The API has no list of changes, so the command polls once a second: one call for ids above the last one
// seen, and two for live events (PENDING and PROCESSING). A followed event that is in neither list is fetched
// by its id. So each second costs three calls, and one more for each event that ended.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>

#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

constexpr int kPauseMs = 1000;
constexpr std::size_t kFollowedMax = 1000;  // the newest live events; changes of others are not printed

// Sleeps, and returns false if the reader of stdout has closed the pipe. poll() reports that at once.
bool is_read_after_pause() {
  pollfd out{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return poll(&out, 1, kPauseMs) == 0;
}

class EventFollower {
 public:
  explicit EventFollower(Invocation& run) : run_(run), printer_(run.out, run.output, event_columns()) {
    query_.add("queue", run.arguments.text("--queue"));
    if (run.arguments.has("--tag")) query_.add("tags", join_list(run.arguments.texts("--tag")));
    status_ = run.arguments.text("--status");
  }

  ExitCode follow() {
    ExitCode code = find_newest();
    if (code == ExitCode::done) code = visit_live([](std::int64_t, const JsonValue&) {});
    if (code != ExitCode::done) return code;
    run_.err << "Following events at " << run_.url << "; Ctrl-C ends it.\n";
    while (code == ExitCode::done && is_read_after_pause()) {
      code = show_new();
      if (code == ExitCode::done) code = show_changes();
      printer_.flush();
    }
    return code;
  }

 private:
  ExitCode find_newest() {
    const NewestEvent newest = newest_event(run_, [&](const JsonValue& event) { note_time(event); });
    last_ = newest.id;
    return newest.code;
  }

  // Calls `visit` for each live event, and follows the event from then on.
  template <typename Visit>
  ExitCode visit_live(const Visit& visit) {
    const std::int64_t first = states_.size() < kFollowedMax ? 0 : states_.begin()->first - 1;
    horizon_ = last_;
    for (const std::string_view status : {"PENDING", "PROCESSING"}) {
      QueryString query = query_;
      query.add("status", std::string(status)).add("after_id", std::to_string(first));
      std::size_t seen = 0;
      std::int64_t last = 0;
      const PagedResult paged = each_event(run_, query, limits::kPage, [&](const JsonValue& event) {
        last = integer_at(event, "id").value_or(0);
        if (last > last_) return false;  // new: the next show_new() prints it
        visit(last, event);
        remember(event);
        return ++seen < limits::kPage;
      });
      if (paged.code != ExitCode::done) return paged.code;
      // The list was cut at one page. Events above its last id may be live although they are not in it.
      if (seen == limits::kPage) horizon_ = std::min(horizon_, last);
    }
    return ExitCode::done;
  }

  ExitCode show_new() {
    QueryString query = query_;
    query.add("after_id", std::to_string(last_));
    const PagedResult paged = each_event(run_, query, limits::kPage, [&](const JsonValue& event) {
      last_ = integer_at(event, "id").value_or(last_);
      show(event);
      remember(event);
      return true;
    });
    return paged.code;
  }

  ExitCode show_changes() {
    std::map<std::int64_t, std::string> missing = states_;
    const std::string before = newest_;
    const ExitCode code = visit_live([&](std::int64_t id, const JsonValue& event) {
      // An event that is not in states_ exceeded kFollowedMax, or became live again since the last poll. Only
      // the latter has changed since then.
      const auto known = states_.find(id);
      const bool changed = known == states_.end() ? text_at(event, "updated_at").value_or("") > before
                                                  : known->second != state_of(event);
      if (changed) show(event);
      missing.erase(id);
    });
    if (code != ExitCode::done) return code;
    for (const auto& [id, state] : missing) {
      if (id > horizon_) break;
      const CallResult called = call(run_, "GET", "/events/" + std::to_string(id));
      if (called.code == ExitCode::unreachable) return called.code;
      const AnswerJson event(called.body);
      if (called && event && state_of(*event) != state) show(*event);
      if (called && event) remember(*event);
      if (!called) states_.erase(id);
    }
    return ExitCode::done;
  }

  static std::string state_of(const JsonValue& event) {
    return text_at(event, "status").value_or("") + text_at(event, "updated_at").value_or("");
  }

  void show(const JsonValue& event) {
    if (!status_ || text_at(event, "status") == status_) printer_.add(event.raw());
  }

  void note_time(const JsonValue& event) {
    newest_ = std::max(newest_, text_at(event, "updated_at").value_or(""));
  }

  void remember(const JsonValue& event) {
    note_time(event);
    const std::int64_t id = integer_at(event, "id").value_or(0);
    if (has_ended(text_at(event, "status").value_or(""))) {
      states_.erase(id);
      return;
    }
    states_[id] = state_of(event);
    if (states_.size() > kFollowedMax) states_.erase(states_.begin());
  }

  Invocation& run_;
  RecordPrinter printer_;
  QueryString query_;
  std::optional<std::string> status_;
  std::map<std::int64_t, std::string> states_;  // of the followed live events
  std::int64_t last_ = 0;                       // the greatest id seen
  std::string newest_;                          // the latest updated_at seen; ISO times sort as text
  std::int64_t horizon_ = 0;                    // the greatest id that the last visit_live() reached
};

ExitCode tail(Invocation& run) {
  if (!has_event_fields(run)) return ExitCode::usage;
  if (run.output.format == Format::json) run.output.format = Format::jsonl;  // an array would never end
  return EventFollower(run).follow();
}

}  // namespace

CommandSpec tail_command() {
  return {.name = "tail",
          .summary = "Follow events as they are published, run and end",
          .details =
              "Prints a line for each new event and each change of an event. It asks the server once a "
              "second, so it prints only the last of several changes within a second. It follows the "
              "newest 1000 live events. Ctrl-C ends it.",
          .options = {queue_option("Only events of this queue"),
                      tag_option(),
                      {.name = "--status",
                       .value = "STATUS",
                       .help = "Only changes to this status",
                       .choices = event_statuses()}},
          .examples = {{"eventq tail --status FAILED", "Print failures as they happen"}},
          .run = tail};
}

}  // namespace eventq::cli
