// prometheus_page.cc: see prometheus_page.h.
#include "wire/prometheus_page.h"

#include <cstddef>

namespace eventq::wire {

void PrometheusPage::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  out_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void PrometheusPage::sample(Labels labels, std::int64_t value, std::string_view suffix) {
  begin_sample(suffix, labels, {});
  end_sample(value);
}

void PrometheusPage::sample(Labels labels, double value) {
  begin_sample("", labels, {});
  end_sample(value);
}

void PrometheusPage::histogram(Labels labels, const Histogram& histogram) {
  // The buckets of Prometheus are cumulative: each counts all values up to its bound.
  std::int64_t total = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    total += histogram.counts()[i];
    if (i < histogram.bounds().size()) bucket(labels, decimal_text(histogram.bounds()[i]), total);
  }
  bucket(labels, "+Inf", total);
  begin_sample("_sum", labels, {});
  end_sample(histogram.sum());
  sample(labels, total, "_count");
}

void PrometheusPage::bucket(Labels labels, std::string_view bound, std::int64_t count) {
  begin_sample("_bucket", labels, {"le", bound});
  end_sample(count);
}

// Writes the name and the labels of a sample: everything before its value.
void PrometheusPage::begin_sample(std::string_view suffix, Labels labels, Label last) {
  out_.append(name_).append(suffix);
  char separator = '{';
  for (const Label& label : labels) append(separator, label);
  if (!last.name.empty()) append(separator, last);
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void PrometheusPage::append(char& separator, const Label& label) {
  out_ += separator;
  separator = ',';
  out_.append(label.name).append("=\"");
  for (const char c : label.value) {
    if (c == '\\' || c == '"') out_ += '\\';
    if (c == '\n') {
      out_ += "\\n";
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

}  // namespace eventq::wire
