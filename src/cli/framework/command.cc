// command.cc: see command.h.
#include "cli/framework/command.h"

#include <utility>

namespace eventq::cli {

bool Arguments::has(std::string_view name) const { return values_.contains(name); }

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second.back();
}

std::string Arguments::text_or(std::string_view name, std::string_view fallback) const {
  return text(name).value_or(std::string(fallback));
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

void Arguments::add(std::string_view name, std::string value) {
  values_[std::string(name)].push_back(std::move(value));
}

std::span<const Parameter> common_options(ServerUse server_use) {
  static const std::vector<Parameter> options = {
      {"--url", "URL", "The URL of the server (EVENTQ_URL)", "http://127.0.0.1:8080"},
      {"-o,--output", "FORMAT", "Output format", "table on a terminal, jsonl in a pipe",
       "table,json,jsonl,csv,id"},
      {"--fields", "LIST", "Only these fields, separated by commas; payload.to is a member of the payload"},
      {"--color", "WHEN", "When to use colours; NO_COLOR and FORCE_COLOR change auto", "auto",
       "auto,always,never"},
      {"--time", "HOW", "How tables show times", "relative on a terminal, iso in a pipe", "relative,iso"},
  };
  // first(1) is --url.
  if (server_use == ServerUse::none) return {};
  return server_use == ServerUse::common_output ? std::span(options) : std::span(options).first(1);
}

Parameter file_argument(std::string_view name, std::string_view help) {
  return {.name = std::string(name),
          .help = std::string(help),
          .completes = CompletionKind::file,
          .required = true};
}

Parameter queue_option(std::string_view help, std::string_view fallback) {
  return {.name = "--queue",
          .value = "NAME",
          .help = std::string(help),
          .fallback = std::string(fallback),
          .completes = CompletionKind::queue};
}

std::string_view long_name(const Parameter& parameter) {
  const std::string_view name = parameter.name;
  return name.substr(name.find(',') + 1);  // npos + 1 is 0
}

}  // namespace eventq::cli
