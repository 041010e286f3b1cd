// handlers.cc: see handlers.h.
#include "worker/handlers.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

#include "model/pattern.h"
#include "model/tags.h"

namespace eventq {
namespace {

std::string type_name(const std::exception& thrown) {
  const char* const mangled = typeid(thrown).name();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? name.get() : mangled;
}

// "std::runtime_error: no route", then one line for each exception that is nested in it.
std::string describe_thrown(const std::exception& thrown) {
  std::string text = type_name(thrown) + ": " + thrown.what();
  try {
    std::rethrow_if_nested(thrown);
  } catch (const std::exception& cause) {
    text += "\ncaused by " + describe_thrown(cause);
  } catch (...) {
    text += "\ncaused by something that is not a std::exception";
  }
  return text;
}

// A handler's exception fails its event and must not end the worker's thread.
Handled call(const Handler& handler, const Event& event, const std::stop_token& stop) {
  try {
    return handler(event, stop);
  } catch (const std::exception& thrown) {
    return Handled::retry(thrown.what(), describe_thrown(thrown));
  } catch (...) {
    return Handled::retry("The handler threw something that is not a std::exception.");
  }
}

}  // namespace

void Handlers::on_tag(std::string tag, Handler handler) {
  // Trim the tag, because the queue stores tags without surrounding spaces. Worker::start() refuses a bad
  // tag: it calls subscription(), which validates every registration.
  if (auto cleaned = clean_tags({tag})) tag = std::move(cleaned->front());
  registrations_.push_back({Registration::By::tag, std::move(tag), std::move(handler)});
}

// A pattern is not trimmed, because the queue stores the patterns of events untrimmed. subscription()
// refuses a bad one.
void Handlers::on_pattern(std::string pattern, Handler handler) {
  registrations_.push_back({Registration::By::pattern, std::move(pattern), std::move(handler)});
}

Result<std::vector<std::string>> Handlers::subscription(const std::vector<std::string>& pattern_tags) const {
  if (registrations_.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "The worker has no handler; register one with on_tag() or on_pattern() before start().", ""};
  }
  std::vector<std::string> tags = pattern_tags;
  bool has_pattern = false;
  for (const Registration& registration : registrations_) {
    if (auto fault = validate(registration)) return *fault;
    if (registration.by == Registration::By::tag) tags.push_back(registration.wanted);
    has_pattern = has_pattern || registration.by == Registration::By::pattern;
  }
  if (has_pattern && pattern_tags.empty()) return std::vector<std::string>();
  if (!has_pattern && !pattern_tags.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "tags restrict the events of on_pattern(), and no pattern was registered; leave tags out.",
                 "tags"};
  }
  return clean_tags(tags);
}

std::optional<Error> Handlers::validate(const Registration& registration) {
  if (!registration.handler) {
    return Error{ErrorCode::invalid_argument, "The handler for \"" + registration.wanted + "\" is empty.",
                 ""};
  }
  if (registration.by == Registration::By::pattern) return validate_pattern(registration.wanted);
  const auto cleaned = clean_tags({registration.wanted});
  if (!cleaned) return cleaned.error();
  return std::nullopt;
}

bool Handlers::matches(const Registration& registration, const Event& event) {
  if (registration.by == Registration::By::pattern) return pattern_fits(registration.wanted, event.pattern);
  return std::find(event.tags.begin(), event.tags.end(), registration.wanted) != event.tags.end();
}

std::optional<std::vector<Handled>> Handlers::run(const Event& event, const std::stop_token& stop) const {
  std::vector<Handled> handled;
  for (const Registration& registration : registrations_) {
    if (!matches(registration, event)) continue;
    if (stop.stop_requested()) return std::nullopt;
    handled.push_back(call(registration.handler, event, stop));
  }
  return handled;
}

}  // namespace eventq
