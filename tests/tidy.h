// tidy.h: the rules of this repository that the compiler does not check, each a function of the source.
//
// Not a parser: each rule reads lines or braces, and relies on clang-format.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace eventq::tidy {

struct File {
  std::string path;  // from the root of the repository
  std::string text;
};

struct Fault {
  std::string path;
  std::size_t line = 0;
  std::string message;  // what is wrong, and what to do
};

using Faults = std::vector<Fault>;

std::ostream& operator<<(std::ostream& out, const Fault& fault);

// Which folder may include which, and where a third-party header may appear.
Faults check_includes(const File& file);

// Each entry of kLayers is used by an #include in `files`, so that the table shows the architecture.
Faults check_layers_are_used(const std::vector<File>& files);

// `// name.ext: what it is for` comes first.
Faults check_head_comment(const File& file);

inline constexpr std::size_t kFileLinesQuestion = 400;
inline constexpr std::size_t kFileLinesMax = 800;
inline constexpr std::size_t kFunctionLinesMax = 70;
Faults check_file_length(const File& file);
Faults check_function_length(const File& file);

// Time and randomness come from base/, and no code sleeps.
Faults check_time_and_randomness(const File& file);

// Statements are in .sql files.
Faults check_sql(const File& file);

// One word per thing.
Faults check_words(const File& file);

// Files, types, members and, for most words, all identifiers are without the words of kRetiredWords.
Faults check_retired_words(const File& file);

// Comments, pages and names of tests have none of the words in kBannedWords, which hide the subject.
// Messages, which are literals of production sources, also have none of kBannedInMessages.
Faults check_banned_words(const File& file);

// Nothing of one machine.
Faults check_machine_paths(const File& file);

// Every .cc is named in the CMakeLists.txt of its folder or of one above.
Faults check_in_cmake(const std::vector<File>& files);

// No sentence of a page is longer than that. Code and tables are not counted; a `span` is one word.
inline constexpr std::size_t kSentenceWordsMax = 30;
Faults check_sentences(const File& page);

// The tables of folders in README.md, CONTRIBUTING.md and docs/architecture.md (under its heading Folders)
// name each folder of `folders`, which are those of src/, and no other.
Faults check_folder_list(const File& page, const std::set<std::string>& folders);

// Relative links in Markdown pages have a target, and anchors have a heading. `exists` says whether a path
// from the root of the repository is a file or a folder.
Faults check_links(const std::vector<File>& pages, const std::function<bool(const std::string&)>& exists);

// The tests that sources and CMakeLists.txt in `files` define, each as Suite.Name.
std::set<std::string> tests_in(const std::vector<File>& files);

// docs/from-the-seeds.md has `count` rows. Each has five cells: a seed, a line, two texts and tests, which
// are in `tests`. A row that says "differently" gives a reason.
inline constexpr std::size_t kSeedRows = 263;
Faults check_seed_rows(const File& page, const std::set<std::string>& tests, std::size_t count = kSeedRows);

// A class, struct or enum of src/ or include/ has a name that no other file uses for a type. Tests are free.
Faults check_type_names(const std::vector<File>& files);

}  // namespace eventq::tidy
