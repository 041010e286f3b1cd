// verify_command.cc: `eventq verify`: checks a store's log for violated guarantees, and prints them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "cli/framework/store_path.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal_text.h"
#include "tools/verify/audit.h"

namespace eventq::cli {
namespace {

using sqlite::AuditCheck;
using sqlite::AuditCounts;
using sqlite::Violation;

constexpr std::array kProofs = {AuditCheck::sound,        AuditCheck::none_lost,  AuditCheck::finished_once,
                                AuditCheck::leases_apart, AuditCheck::order_kept, AuditCheck::counters_right};
constexpr std::int64_t kShown = 100;  // violations printed per property

// How much was checked for a property.
struct ProofExtent {
  std::int64_t items = 0;
  std::string text;  // behind "ok" or "FAIL" in the line of the property
};

ProofExtent extent_of(AuditCheck proof, const AuditCounts& counts) {
  const std::int64_t published = counts.events + counts.removed;
  switch (proof) {
    case AuditCheck::sound: return {1, "SQLite's integrity check"};  // one file
    case AuditCheck::none_lost:
      return {published, grouped(published) + " events published: " + grouped(counts.live) + " live, " +
                             grouped(counts.ended) + " ended, " + grouped(counts.removed) +
                             " removed after their end"};
    case AuditCheck::finished_once:
      return {counts.ends, grouped(counts.ends) + " ends, " + grouped(counts.resets) + " resets"};
    case AuditCheck::leases_apart:
      return {counts.claims,
              grouped(counts.claims) + " claims in " + grouped(counts.entries) + " entries of the log"};
    case AuditCheck::order_kept:
      return {counts.in_lines,
              grouped(counts.in_lines) + " events with " + grouped(counts.lines) + " ordering keys"};
    case AuditCheck::counters_right: return {counts.rules, grouped(counts.rules) + " rules"};
  }
  return {};
}

// Table format: prints violations when they are found, then a line per property. JSON: only an object per
// property.
class VerifyReport {
 public:
  VerifyReport(std::ostream& out, bool json) : out_(out), json_(json) {}

  void add(const Violation& violation) {
    ProofViolations& found = found_[static_cast<std::size_t>(violation.check)];
    if (++found.count > kShown) return;
    // In JSON they belong into the object of their property, which is printed at the end.
    if (json_) return add_json(found.shown, violation);
    out_ << "      " << name_of(violation.check) << ": ";
    if (violation.event != 0) out_ << "event " << violation.event;
    if (violation.entry != 0) out_ << ", log entry " << violation.entry;
    if (violation.event != 0) out_ << ": ";
    out_ << printable(violation.text) << '\n';
    if (found.count == kShown) out_ << "      (no more of these are shown)\n";
  }

  void conclude(const AuditCounts& counts) {
    for (const AuditCheck proof : kProofs) {
      const ProofViolations& found = found_[static_cast<std::size_t>(proof)];
      if (json_) {
        conclude_json(proof, found, counts);
      } else {
        out_ << (found.count == 0 ? " ok   " : " FAIL ") << padded(name_of(proof), 22)
             << (found.count == 0 ? "" : grouped(found.count) + " violated; ")
             << extent_of(proof, counts).text << '\n';
      }
    }
  }

  [[nodiscard]] bool proven() const {
    return std::all_of(found_.begin(), found_.end(),
                       [](const ProofViolations& found) { return found.count == 0; });
  }

 private:
  struct ProofViolations {
    std::int64_t count = 0;
    std::string shown;  // JSON, separated by commas
  };

  static void add_json(std::string& shown, const Violation& violation) {
    std::string object;
    JsonWriter json(object);
    json.begin_object();
    if (violation.event != 0) json.key("event_id").integer(violation.event);
    if (violation.entry != 0) json.key("log_id").integer(violation.entry);
    json.key("message").string(to_valid_utf8(violation.text)).end_object();
    shown += (shown.empty() ? "" : ",") + object;
  }

  void conclude_json(AuditCheck proof, const ProofViolations& found, const AuditCounts& counts) {
    std::string line;
    JsonWriter json(line);
    json.begin_object().key("proof").string(name_of(proof)).key("ok").boolean(found.count == 0);
    json.key("checked").integer(extent_of(proof, counts).items).key("violated").integer(found.count);
    json.key("violations").raw("[" + found.shown + "]").end_object();
    out_ << line << '\n';
  }

  std::ostream& out_;
  const bool json_;
  std::array<ProofViolations, kProofs.size()> found_{};
};

ExitCode run_verify(Invocation& invocation) {
  const auto path =
      store_path(invocation.arguments.text_or("STORE", ""),
                 "stop its servers, copy it with `eventq move URL sqlite:copy.db`, and verify the copy.");
  if (!path) return wrong_usage(invocation, path.error().message);
  const Interrupt interrupt;
  VerifyReport report(invocation.out, invocation.output.format != Format::table);
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::optional<ProgressBar> progress;
  const auto counts =
      sqlite::audit(*path, {.on_violation =
                                [&](const Violation& violation) {
                                  // Ends the line of the bar, so that the violation starts a new line.
                                  if (progress) progress->finish();
                                  report.add(violation);
                                },
                            .on_progress =
                                [&](std::int64_t done, std::int64_t all) {
                                  if (!progress) progress.emplace(invocation.err, terminal, "Verifying", all);
                                  progress->show(done);
                                  return !interrupt.requested();
                                }});
  progress.reset();
  // Before the error of audit(), which then only says that the callback stopped it.
  if (interrupt.requested())
    return fail(invocation, "interrupted; nothing was verified", ExitCode::interrupted);
  if (!counts) return fail(invocation, counts.error().message);
  report.conclude(*counts);
  return report.proven() ? ExitCode::done : ExitCode::failed;
}

}  // namespace

CommandSpec verify_command() {
  return {
      .name = "verify",
      .summary = "Check a store's log for lost or repeated events and broken order",
      .details =
          "Replays the log of every event and checks these properties. No event was lost: each "
          "published event is live, has ended, or was removed by retention after its end. No event "
          "was finished twice. No two leases of an event overlapped. Events with one ordering key "
          "ran in order. All counters equal the rows that they count.\n\n"
          "The log does not contain settings, so the command cannot check whether events behind a "
          "failed event waited while their queue had onFailure block. It also cannot check the "
          "history of events that retention has removed, and removals before schema 3, which first "
          "counts them.\n\n"
          "The command only reads the file and never checkpoints it, so a server may use the store "
          "meanwhile. It reads one snapshot, and until it ends the server cannot truncate its "
          "write-ahead log.\n\n"
          "In a pipe it prints a JSON object per property, with at most 100 violations each.\n\n"
          "Exits with 0 when no property is violated, with 1 when one is, or when the file is not "
          "a store.",
      .positionals = {file_argument("STORE", "sqlite:FILE")},
      .options = {{"-o,--output", "FORMAT", "How to print", "table on a terminal, jsonl in a pipe",
                   "table,jsonl"}},
      .examples = {{"eventq verify sqlite:eventq.db", "Check the store in this folder"}},
      .run = run_verify,
      .server_use = ServerUse::none,
  };
}

}  // namespace eventq::cli
