// verify_command.cc: `eventq verify`: proves from a store's own log that it kept its promises.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "cli/command_table.h"
#include "cli/interrupt.h"
#include "cli/invocation.h"
#include "cli/progress.h"
#include "cli/store_path.h"
#include "cli/terminal_text.h"
#include "store/sqlite/audit.h"

namespace eventq::cli {
namespace {

using sqlite::AuditCounts;
using sqlite::Proof;
using sqlite::Violation;

constexpr std::array kProofs = {Proof::sound,        Proof::none_lost,  Proof::finished_once,
                                Proof::leases_apart, Proof::order_kept, Proof::counters_right};
constexpr std::int64_t kShown = 100;  // violations of one kind

// What was looked at for it.
std::string extent_of(Proof proof, const AuditCounts& counts) {
  switch (proof) {
    case Proof::sound: return "SQLite's integrity check";
    case Proof::none_lost:
      return grouped(counts.events + counts.removed) + " events published: " + grouped(counts.live) +
             " live, " + grouped(counts.ended) + " ended, " + grouped(counts.removed) +
             " removed after their end";
    case Proof::finished_once: return grouped(counts.ends) + " ends, " + grouped(counts.resets) + " resets";
    case Proof::leases_apart:
      return grouped(counts.claims) + " claims in " + grouped(counts.entries) + " entries of the log";
    case Proof::order_kept:
      return grouped(counts.in_lines) + " events with " + grouped(counts.lines) + " ordering keys";
    case Proof::counters_right: return grouped(counts.rules) + " rules";
  }
  return "";
}

// Violations as they are found, then a line for each proof.
class Report {
 public:
  Report(std::ostream& out, bool json) : out_(out), json_(json) {}

  void add(const Violation& violation) {
    const std::int64_t count = ++found_[static_cast<std::size_t>(violation.proof)];
    if (json_) return add_json(violation);
    if (count > kShown) return;
    out_ << "      " << name_of(violation.proof) << ": ";
    if (violation.event != 0) out_ << "event " << violation.event;
    if (violation.entry != 0) out_ << ", log entry " << violation.entry;
    if (violation.event != 0) out_ << ": ";
    out_ << printable(violation.text) << '\n';
    if (count == kShown) out_ << "      (no more of these are shown)\n";
  }

  void conclude(const AuditCounts& counts) {
    for (const Proof proof : kProofs) {
      const std::int64_t count = found_[static_cast<std::size_t>(proof)];
      if (json_) {
        conclude_json(proof, count, counts);
      } else {
        out_ << (count == 0 ? " ok   " : " FAIL ") << padded(name_of(proof), 22)
             << (count == 0 ? "" : grouped(count) + " violated; ") << extent_of(proof, counts) << '\n';
      }
    }
  }

  [[nodiscard]] bool proven() const {
    return std::all_of(found_.begin(), found_.end(), [](std::int64_t count) { return count == 0; });
  }

 private:
  void add_json(const Violation& violation) {
    std::string line;
    JsonWriter json(line);
    json.begin_object().key("violated").string(name_of(violation.proof));
    if (violation.event != 0) json.key("event_id").integer(violation.event);
    if (violation.entry != 0) json.key("log_id").integer(violation.entry);
    json.key("message").string(to_valid_utf8(violation.text)).end_object();
    out_ << line << '\n';
  }

  void conclude_json(Proof proof, std::int64_t count, const AuditCounts& counts) {
    std::string line;
    JsonWriter json(line);
    json.begin_object().key("proof").string(name_of(proof)).key("ok").boolean(count == 0);
    json.key("violations").integer(count).key("extent").string(extent_of(proof, counts)).end_object();
    out_ << line << '\n';
  }

  std::ostream& out_;
  const bool json_;
  std::array<std::int64_t, kProofs.size()> found_{};
};

ExitCode run(Invocation& invocation) {
  const auto path = store_path(invocation.arguments.text_or("STORE", ""));
  if (!path) return wrong_usage(invocation, path.error().message);
  const Interrupt interrupt;
  Report report(invocation.out, invocation.arguments.text_or("--output", "text") == "jsonl");
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::optional<Progress> progress;
  const auto counts =
      sqlite::audit(*path, {.on_violation =
                                [&](const Violation& violation) {
                                  if (progress) progress->finish();
                                  report.add(violation);
                                },
                            .on_progress =
                                [&](std::int64_t done, std::int64_t all) {
                                  if (!progress) progress.emplace(invocation.err, terminal, "Verifying", all);
                                  progress->show(done);
                                  return !interrupt.asked();
                                }});
  progress.reset();
  if (interrupt.asked()) return fail(invocation, "interrupted; nothing is proven", ExitCode::interrupted);
  if (!counts) return fail(invocation, counts.error().message);
  report.conclude(*counts);
  return report.proven() ? ExitCode::done : ExitCode::failed;
}

}  // namespace

CommandSpec verify_command() {
  return {
      .name = "verify",
      .summary = "Prove from a store's own log that it kept its promises",
      .details =
          "Replays the log of every event and shows: that none was lost, that none was finished twice, that "
          "no "
          "two leases overlapped, that the order of ordering keys was kept, and that all counters are those "
          "of "
          "the rows.\n\n"
          "The file is only read, never checkpointed: a server may be running on it. One moment of it is "
          "looked "
          "at; while that lasts the server's write-ahead log cannot be emptied.\n\n"
          "Exit code 0: proven. 1: violated, or the file is no store.",
      .positionals =
          {{.name = "STORE", .help = "sqlite:FILE", .completes = Completes::file, .required = true}},
      .options = {{.name = "-o,--output",
                   .value = "FORMAT",
                   .help = "text, or jsonl: a JSON object per violation and per proof",
                   .fallback = "text",
                   .choices = "text,jsonl",
                   .completes = Completes::choice}},
      .examples = {{"eventq verify sqlite:eventq.db", "Check the store in this folder"}},
      .run = run,
      .talks = CommandSpec::Talks::to_nobody,
  };
}

}  // namespace eventq::cli
