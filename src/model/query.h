// query.h: which events somebody asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/event.h"

namespace eventq {

// What a worker works on.
struct Selector {
  std::string queue;
  std::vector<std::string> tags;  // any of these; empty: all
};

// What a person looks for.
struct ListFilter {
  std::optional<Status> status;
  std::vector<std::string> tags;  // any of these; empty: all
  std::optional<std::string> queue;
  std::optional<std::string> worker_id;
  std::optional<std::string> correlation_id;
  EventId after{};
  std::int64_t offset = 0;
  std::size_t limit = 20;
};

struct Page {
  std::vector<Event> events;  // without payload; ascending id
  std::int64_t total = 0;     // how many match, pages aside
  bool total_exact = true;    // false: there are at least that many
};

// A page's total is counted up to this many where it is not kept as a counter.
inline constexpr std::int64_t kCountedMax = 10'000;

}  // namespace eventq
