// note_path.cc: see note_path.h.
#include "notebook/files/note_path.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace eventq::notebook {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message), "path"}; }

bool is_between(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

// has_control(), plus U+0080 to U+009F and the line and paragraph separators. REQUIRES: valid UTF-8.
bool has_any_control(std::string_view text) {
  if (has_control(text)) return true;
  for (std::size_t at = text.find('\xC2'); at != text.npos; at = text.find('\xC2', at + 1)) {
    if (is_between(text[at + 1], 0x80, 0x9F)) return true;
  }
  return text.find("\u2028") != text.npos || text.find("\u2029") != text.npos;
}

// Whether `text` begins with a character that HFS+ ignores in comparisons. The list is from git's utf8.c.
bool begins_ignored(std::string_view text) {
  if (text.size() < 3) return false;
  const char last = text[2];
  if (text.starts_with("\xE2\x80")) return is_between(last, 0x8C, 0x8F) || is_between(last, 0xAA, 0xAE);
  if (text.starts_with("\xE2\x81")) return is_between(last, 0xAA, 0xAF);
  return text.starts_with("\uFEFF");
}

// The name as the most tolerant file system reads it. HFS+ ignores some characters; NTFS ignores dots and
// spaces at the end and the part after a colon; both ignore case.
std::string folded(std::string_view name) {
  std::string folded;
  while (!name.empty()) {
    const bool ignored = begins_ignored(name);
    const char c = name.front();
    if (!ignored) folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    name.remove_prefix(ignored ? 3 : 1);
  }
  folded.resize(std::min(folded.find(':'), folded.size()));
  folded.resize(folded.find_last_not_of(". ") + 1);
  return folded;
}

// Whether Windows treats the name as a device, which it does in every folder and with any extension.
bool is_device(std::string_view folded) {
  constexpr std::array<std::string_view, 6> kDevices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  constexpr std::array<std::string_view, 12> kNumbers = {"1", "2", "3", "4",      "5",      "6",
                                                         "7", "8", "9", "\u00B9", "\u00B2", "\u00B3"};
  std::string_view name = folded.substr(0, folded.find('.'));
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  if (std::find(kDevices.begin(), kDevices.end(), name) != kDevices.end()) return true;
  if (!name.starts_with("com") && !name.starts_with("lpt")) return false;
  return std::find(kNumbers.begin(), kNumbers.end(), name.substr(3)) != kNumbers.end();
}

// Empty when the name is valid.
std::optional<Error> bad_name(std::string_view name) {
  if (name.empty()) {
    return refused("The path has an empty name in it; put one \"/\" between two names and none at the end.");
  }
  if (name.size() > kName) {
    return refused("A name in the path has " + std::to_string(name.size()) + " bytes; at most " +
                   std::to_string(kName) + " are allowed.");
  }
  const std::string quoted = "\"" + std::string(name) + "\"";
  if (name == "." || name == "..") {
    return refused("The path has " + quoted + " in it; write the path from the notebook's folder on.");
  }
  const std::string plain = folded(name);
  // A name that begins with a colon is none on Windows, but it is one that git can hold.
  if (plain.empty() && name.find(':') == name.npos)
    return refused(quoted + " is no name on every system; use letters or digits in it.");
  if (plain == ".git" || plain == "git~1") {
    return refused(quoted + " is, on some systems, the folder in which git keeps its own; use another name.");
  }
  if (plain == kOwnFolder || plain == "eventq~1") {
    return refused(quoted + " is, on some systems, the folder " + std::string(kOwnFolder) +
                   ", which eventq keeps for itself; use another name.");
  }
  if (plain == ".gitmodules") return refused(quoted + " tells git where to fetch from; use another name.");
  if (is_device(plain)) return refused(quoted + " is the name of a device on Windows; use another name.");
  return std::nullopt;
}

std::optional<Error> bad_text(std::string_view text) {
  if (text.empty()) return refused("The path is empty; it must be like \"notes/today.md\".");
  if (text.size() > kPath) {
    return refused("The path has " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(kPath) + " are allowed.");
  }
  if (!valid_utf8(text)) return refused("The path is not valid UTF-8.");
  if (has_any_control(text)) {
    return refused("The path holds a control character or a line separator; use visible characters.");
  }
  if (text.find('\\') != text.npos) return refused("The path holds a \"\\\"; put \"/\" between names.");
  if (text.starts_with('/')) {
    return refused(
        "The path begins with \"/\"; write it from the notebook's folder on, like \"notes/today.md\".");
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> note_path(std::string_view text) {
  if (auto fault = bad_text(text)) return *fault;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    if (auto fault = bad_name(text.substr(begin, end - begin))) return *fault;
    begin = end + 1;
  }
  return std::string(text);
}

Result<std::string> requested_path(std::string_view text) {
  // On some systems "//" begins the name of another machine, so it is not read as one "/".
  if (text.starts_with("//")) return refused("The path begins with \"//\"; write one \"/\" or none.");
  if (text.starts_with('/')) text.remove_prefix(1);
  return note_path(text);
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::vector<std::string> folders_of(std::string_view path) {
  std::vector<std::string> folders;
  for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1)) {
    folders.emplace_back(path.substr(0, at));
  }
  return folders;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return folder.empty() || path.size() == folder.size() || path[folder.size()] == '/';
}

bool overlap(std::string_view a, std::string_view b) { return is_within(a, b) || is_within(b, a); }

}  // namespace eventq::notebook
