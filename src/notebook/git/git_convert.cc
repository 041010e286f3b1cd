// git_convert.cc: see git_convert.h. The rules are those of git's convert.c.
#include "notebook/git/git_convert.h"

#include <cstddef>
#include <utility>

namespace eventq::notebook::git {
namespace {

struct CharCounts {
  std::size_t nul = 0;
  std::size_t lone_cr = 0;
  std::size_t crlf = 0;
  std::size_t printable = 0;
  std::size_t other = 0;
};

CharCounts count(std::string_view content) {
  CharCounts counts;
  for (std::size_t at = 0; at < content.size(); ++at) {
    const auto c = static_cast<unsigned char>(content[at]);
    if (c == '\r') {
      const bool is_pair = at + 1 < content.size() && content[at + 1] == '\n';
      ++(is_pair ? counts.crlf : counts.lone_cr);
      if (is_pair) ++at;
    } else if (c == '\n') {
      continue;
    } else if (c == 127 || (c < 32 && c != '\b' && c != '\t' && c != '\033' && c != '\014')) {
      ++counts.other;
      if (c == 0) ++counts.nul;
    } else {
      ++counts.printable;
    }
  }
  if (content.ends_with('\032')) --counts.other;  // the end-of-file character of DOS
  return counts;
}

bool is_binary(const CharCounts& counts) {
  return counts.lone_cr > 0 || counts.nul > 0 || counts.printable / 128 < counts.other;
}

void strip_cr(std::string& content) {
  std::size_t to = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    const bool is_pair = content[at] == '\r' && at + 1 < content.size() && content[at + 1] == '\n';
    if (!is_pair) content[to++] = content[at];
  }
  content.resize(to);
}

std::string strip_idents(const std::string& content) {
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t dollar = content.find('$', at);
    if (dollar == content.npos) break;
    out.append(content, at, dollar + 1 - at);
    at = dollar + 1;
    if (content.size() - at <= 3 || content.compare(at, 3, "Id:") != 0) continue;
    const std::size_t end = content.find('$', at + 3);
    if (end == content.npos) break;
    if (content.substr(at + 3, end - at - 3).find('\n') != content.npos) continue;
    out += "Id$";
    at = end + 1;
  }
  return out.append(content, at);
}

}  // namespace

bool is_text_with_crlf(std::string_view content) {
  const CharCounts counts = count(content);
  return !is_binary(counts) && counts.crlf > 0;
}

std::string converted(std::string content, const Conversion& how) {
  const bool is_text =
      how.ends == LineEnds::text || (how.ends == LineEnds::guess && is_text_with_crlf(content));
  if (is_text) strip_cr(content);
  return how.ident ? strip_idents(content) : std::move(content);
}

}  // namespace eventq::notebook::git
