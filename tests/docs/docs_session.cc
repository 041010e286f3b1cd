// docs_session.cc: see docs_session.h.
#include "docs/docs_session.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "support/file_text.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 60s;

// Sends the requests for localhost:8080 to the session's server, and notes the status of the answer.
constexpr const char* kCurl = R"(#!/bin/sh
exec /usr/bin/curl --silent --show-error --connect-to "localhost:8080:127.0.0.1:$DOCS_PORT" \
  --write-out '%{stderr}%{http_code}' "$@" 2>"$HOME/.curl_status"
)";

bool is_server(const std::string& command) {
  return command.starts_with("eventq serve") || command.starts_with("eventq dev");
}

std::string without_carriage_returns(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != '\r') result += c;
  }
  return result;
}

}  // namespace

DocsSession::DocsSession() {
  const std::filesystem::path tools = directory_.file(".tools");
  std::filesystem::create_directory(tools);
  std::ofstream(tools / "curl") << kCurl;
  std::filesystem::permissions(tools / "curl", std::filesystem::perms::owner_all);
}

ProcessSetup DocsSession::setup(const std::vector<std::string>& command) const {
  const std::filesystem::path program = eventq_program("", {}).command.front();
  const std::string port = std::to_string(port_);
  return {.command = command,
          .environment = {"PATH=" + directory_.file(".tools") + ":" + program.parent_path().string() + ":" +
                              std::getenv("PATH"),
                          "HOME=" + directory_.file(""), "TERM=dumb", "NO_COLOR=1", "DOCS_PORT=" + port,
                          std::string("EVENTQ=") + EVENTQ_SOURCE_DIR, "EVENTQ_LISTEN=127.0.0.1:0",
                          "EVENTQ_URL=http://127.0.0.1:" + port},
          .directory = directory_.file("")};
}

std::string DocsSession::with_own_names(const std::string& command) {
  static const std::regex shown_url("postgres://[a-z]+@db[0-9]?\\.example/[a-z]+");
  std::string text = shown_.with_own_ids(command);
  for (std::smatch match; std::regex_search(text, match, shown_url);) {
    const TestDatabase& database = databases_.try_emplace(match.str(), TestDatabase::Empty()).first->second;
    text = match.prefix().str() + "'" + database.url() + "'" + match.suffix().str();
  }
  return text;
}

std::string DocsSession::run(const DocsBlock& block) {
  if (!block.noted("not run: ").empty()) return "";
  if (const std::string name = block.noted("file: "); !name.empty()) {
    write_file(name, block.lines);
    return "";
  }
  if (const std::string command = block.noted("printed by: "); !command.empty())
    return compare_lines(block, command);
  if (block.language == "console") return run_console(block);
  if (block.language == "json") return compare_answer(block);
  if (block.language == "toml") return check_configuration(block);
  return "";
}

std::string DocsSession::run_console(const DocsBlock& block) {
  const std::string exit_code = block.noted("exits with: ");
  for (const DocsCommand& command : commands_of(block)) {
    const std::string wrong = block.note == "stays running"
                                  ? start(command.text)
                                  : run_command(command, exit_code.empty() ? 0 : std::stoi(exit_code));
    if (!wrong.empty()) return "$ " + command.text + "\n" + wrong;
  }
  return "";
}

std::string DocsSession::run_command(const DocsCommand& command, int exit_code) {
  const std::string text = "stty cols 120 rows 40; " + with_own_names(command.text);
  const Finished finished =
      eventq::run(setup({"/usr/bin/script", "--quiet", "--return", "--command", text, "/dev/null"}));
  last_output_ = without_carriage_returns(finished.out);
  if (finished.exit_code != exit_code) {
    return "it exits with " + std::to_string(finished.exit_code.value_or(-1)) + "\n" + last_output_ +
           content_of(directory_.file(".curl_status"));
  }
  return command.output.empty() ? "" : shown_.difference(command.output, last_output_);
}

std::string DocsSession::start(const std::string& command) {
  if (is_server(command)) {
    for (auto it = running_.begin(); it != running_.end();) {
      const auto next = std::next(it);
      if (is_server(it->command)) {
        if (std::string wrong = stop(it); !wrong.empty()) return wrong;
      }
      it = next;
    }
  }
  // Everything goes to stderr, where a test can wait for a line.
  Running& running =
      running_.emplace_back(command, setup({"/bin/bash", "-c", "exec " + with_own_names(command) + " 1>&2"}));
  if (!command.starts_with("eventq ")) return "";
  const auto line = running.process.wait_for_line(is_server(command) ? "http://127.0.0.1:" : "", kLimit);
  if (!line) return "it prints no line\n" + running.process.err();
  if (is_server(command)) port_ = static_cast<std::uint16_t>(std::stoi(*line));
  return "";
}

std::string DocsSession::compare_answer(const DocsBlock& block) {
  if (const std::string status = content_of(directory_.file(".curl_status"));
      !block.status.empty() && status != block.status) {
    return "the status is " + status + " instead of " + block.status;
  }
  return shown_.difference(block.lines, last_output_);
}

std::string DocsSession::compare_lines(const DocsBlock& block, const std::string& command) {
  for (Running& running : running_) {
    if (!running.command.starts_with(command)) continue;
    for (const std::string& line : block.lines) {
      if (!running.process.wait_for_line(line, kLimit))
        return "it does not print: " + line + "\n" + running.process.err();
    }
    return "";
  }
  return "no such command runs: " + command;
}

std::string DocsSession::check_configuration(const DocsBlock& block) {
  write_file("shown.toml", block.lines);
  return run_command({"eventq serve --config shown.toml --print-config", {}}, 0);
}

std::string DocsSession::stop(std::list<Running>::iterator running) {
  running->process.signal(SIGTERM);
  const auto exit_code = running->process.wait(kLimit);
  std::string wrong;
  if (exit_code != 0)
    wrong = "$ " + running->command + "\nit does not stop with 0\n" + running->process.err();
  running_.erase(running);
  return wrong;
}

std::string DocsSession::end() {
  while (!running_.empty()) {
    if (std::string wrong = stop(std::prev(running_.end())); !wrong.empty()) return wrong;
  }
  return "";
}

void DocsSession::write_file(const std::string& name, const std::vector<std::string>& lines) const {
  std::ofstream file(directory_.file(name));
  for (const std::string& line : lines) file << line << "\n";
}

}  // namespace eventq
