// read_lane.cc: see read_lane.h.
#include "queue/read_lane.h"

#include <utility>
#include <vector>

#include "queue/lane.h"

namespace eventq {

ReadLane::ReadLane(std::unique_ptr<Reader> reader)
    : reader_(std::move(reader)), thread_([this] { loop(); }) {}

ReadLane::~ReadLane() { stop(); }

void ReadLane::submit(Request request) {
  std::unique_lock lock(mutex_);
  if (ended_) {
    lock.unlock();
    refuse_closed(request.origin);
    return;
  }
  requests_.push_back(std::move(request));
  work_.notify_one();
}

void ReadLane::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void ReadLane::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return !requests_.empty() || stopping_; });
    ended_ = requests_.empty();
    if (ended_) return;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    std::vector<Addressed> answers;
    answers.push_back({request.origin, answer(request.command)});
    deliver(std::move(answers));
    lock.lock();
  }
}

Answer ReadLane::answer(const Command& command) {
  Answer answer;
  if (command.get) answer.details = details(*command.get);
  if (command.list) answer.page = reader_->list(*command.list);
  return answer;
}

Result<Details> ReadLane::details(const Command::Get& get) {
  // The log first: an entry that is there belongs to the state read after it, or an older one.
  std::vector<LogEntry> log;
  if (get.with_log) {
    auto entries = reader_->log(get.id);
    if (!entries) return entries.error();
    log = std::move(*entries);
  }
  auto event = reader_->get(get.id);
  if (!event) return event.error();
  if (!*event) {
    return Error{ErrorCode::not_found,
                 "There is no event " + std::to_string(static_cast<std::int64_t>(get.id)) + ".", "id"};
  }
  return Details{std::move(**event), std::move(log)};
}

}  // namespace eventq
