// prometheus_page.h: writes families of metrics in the text format of Prometheus.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "model/histogram.h"

namespace eventq::wire {

// The format requires that the samples of a family follow each other: call family(), then its samples.
class PrometheusPage {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  using Labels = std::initializer_list<Label>;

  // Appends to `out`.
  explicit PrometheusPage(std::string& out) : out_(out) {}

  void family(std::string_view name, std::string_view type, std::string_view help);
  // Samples of the last family. `suffix` is appended to its name: "_sum".
  void sample(Labels labels, std::int64_t value, std::string_view suffix = {});
  void sample(Labels labels, double value);
  void histogram(Labels labels, const Histogram& histogram);

 private:
  void bucket(Labels labels, std::string_view bound, std::int64_t count);
  void begin_sample(std::string_view suffix, Labels labels, Label last);
  template <typename Value>
  void end_sample(Value value) {
    append_decimal(out_, value);
    out_ += '\n';
  }
  void append(char& separator, const Label& label);

  std::string& out_;
  std::string name_;
};

}  // namespace eventq::wire
