// notebook_commands.cc: `eventq notebook ...`: add, list and show notebooks, commit, rescan.
#include <filesystem>
#include <system_error>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

std::string encoded_notebook(const Invocation& run) {
  return percent_encode(run.arguments.text_or("NAME", ""));
}

// The body {"name", "path", "settings"}. REQUIRES: check_utf8() of NAME and SETTING.
// Errors: invalid_argument, for wrong_usage().
Result<std::string> notebook_body(const Invocation& run) {
  const auto wrong = [](std::string message) {
    return Error{.code = ErrorCode::invalid_argument, .message = std::move(message)};
  };
  // The path must be absolute, because the server runs in another folder.
  std::error_code failed;
  const auto path = std::filesystem::absolute(run.arguments.text_or("PATH", ""), failed);
  if (failed) return wrong("the current folder is unknown (" + failed.message() + "); give an absolute PATH");
  if (!valid_utf8(path.native())) return wrong("PATH is not UTF-8; rename its folders");
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("name").string(run.arguments.text_or("NAME", ""));
  json.key("path").string(path.lexically_normal().native());
  json.key("settings").begin_object();
  for (const std::string& setting : run.arguments.texts("SETTING")) {
    const std::size_t equals = setting.find('=');
    JsonParser parser;
    if (equals == std::string::npos || !parser.parse(setting.substr(equals + 1))) {
      return wrong(in_quotes(setting) + " must be a setting and its number, such as git_commit_interval=10");
    }
    // JsonWriter::key() does not escape, and this name comes from the command line.
    std::string member;
    append_json_string(member, setting.substr(0, equals));
    json.raw(member + ":" + setting.substr(equals + 1));
  }
  json.end_object().end_object();
  return text;
}

ExitCode add_notebook(Invocation& run) {
  if (!check_utf8(run, {"NAME", "SETTING"})) return ExitCode::usage;
  const auto body = notebook_body(run);
  if (!body) return wrong_usage(run, body.error().message);
  return print_answer(run, call(run, "POST", "/notebooks", *body));
}

ExitCode list_notebooks(Invocation& run) {
  using Kind = CellKind;
  return print_list(run, "/notebooks", "notebooks",
                    {{"NOTEBOOK", "name"},
                     {"FILES", "files", Kind::number},
                     {"UNCOMMITTED", "uncommitted", Kind::number},
                     {"LAST COMMIT", "last_commit.at", Kind::time},
                     {"PATH", "path"},
                     {"TROUBLE", "trouble"}});
}

ExitCode show_notebook(Invocation& run) {
  return print_answer(run, call(run, "GET", "/notebooks/" + encoded_notebook(run)));
}

// The answer for one notebook is its event, and for all notebooks a list. Returns whether a notebook could
// not commit: the answer for one is an error then.
bool print_commits(Invocation& run, const JsonValue& answer) {
  if (!run.arguments.has("NAME")) {
    bool failed = false;
    RecordPrinter printer(
        run.out, run.output,
        {{"NOTEBOOK", "notebook"}, {"ID", "event.id"}, {"STATUS", "status"}, {"ERROR", "error"}});
    for (const JsonValue& commit : elements_at(answer, "commits")) {
      printer.add(commit.raw());
      failed = failed || text_at(commit, "error");
    }
    printer.finish();
    return failed;
  }
  print_record(run.out, run.output, answer.raw());
  return false;
}

ExitCode commit_notebooks(Invocation& run) {
  std::string target = "/events/commit?sync=true";
  if (run.arguments.has("NAME")) target += "&notebook=" + encoded_notebook(run);
  // The server waits up to 30 seconds for the commits.
  const CallResult called = call(run, "POST", target, {}, Millis{60'000});
  if (!called) return called.code;
  const AnswerJson answer(called.body);
  if (!answer) return fail_unreadable(run, answer);
  if (print_commits(run, *answer)) return fail(run, "not every notebook was committed", ExitCode::failed);
  // 202: the server waited as long as it may, and a commit is still a live event.
  if (called.status != 202) return ExitCode::done;
  return fail(run, "the commit waits for earlier changes; continue waiting with eventq wait ID",
              ExitCode::timed_out);
}

ExitCode rescan_notebook(Invocation& run) {
  // Ten minutes, because the server answers when it has read every file.
  return print_answer(
      run, call(run, "POST", "/notebooks/" + encoded_notebook(run) + "/rescan", {}, Millis{600'000}));
}

ExitCode log_notebook(Invocation& run) {
  using Kind = CellKind;
  std::int64_t limit = 20;
  if (!read_number(run, "--limit", limit)) return ExitCode::usage;
  const std::string path = "/notebooks/" + encoded_notebook(run) + "/commits?limit=" + std::to_string(limit);
  return print_list(run, path, "commits",
                    {{"WHEN", "at", Kind::time},
                     {"FILES", "files", Kind::number},
                     {"MESSAGE", "message"},
                     {"COMMIT", "hash"},
                     {"EVENTS", "event_ids"}});
}

}  // namespace

std::vector<CommandSpec> notebook_commands() {
  const Parameter name{.name = "NAME", .help = "The notebook", .required = true};
  return {
      {.name = "notebook add",
       .summary = "Make a folder a notebook",
       .details = "The folder must exist inside a folder that the server's --notebooks-allow names. It "
                  "becomes a git "
                  "repository if it is not one.",
       .positionals = {name,
                       file_argument("PATH", "The folder"),
                       {.name = "SETTING",
                        .help = "KEY=VALUE of its settings, see docs/notebooks.md",
                        .many = true}},
       .examples = {{"eventq notebook add journal ./journal git_commit_interval=10",
                     "Commit changes every ten seconds"}},
       .run = add_notebook},
      {.name = "notebook ls",
       .summary = "List the notebooks",
       .examples = {{"eventq notebook ls", "List all notebooks and their uncommitted files"}},
       .run = list_notebooks},
      {.name = "notebook status",
       .summary = "Show a notebook and its state",
       .positionals = {name},
       .examples = {{"eventq notebook status notes --fields uncommitted,trouble",
                     "Check a notebook for problems"}},
       .run = show_notebook},
      {.name = "notebook commit",
       .summary = "Commit changes now",
       .details = "Waits up to 30 seconds for earlier changes and the commit; exits with 3 when the "
                  "commit is not done by then.",
       .positionals = {{.name = "NAME", .help = "The notebook; without it all notebooks"}},
       .examples = {{"eventq notebook commit notes", "Commit before a backup"}},
       .run = commit_notebooks},
      {.name = "notebook rescan",
       .summary = "Search for changes that the file system did not report",
       .details = "Compares every file with the stored state and publishes the differences.",
       .positionals = {name},
       .examples = {{"eventq notebook rescan notes", "Find changes on a network file system"}},
       .run = rescan_notebook},
      {.name = "notebook log",
       .summary = "List a notebook's commits with their events",
       .positionals = {name},
       .options = {{"--limit", "N", "At most N commits, 1 to 1000", "20"}},
       .examples = {{"eventq notebook log notes --limit 3", "Show the last three commits, newest first"}},
       .run = log_notebook},
  };
}

}  // namespace eventq::cli
