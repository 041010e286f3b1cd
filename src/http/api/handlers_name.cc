// handlers_name.cc: the number of an event that a request names by its event_id.
#include <string>
#include <utility>

#include "http/api/handlers.h"
#include "http/api/render.h"
#include "model/names.h"

namespace eventq::http {

HandlerResult find_events(std::vector<std::string> event_ids,
                          std::function<HandlerResult(const std::vector<Result<EventId>>&)> act,
                          LookupThen then) {
  EventIdsQuery query{std::move(event_ids)};
  auto render = [event_ids = query.event_ids, act = std::move(act)](Answer& answer) -> HandlerResult {
    const auto& events = std::get<Result<FoundEvents>>(answer.admin);
    if (!events) return events.error();
    std::vector<Result<EventId>> found;
    found.reserve(event_ids.size());
    for (std::size_t i = 0; i < event_ids.size(); ++i) {
      found.push_back(only_event(events->events[i], event_ids[i]));
    }
    return act(found);
  };
  EngineWork work = admin_work(std::move(query), std::move(render));
  work.may_wait = then == LookupThen::waits;
  return work;
}

}  // namespace eventq::http
