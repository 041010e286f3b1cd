// import_command.cc: `eventq import`: publishes a file of events in batches.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "base/descriptor.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "cli/framework/lines.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal_text.h"
#include "eventq/limits.h"
#include "wire/new_event_json.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kBody = limits::kBatchBody - 1024;  // leaves space for the enclosing JSON
constexpr std::int64_t kRejectsShown = 20;
constexpr int kTries = 5;  // attempts while the server does not answer

struct ImportOptions {
  std::string file;   // "-": stdin
  std::string queue;  // for lines without a queue; empty: main
  std::string tags;   // for lines without tags
  std::size_t batch = 1000;
  std::int64_t from = 1;  // the first line to import
};

// One import of one file.
class Importer {
 public:
  Importer(Invocation& invocation, ImportOptions options, std::optional<std::int64_t> lines)
      : run_(invocation),
        options_(std::move(options)),
        name_(options_.file == "-" ? Uuid7Source::from_entropy().next(system_clock().now())
                                   : std::filesystem::path(options_.file).filename().string()),
        progress_(invocation.err, isatty(STDERR_FILENO) == 1, "Importing", lines) {
    std::error_code none;
    // With --from the run continues an earlier import, and appends to its file of rejects.
    if (options_.from == 1) std::filesystem::remove(rejects_file(), none);
  }

  ExitCode from(int descriptor) {
    LineReader reader(descriptor, limits::kOneEventBody);
    std::string line;
    for (;;) {
      const auto got = reader.next(line);
      if (!got) return stop(got.error().message);
      if (*got == LineReader::LineStatus::end) break;
      if (interrupt_.requested()) return interrupted();
      // Another signal, such as SIGCONT.
      if (*got == LineReader::LineStatus::interrupted) continue;
      // Counts every line, also empty and rejected ones, because --from is a number of the file.
      if (++line_ < options_.from) continue;
      if (*got == LineReader::LineStatus::too_long) {
        reject(line, "The line is longer than an event may be: " + std::to_string(limits::kOneEventBody) +
                         " bytes.");
      } else if (line.find_first_not_of(" \t") != std::string::npos) {
        take(line);
      }
      if (const ExitCode code = send_when_full(); code != ExitCode::done) return code;
      progress_.show(line_, std::to_string(rejected_) + " rejected");
    }
    if (const ExitCode code = send(); code != ExitCode::done) return code;
    return conclude();
  }

 private:
  [[nodiscard]] std::string rejects_file() const { return options_.file + ".rejects"; }

  // Inserts the queue and tags of the options at the start of a line that lacks them.
  [[nodiscard]] std::string with_defaults(const std::string& line) {
    if (options_.queue.empty() && options_.tags.empty()) return line;
    const auto value = parser_.parse(line);
    if (!value || value->type() != JsonType::object) return line;
    std::string added;
    const auto add = [&](std::string_view name, const std::string& text) {
      if (text.empty() || value_at(*value, name)) return;
      added += added.empty() ? "\"" : ",\"";
      added += std::string(name) + "\":";
      append_json_string(added, text);
    };
    add("queue", options_.queue);
    add("tags", options_.tags);
    if (added.empty()) return line;
    const std::size_t brace = line.find('{');
    return line.substr(0, brace + 1) + added + (value->members().empty() ? "" : ",") + line.substr(brace + 1);
  }

  // Validates the line with the parser of the server, because one bad line would make the server refuse the
  // batch.
  void take(const std::string& line) {
    const std::string whole = with_defaults(line);
    const auto value = parser_.parse(whole);
    if (!value) return reject(line, "The line is not valid JSON: " + json_fault(value.error()));
    auto event = wire::parse_event(*value);
    if (!event) return reject(line, event.error().message);
    // The id depends on file name, line and line number, so a repeated import finds the event. stdin has no
    // name, so name_ is a new UUID for each run.
    if (event->event_id.empty()) {
      event->event_id = "import:" + fingerprint({name_, line}) + ":" + std::to_string(line_);
    }
    events_.push_back(wire::write_event_request(*event));
    bytes_ += events_.back().size() + 1;
  }

  void reject(const std::string& line, const std::string& why) {
    rejected_ += 1;
    if (rejected_ <= kRejectsShown) {
      progress_.finish();
      run_.err << options_.file << ':' << line_ << ": " << printable(why) << '\n';
    }
    if (options_.file == "-") return;
    if (!rejects_.is_open())
      rejects_.open(rejects_file(), options_.from == 1 ? std::ios::trunc : std::ios::app);
    std::string record;
    JsonWriter json(record);
    json.begin_object().key("line").integer(line_).key("error").string(to_valid_utf8(why));
    json.key("text").string(to_valid_utf8(line)).end_object();
    // Flushed, so that the file is complete when the process is killed.
    rejects_ << record << std::endl;
  }

  ExitCode send_when_full() {
    return events_.size() >= options_.batch || bytes_ + limits::kOneEventBody > kBody ? send()
                                                                                      : ExitCode::done;
  }

