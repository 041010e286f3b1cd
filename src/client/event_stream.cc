// event_stream.cc: see event_stream.h.
#include "client/event_stream.h"

namespace eventq::client {

Result<void> EventStream::feed(std::string_view piece) {
  while (true) {
    const std::size_t end = piece.find('\n');
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos) return {};
    piece.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();  // a line may end with CR LF
    const std::string line = std::exchange(line_, {});
    if (auto taken = take_line(line); !taken) return taken;
  }
}

Result<void> EventStream::take_line(std::string_view line) {
  // An empty line ends an event.
  if (line.empty()) {
    const std::string name = std::exchange(name_, {});
    const std::string data = std::exchange(data_, {});
    return name == "event" ? on_event_(data) : Result<void>();
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field == "data" && !data_.empty()) data_ += '\n';
  if (field == "data") data_ += value;
  return {};
}

}  // namespace eventq::client
