// scripts.cc: see scripts.h.
#include "scripts.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace eventq::bench {
namespace {

[[noreturn]] void unexpected(const char* script, const Reply& reply) {
  std::fprintf(stderr, "%s got %d: %.*s\n", script, reply.status, static_cast<int>(reply.body.size()),
               reply.body.data());
  std::exit(1);
}

// An event with a payload of 200 bytes and two tags.
const std::string& one_event() {
  static const std::string event =
      R"({"title":"load","tags":"load,second","payload":{"text":")" + std::string(185, 'x') + R"("}})";
  return event;
}

// The numbers after each `name` in a reply, in order.
std::vector<std::int64_t> numbers_after(std::string_view body, std::string_view name) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = body.find(name); at != std::string_view::npos; at = body.find(name, at + 1)) {
    std::int64_t number = 0;
    std::from_chars(body.data() + at + name.size(), body.data() + body.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

struct Held {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> attempts;

  static Held of(std::string_view body) {
    return {numbers_after(body, R"({"id":)"), numbers_after(body, R"("attempt":)")};
  }
  [[nodiscard]] std::string json() const {
    std::string list = "[";
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i > 0) list += ',';
      list += R"({"id":)" + std::to_string(ids[i]) + R"(,"attempt":)" + std::to_string(attempts[i]) +
              R"(,"status_code":200,"execution_time_ms":1})";
    }
    return list + "]";
  }
};

std::string complete_one(const Held& held, const std::string& worker) {
  return post_request("/events/" + std::to_string(held.ids[0]) + "/complete",
                      R"({"worker_id":")" + worker + R"(","attempt":)" + std::to_string(held.attempts[0]) +
                          R"(,"execution_time_ms":1,"status_code":200})");
}

class RepeatGet final : public Script {
 public:
  explicit RepeatGet(const std::string& target) : request_(get_request(target)) {}
  std::string next(const Reply& reply) override {
    if (reply.status != 0 && reply.status != 200) unexpected("get", reply);
    return request_;
  }

 private:
  std::string request_;
};

class Publisher final : public Script {
 public:
  Publisher(Tally& tally, int batch) : tally_(tally), batch_(batch) {
    if (batch == 1) {
      request_ = post_request("/events", one_event());
      return;
    }
    std::string body = R"({"events":[)";
    for (int i = 0; i < batch; ++i) body += (i > 0 ? "," : "") + one_event();
    request_ = post_request("/events/batch", body + "]}");
  }
  std::string next(const Reply& reply) override {
    if (reply.status != 0 && reply.status != 201) unexpected("publish", reply);
    if (tally_.published - tally_.completed >= tally_.unfinished_max) return {};
    // Time for the worker to report and to wait again.
    if (tally_.time_delivery &&
        std::chrono::steady_clock::now() - tally_.published_at < std::chrono::milliseconds(5)) {
      return {};
    }
    tally_.published += batch_;
    if (tally_.time_delivery) tally_.published_at = std::chrono::steady_clock::now();
    return request_;
  }

 private:
  Tally& tally_;
  int batch_;
  std::string request_;
};

class WholeCycle final : public Script {
 public:
  WholeCycle(Tally& tally, int number) : tally_(tally), worker_("bench:" + std::to_string(number)) {}
  std::string next(const Reply& reply) override {
    if (reply.status != 0 && reply.status != 200 && reply.status != 201) unexpected("cycle", reply);
    switch (step_++ % 3) {
      case 0:
        if (reply.status != 0) ++tally_.completed;
        return post_request("/events", one_event());
      case 1: return get_request("/events/subscribe?tags=load&wait=20&worker_id=" + worker_);
      default: return complete_one(Held::of(reply.body), worker_);
    }
  }

 private:
  Tally& tally_;
  std::string worker_;
  std::uint64_t step_ = 0;
};

class ThreeCallWorker final : public Script {
 public:
  ThreeCallWorker(Tally& tally, int number, int batch)
      : tally_(tally), batch_(batch), worker_("bench:" + std::to_string(number)) {
    subscribe_ = get_request("/events/subscribe?tags=load&wait=20&worker_id=" + worker_ +
                             (batch > 1 ? "&limit=" + std::to_string(batch) : ""));
  }
  std::string next(const Reply& reply) override {
    if (reply.status == 204) return subscribe_;
    if (reply.status != 0 && reply.status != 200) unexpected("worker", reply);
    if (reply.status == 0 || reporting_) {
      if (reporting_) tally_.completed += held_;
      reporting_ = false;
      return subscribe_;
    }
    reporting_ = true;
    const Held held = Held::of(reply.body);
    held_ = static_cast<std::int64_t>(held.ids.size());
    if (batch_ == 1) return complete_one(held, worker_);
    return post_request("/events/complete",
                        R"({"worker_id":")" + worker_ + R"(","events":)" + held.json() + "}");
  }

 private:
  Tally& tally_;
  int batch_;
  std::string worker_;
  std::string subscribe_;
  bool reporting_ = false;
  std::int64_t held_ = 0;
};

class NextWorker final : public Script {
 public:
  NextWorker(Tally& tally, int number, int batch)
      : tally_(tally), batch_(batch), worker_("bench:" + std::to_string(number)) {}
  std::string next(const Reply& reply) override {
    if (reply.status != 0 && reply.status != 200) unexpected("next", reply);
    tally_.completed += held_;
    // Skip the results of the last reports, which precede the events and also contain attempts.
    const Held held =
        Held::of(reply.body.substr(std::min(reply.body.find(R"("events":)"), reply.body.size())));
    held_ = static_cast<std::int64_t>(held.ids.size());
    if (tally_.time_delivery && held_ > 0) {
      const auto waited = std::chrono::steady_clock::now() - tally_.published_at;
      tally_.delivery_us.push_back(
          static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(waited).count()));
    }
    return post_request("/events/next", R"({"worker_id":")" + worker_ +
                                            R"(","tags":"load","wait":20,"limit":)" + std::to_string(batch_) +
                                            R"(,"completed":)" + held.json() + "}");
  }

 private:
  Tally& tally_;
  int batch_;
  std::string worker_;
  std::int64_t held_ = 0;
};

}  // namespace

std::unique_ptr<Script> repeat_get(std::string target) { return std::make_unique<RepeatGet>(target); }

std::unique_ptr<Script> publisher(Tally& tally, int batch) {
  return std::make_unique<Publisher>(tally, batch);
}

std::unique_ptr<Script> whole_cycle(Tally& tally, int number) {
  return std::make_unique<WholeCycle>(tally, number);
}

std::unique_ptr<Script> three_call_worker(Tally& tally, int number, int batch) {
  return std::make_unique<ThreeCallWorker>(tally, number, batch);
}

std::unique_ptr<Script> next_worker(Tally& tally, int number, int batch) {
  return std::make_unique<NextWorker>(tally, number, batch);
}

}  // namespace eventq::bench