  ExitCode send() {
    if (events_.empty()) return ExitCode::done;
    if (!newest_) {
      const NewestEvent newest = newest_event(run_);
      if (newest.code != ExitCode::done) return say_how_to_resume(newest.code);
      newest_ = newest.id;
    }
    std::string body = R"({"correlated":false,"events":[)";
    for (std::size_t i = 0; i < events_.size(); ++i) body += (i == 0 ? "" : ",") + events_[i];
    body += "]}";
    for (int tries = 1;; ++tries) {
      const auto answer = run_.server.call({.method = "POST", .target = "/events/batch", .body = body});
      if (interrupt_.requested()) return interrupted();
      if (answer && answer->status / 100 == 2) {
        count(answer->body);
        break;
      }
      // Resending is safe, because each event has an event_id and the server stores it once.
      const bool full = answer && answer->status == 429;
      const bool unavailable = !answer || answer->status == 503;
      if (!full && (!unavailable || tries == kTries)) return refused(answer);
      // A full queue is no failure: workers make space, so wait as long as it takes.
      if (full) tries = 0;
      const auto pause = answer ? parse_whole<int>(answer->header("retry-after")).value_or(1) : 1;
      interrupt_.wait(std::chrono::seconds(pause));
      if (interrupt_.requested()) return interrupted();
    }
    // Only after the batch is stored, because an import resumes after the line sent_to_.
    events_.clear();
    bytes_ = 0;
    sent_to_ = line_;
    return ExitCode::done;
  }

  // The server assigns ascending ids, so an id above the newest one is a new event; others existed already.
  void count(const std::string& answer) {
    const AnswerJson body(answer);
    for (const JsonValue& event : elements_at(*body, "events")) {
      const std::int64_t id = integer_at(event, "id").value_or(0);
      if (id > *newest_) {
        newest_ = id;
        added_ += 1;
      } else {
        existed_ += 1;
      }
    }
  }

  ExitCode refused(const Result<client::HttpResponse>& answer) {
    progress_.finish();
    return say_how_to_resume(call_result(run_, answer).code);
  }

  ExitCode stop(const std::string& message) {
    progress_.finish();
    return say_how_to_resume(fail(run_, message));
  }

  ExitCode interrupted() {
    progress_.finish();
    run_.err << "Interrupted. ";
    say_counts();
    return say_how_to_resume(ExitCode::interrupted);
  }

  ExitCode say_how_to_resume(ExitCode code) {
    const std::int64_t next = std::max(sent_to_ + 1, options_.from);
    run_.err << "To continue: eventq import " << options_.file << " --from " << next
             << (options_.queue.empty() ? "" : " --queue " + options_.queue)
             << (options_.tags.empty() ? "" : " --tags " + options_.tags) << '\n';
    return code;
  }

  void say_counts() {
    run_.err << "Imported " << counted(added_, "event");
    if (existed_ > 0) {
      run_.err << "; " << grouped(existed_) << " existed already and " << (existed_ == 1 ? "is" : "are")
               << " unchanged";
    }
    run_.err << ".\n";
  }

  ExitCode conclude() {
    progress_.finish();
    say_counts();
    if (rejected_ == 0) return ExitCode::done;
    run_.err << counted(rejected_, "line") << (rejected_ == 1 ? " was rejected" : " were rejected");
    if (options_.file != "-") run_.err << "; see " << rejects_file();
    run_.err << ".\n";
    return ExitCode::failed;
  }

  Invocation& run_;
  const ImportOptions options_;
  const std::string name_;
  const Interrupt interrupt_;
  ProgressBar progress_;
  JsonParser parser_;
  std::ofstream rejects_;
  std::vector<std::string> events_;     // the next batch
  std::size_t bytes_ = 0;               // the size of events_
  std::int64_t line_ = 0;               // the last line read
  std::int64_t sent_to_ = 0;            // the last line of the last accepted batch
  std::optional<std::int64_t> newest_;  // the greatest id; read from the server before the first batch
  std::int64_t added_ = 0;
  std::int64_t existed_ = 0;
  std::int64_t rejected_ = 0;
};

ExitCode run_import(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  ImportOptions options{.file = arguments.text_or("FILE", "-"),
                        .queue = arguments.text_or("--queue", ""),
                        .tags = arguments.text_or("--tags", "")};
  if (!read_number(invocation, "--batch", options.batch, 1, limits::kBatchEvents) ||
      !read_number(invocation, "--from", options.from, 1)) {
    return ExitCode::usage;
  }
  if (options.file == "-") return Importer(invocation, options, std::nullopt).from(STDIN_FILENO);

  // For the progress bar. stdin can be read only once, so its bar has no total.
  const auto lines = count_lines(options.file);
  if (!lines) return fail(invocation, lines.error().message);
  const Descriptor file(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.open()) return Importer(invocation, options, *lines).from(file.number());
  return fail(invocation, "Cannot open " + options.file + ": " + std::strerror(errno) + ".");
}

}  // namespace

CommandSpec import_command() {
  return {
      .name = "import",
      .summary = "Publish a file of events, one JSON object per line",
      .details =
          "A line is an event as POST /events takes it and `eventq export` writes it. Invalid "
          "lines are listed on stderr and in FILE.rejects; all others are imported.\n\n"
          "A file can be imported again. A line without an event_id gets one made from the file's "
          "name, the line and its number, so an event that is already stored is not published "
          "again. Lines of stdin without an event_id are new events each time.",
      .positionals = {file_argument("FILE", "The file, or - for stdin")},
      .options = {queue_option("The queue of lines without one"),
                  {"--tags", "TAGS", "The tags of lines without any"},
                  {"--batch", "N", "Events per request, 1 to 10000", "1000"},
                  {"--from", "LINE", "The first line to import", "1"}},
      .examples = {{"eventq import orders.ndjson", "Publish all events of a file"},
                   {"eventq export | eventq import - --url http://other:8080",
                    "Copy events from one server to another"}},
      .run = run_import,
      .server_use = ServerUse::own_output,
  };
}

}  // namespace eventq::cli
