// content_type.cc: content_type_of() of folder.h: by extension, else by the first bytes.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "notebook/files/folder.h"

namespace eventq::notebook {
namespace {

struct Extension {
  std::string_view name;
  std::string_view type;
};

constexpr Extension kExtensions[] = {
    {"adoc", "text/asciidoc"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar"},
    {"ipynb", "application/x-ipynb+json"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"markdown", "text/markdown"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"rst", "text/x-rst"},
    {"rtf", "application/rtf"},
    {"sh", "application/x-sh"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tex", "application/x-tex"},
    {"toml", "application/toml"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
};

// The extension in lower case; empty when there is none.
std::string extension_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return "";
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

// `text` without an incomplete UTF-8 character at its end.
std::string_view whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    const bool cut = byte <= 0xF4 && size > back;
    return cut ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

// Text is valid UTF-8 without control characters, as far as the first bytes show.
bool is_text(std::string_view beginning) {
  constexpr std::string_view kInText = "\t\n\r\f";
  const auto is_strange = [&](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && kInText.find(c) == kInText.npos) || c == 0x7F;
  };
  return std::none_of(beginning.begin(), beginning.end(), is_strange) &&
         valid_utf8(whole_characters(beginning));
}

}  // namespace

std::string content_type_of(std::string_view path, std::string_view beginning) {
  const std::string extension = extension_of(path);
  for (const Extension& known : kExtensions) {
    if (known.name == extension) return std::string(known.type);
  }
  return is_text(beginning) ? "text/plain" : "application/octet-stream";
}

}  // namespace eventq::notebook
