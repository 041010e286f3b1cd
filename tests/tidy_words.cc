// tidy_words.cc: the rules of tidy.h for words: retired names, banned words.
#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <string_view>
#include <utility>

#include "tidy.h"
#include "tidy_text.h"

namespace eventq::tidy {
namespace {

enum class Where : std::uint8_t {
  names,              // every identifier, and files
  types_and_members,  // usual English elsewhere: `make_room`, `was_told`
};

struct RetiredWord {
  std::string_view word;
  Where where;
  std::string_view instead;
};

constexpr std::array kRetiredWords{
    RetiredWord{"desk", Where::names, "what it holds"},
    RetiredWord{"errand", Where::names, "scatter"},
    RetiredWord{"keeper", Where::names, "retention"},
    RetiredWord{"lane", Where::names, "commit thread or read thread"},
    RetiredWord{"ledger", Where::names, "queue states"},
    RetiredWord{"redrive", Where::names, "retry"},
    RetiredWord{"room", Where::types_and_members, "retried claims, or what there is space for"},
    RetiredWord{"surroundings", Where::names, "what it holds"},
    RetiredWord{"told", Where::types_and_members, "admin answer, or what was sent"},
};

// "CommitThread", "commit_thread" and "src/commit-thread.h" as words in lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    const bool upper = std::isupper(byte) != 0;
    const bool after_lower = at > 0 && std::isupper(static_cast<unsigned char>(name[at - 1])) == 0;
    const bool before_lower =
        at + 1 < name.size() && std::islower(static_cast<unsigned char>(name[at + 1])) != 0;
    if (std::isalnum(byte) == 0 || (upper && (after_lower || before_lower))) words.emplace_back();
    if (std::isalnum(byte) != 0) words.back() += static_cast<char>(std::tolower(byte));
  }
  return words;
}

bool has_word(std::string_view name, std::string_view word) {
  const std::vector<std::string> words = words_of(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& each) {
    return each == word || each == std::string(word) + "s";
  });
}

// In lower case.
const std::string kBannedWords =
    R"(\b(whoever|nobody|somebody|everybody|those who|mend(s|ed|ing)?|heed(s|ed|ing)?|errands?)\b)";

// A second word for a retry. The names of an earlier route and its member stay: "/failures/redrive".
const std::string kRetiredInProse = R"((^|[^/"])\bredriv(e|es|en|ing)\b)";

// Pictures for a place, which a message replaces by: is unavailable, exists, is inside, is at.
const std::string kBannedInMessages =
    R"(\b(lies? in|(is|are) away|(is|are) (not )?there|stands at|something at)\b)";

// What follows `mark` in each line.
std::string after_mark(const std::string& text, std::string_view mark) {
  std::string out;
  each_line(text, [&](std::size_t, const std::string& line) {
    const std::size_t at = line.find(mark);
    out += (at == line.npos ? "" : line.substr(at)) + "\n";
  });
  return out;
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Comments, and the names of tests as words.
std::string prose_of_cpp(const std::string& text) {
  static const std::regex test(R"(\bTEST(?:_[FP])?\((\w+), *(\w+))");
  const std::string code = only(text, Part::code);
  std::string out = only(text, Part::comment);
  std::vector<std::string> names;
  each_line(code, [&](std::size_t, const std::string& line) {
    std::smatch match;
    std::string words;
    if (std::regex_search(line, match, test)) {
      for (const std::string& word : words_of(match.str(1) + "_" + match.str(2))) words += " " + word;
    }
    names.push_back(words);
  });
  std::string joined;
  each_line(out,
            [&](std::size_t number, const std::string& line) { joined += line + names[number - 1] + "\n"; });
  return joined;
}

std::string advice(std::string_view name, const RetiredWord& retired) {
  return std::string(name) + ": \"" + std::string(retired.word) + "\" is retired; say " +
         std::string(retired.instead) + " (kRetiredWords in tests/tidy_words.cc)";
}

}  // namespace

Faults check_retired_words(const File& file) {
  Faults faults;
  const auto fault_if_retired = [&](std::size_t line, const std::string& name, bool type_or_member) {
    for (const RetiredWord& retired : kRetiredWords) {
      if (retired.where == Where::types_and_members && !type_or_member) continue;
      if (has_word(name, retired.word)) faults.push_back({file.path, line, advice(name, retired)});
    }
  };
  fault_if_retired(1, file.path, true);
  if (!is_cpp(file)) return faults;

  static const std::regex identifier(
      R"(\b(?:(class|struct|union|enum|using)(?: class)? +)?([A-Za-z_][A-Za-z0-9_]*))");
  each_line(only(file.text, Part::code), [&](std::size_t number, const std::string& line) {
    for (std::sregex_iterator it(line.begin(), line.end(), identifier), end; it != end; ++it) {
      const std::string name = (*it)[2];
      fault_if_retired(number, name, (*it)[1].matched || name.ends_with('_'));
    }
  });
  return faults;
}

Faults check_banned_words(const File& file) {
  // A migration never changes: SQLite keeps the comments inside its statements in the files of users.
  if (file.path.find("/migrations/") != file.path.npos) return {};
  std::string text;
  if (is_page(file)) {
    text = prose_of(file.text);
  } else if (is_cpp(file)) {
    text = prose_of_cpp(file.text);
  } else if (file.path.ends_with(".sql")) {
    text = after_mark(file.text, "--");
  } else if (file.path.ends_with("CMakeLists.txt")) {
    text = after_mark(file.text, "#");
  }
  text = in_lower_case(std::move(text));
  const std::string advice = "name the worker, the caller, the server; fix, notify, read";
  Faults faults = find(file, text, kBannedWords, advice);
  const Faults retired = find(file, text, kRetiredInProse, "say retry");
  faults.insert(faults.end(), retired.begin(), retired.end());
  const bool has_messages = is_cpp(file) && (is_in(file.path, "src") || is_in(file.path, "include")) &&
                            !is_test_or_bench(file) && !is_in(file.path, "src/store/conformance");
  if (!has_messages) return faults;
  const std::string messages = in_lower_case(only(file.text, Part::literal));
  for (const std::string& banned : {kBannedWords, kBannedInMessages}) {
    const Faults found =
        find(file, messages, banned, "say what is wrong: is unavailable, does not exist, is inside");
    faults.insert(faults.end(), found.begin(), found.end());
  }
  return faults;
}

}  // namespace eventq::tidy
