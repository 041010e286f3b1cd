// input_buffer.h: the bytes that a connection has received and not yet parsed.
//
// One block, reused for every read. The reader chooses its capacity, so an idle connection has a small one.
//
// Threads: belongs to one connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace eventq::http {

class InputBuffer {
 public:
  [[nodiscard]] std::string_view bytes() const { return {data_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }

  // Drops `size` bytes at the front. No byte moves, because a read into free_space() may be under way.
  void consume(std::size_t size) { begin_ += size; }
  void clear() { begin_ = end_; }

  // The free part of a block of `capacity` bytes, or of the size of the content if that is more.
  // REQUIRES: no read into an earlier free_space() is under way.
  std::span<char> free_space(std::size_t capacity) {
    resize(std::max(capacity, size()));
    return {data_.get() + end_, capacity_ - end_};
  }

  // Adds `size` bytes that were written to the front of free_space().
  void commit(std::size_t size) { end_ += size; }

 private:
  void resize(std::size_t capacity) {
    const std::size_t kept = size();
    if (capacity != capacity_) {
      auto block = std::make_unique_for_overwrite<char[]>(capacity);
      if (kept > 0) std::memcpy(block.get(), data_.get() + begin_, kept);
      data_ = std::move(block);
      capacity_ = capacity;
    } else if (begin_ > 0 && kept > 0) {
      std::memmove(data_.get(), data_.get() + begin_, kept);
    }
    begin_ = 0;
    end_ = kept;
  }

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace eventq::http
