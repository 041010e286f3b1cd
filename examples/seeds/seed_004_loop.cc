// seed_004_loop.cc: the worker loop of seed 004, "EventBus", ported from Kotlin to C++ line by line.
//
//   seed_004_loop PATH     the queue is the SQLite file PATH
//
// The seed's API and loop, lines 74 to 94:
//
//   - publish(event: Event)
//   - poll(): Event?  // non-blocking; returns null if none
//   - finalize(id: Long, success: Boolean)
//
//   while (isActive) {
//       val ev = EventBus.poll() ?: run {
//           kotlinx.coroutines.delay(10_000)
//           continue
//       }
//       try {
//           EventRouter.route(ev)
//           EventBus.finalize(ev.id, success = true)
//       } catch (e: CancelledException) {
//           throw e
//       } catch (e: Exception) {
//           EventBus.finalize(ev.id, success = false)
//       }
//   }
//
// Line 68 says "Default timeout: 5 minutes (configured in code)". Line 10 says "If a pod dies mid-processing,
// the event becomes eligible for re-processing after an abandonment timeout".
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "eventq/queue.h"

namespace {

using namespace std::chrono_literals;

// The system time, and what the program adds to it: an example cannot wait for five minutes.
class LaterClock final : public eventq::Clock {
 public:
  [[nodiscard]] eventq::TimePoint now() const override {
    return eventq::system_clock().now() + eventq::Millis(later_.load());
  }
  void add(eventq::Millis time) { later_ += time.count(); }

 private:
  std::atomic<eventq::Millis::rep> later_ = 0;
};

struct Event {
  std::int64_t id = 0;
  std::string type;
  int attempts = 0;
};

// The seed's three functions. An event of eventq has a title and a tag; both are the event's type.
class EventBus {
 public:
  EventBus(const std::string& path, const eventq::Clock& clock) {
    eventq::Options options;
    options.lease = 5min;
    options.clock = &clock;
    queue_ = value_of(eventq::Queue::open("sqlite:" + path, options));
  }

  void publish(const std::string& type) { value_of(queue_->publish({.title = type, .tags = {type}})); }

  std::optional<Event> poll() {
    const auto claim = value_of(queue_->poll());
    if (!claim) return std::nullopt;
    return Event{static_cast<std::int64_t>(claim->event.id), claim->event.title, claim->event.attempts};
  }

  void finalize(std::int64_t id, bool success) {
    using Verdict = eventq::Queue::Verdict;
    const auto done = queue_->finalize(eventq::EventId(id), success ? Verdict::success : Verdict::failure);
    if (!done) throw std::runtime_error(done.error().message);
  }

 private:
  template <typename Value>
  static Value value_of(eventq::Result<Value> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
  }

  std::unique_ptr<eventq::Queue> queue_;
};

struct CancelledException : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class EventRouter {
 public:
  using Handler = std::function<void(const Event&)>;

  void register_handler(const std::string& type, Handler handler) { handlers_[type] = std::move(handler); }
  void route(const Event& event) const { handlers_.at(event.type)(event); }

 private:
  std::map<std::string, Handler> handlers_;
};

// Returns early when a stop is requested.
void delay(std::chrono::seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
}

void run_loop(EventBus& bus, const EventRouter& router, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::optional<Event> ev = bus.poll();
    if (!ev) {
      delay(10s, stop);
      continue;
    }
    try {
      router.route(*ev);
      bus.finalize(ev->id, true);
    } catch (const CancelledException&) {
      throw;
    } catch (const std::exception&) {
      bus.finalize(ev->id, false);
    }
  }
}

void print(const Event& event, const char* what) {
  std::cout << event.type << ", attempt " << event.attempts << ": " << what << "\n";
}

int run(const std::string& path) {
  LaterClock clock;
  EventBus bus(path, clock);
  std::stop_source stop;

  EventRouter router;
  router.register_handler("UserCreated", [](const Event& event) { print(event, "welcomed"); });
  router.register_handler("PaymentReceived", [](const Event& event) {
    print(event, "not booked");
    throw std::invalid_argument("The account is unknown.");
  });
  router.register_handler("ReportRequested", [](const Event& event) {
    if (event.attempts == 1) throw CancelledException("The pod is shut down.");
    print(event, "reported");
  });
  router.register_handler("Last", [&](const Event& event) {
    print(event, "stop");
    stop.request_stop();
  });

  for (const char* type : {"UserCreated", "PaymentReceived", "ReportRequested"}) bus.publish(type);
  try {
    run_loop(bus, router, stop.get_token());
  } catch (const CancelledException& cancelled) {
    std::cout << "cancelled: " << cancelled.what() << "\n";
  }
  std::cout << (bus.poll() ? "an event" : "no event") << " before the timeout\n";

  clock.add(5min);
  bus.publish("Last");
  run_loop(bus, router, stop.get_token());
  std::cout << (bus.poll() ? "an event" : "no event") << " is left\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "events.db");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
