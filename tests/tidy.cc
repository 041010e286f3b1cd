// tidy.cc: the rules, as tables where they are tables.
#include "tidy.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include "tidy_text.h"

namespace eventq::tidy {
namespace {

// What a folder may include of ours, and does include. The longest path that fits a file decides.
struct Layer {
  std::string_view path;
  std::vector<std::string_view> may_include;
};

const std::vector<Layer> kLayers = {
    {"include/eventq", {"eventq/"}},
    {"src/base", {"base/", "eventq/error.h", "eventq/clock.h", "eventq/limits.h", "eventq/options.h"}},
    {"src/model", {"model/", "base/", "eventq/"}},
    {"src/store",
     {"store/row_text.h", "store/store.h", "store/stored_event.h", "store/memory/", "model/", "base/",
      "eventq/"}},
    {"src/store/conformance", {"store/", "support/", "model/"}},
    {"src/store/sqlite",
     {"store/columns.h", "store/row_value.h", "store/store.h", "store/sqlite/", "generated/", "model/",
      "base/", "eventq/"}},
    {"src/store/postgres",
     {"store/columns.h", "store/row_text.h", "store/row_value.h", "store/store.h", "store/postgres/",
      "generated/", "model/", "base/", "eventq/"}},
    {"src/wire", {"wire/", "model/", "base/", "eventq/"}},
    {"src/client", {"client/", "wire/", "model/", "base/", "eventq/"}},
    {"src/worker", {"worker/", "model/", "base/", "eventq/"}},
    {"src/command", {"command/", "store/store.h", "model/", "eventq/"}},
    {"src/wait", {"wait/", "command/", "model/", "base/", "eventq/"}},
    {"src/core", {"core/", "wait/", "command/", "store/store.h", "wire/", "model/", "base/", "eventq/"}},
    {"src/engine", {"engine/", "core/", "command/", "store/store.h", "model/", "base/", "eventq/"}},
    {"src/retention", {"retention/", "command/", "store/store.h", "wire/", "model/", "base/", "eventq/"}},
    {"src/shards", {"shards/", "engine/", "core/", "wait/", "command/", "model/", "base/", "eventq/"}},
    {"src/shards/postgres_shard.cc", {"shards/", "engine/", "retention/", "command/", "store/", "model/"}},
    {"src/queue", {"queue/", "engine/", "model/", "base/", "eventq/"}},
    {"src/queue/open.cc",
     {"queue/", "shards/", "retention/", "engine/", "core/", "store/", "model/", "base/", "eventq/"}},
    {"src/http/transport", {"http/transport/", "base/", "eventq/"}},
    {"src/http/api", {"http/", "generated/", "engine/", "command/", "wire/", "model/", "base/", "eventq/"}},
    {"src/serve", {"serve/", "http/", "queue/embedded_queue.h", "engine/", "base/", "eventq/"}},
    {"src/notebook", {"notebook/", "engine/", "wire/", "model/", "base/", "eventq/"}},
    {"src/notebook/files", {"notebook/files/", "base/", "eventq/"}},
    {"src/notebook/git", {"notebook/", "base/", "eventq/"}},
    {"src/notebook/watch", {"notebook/", "base/", "eventq/"}},
    {"src/notebook/api", {"notebook/", "http/api/", "wire/", "model/", "base/", "eventq/"}},
    {"src/notebook/notebooks.cc", {"notebook/", "store/sqlite/lock_file.h", "base/"}},
    {"src/notebook/state", {"notebook/", "generated/", "store/sqlite/connection.h", "eventq/"}},
    {"src/tools", {"tools/", "store/", "generated/", "model/", "base/", "eventq/"}},
    {"src/server",
     {"server/", "notebook/", "http/", "queue/", "engine/", "store/", "model/", "base/", "eventq/"}},
    {"src/cli", {"cli/", "server/", "tools/", "store/", "client/", "wire/", "model/", "base/", "eventq/"}},
    {"examples", {"eventq/"}},
    {"tests", {""}},
    {"bench", {""}},
};

// Where a third-party header may appear, besides tests and benchmarks.
struct ThirdParty {
  std::string_view header;
  std::vector<std::string_view> folders;
};

const std::vector<ThirdParty> kThirdParty = {
    {"boost/", {"src/http", "src/client", "src/notebook"}},
    {"CLI/", {"src/cli"}},
    {"fmt/", {"src/base", "src/cli", "src/server"}},
    {"git2", {"src/notebook/git/git_support.h"}},
    {"libdeflate", {"src/retention"}},
    {"libpq", {"src/store/postgres"}},
    {"openssl/", {"src/notebook/files"}},
    {"simdjson", {"src/base"}},
    {"spdlog/", {"src/base"}},
    {"sqlite3", {"src/store/sqlite"}},
    {"toml++/", {"src/server"}},
    {"xxhash", {"src/base"}},
    {"benchmark/", {}},
    {"gmock/", {"src/store/conformance"}},
    {"gtest/", {"src/store/conformance"}},
};

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](auto start) { return text.starts_with(start); });
}

// Code without preprocessor lines, which need no balanced braces.
std::string braces_of(const std::string& text) {
  std::string out;
  bool in_directive = false;
  each_line(only(text, Part::code), [&](std::size_t, const std::string& line) {
    in_directive = in_directive || line.starts_with('#');
    if (!in_directive) out += line;
    out += '\n';
    in_directive = in_directive && line.ends_with('\\');
  });
  return out;
}

enum class Brace : std::uint8_t { scope, function, other };

// What a `{` opens, told by the text since the last `;`, `{` or `}`.
Brace brace_after(const std::string& head) {
  static const std::regex scope(R"(\b(namespace|class|struct|union|enum|extern)\b)");
  static const std::regex data(R"(=\s*$)");
  const bool has_parameters = head.find('(') != head.npos;
  if (!has_parameters && std::regex_search(head, scope)) return Brace::scope;
  if (std::regex_search(head, data)) return Brace::other;
  // Nothing, or a comma: behind a `member_{value}` of a constructor.
  const std::size_t first = head.find_first_not_of(" \n");
  if (has_parameters || first == head.npos || head[first] == ',') return Brace::function;
  return Brace::other;
}

// The row of kLayers for a file; null if there is none.
const Layer* layer_of(const File& file) {
  const Layer* layer = nullptr;
  for (const Layer& candidate : kLayers) {
    if (!is_in(file.path, candidate.path)) continue;
    if (layer == nullptr || candidate.path.size() > layer->path.size()) layer = &candidate;
  }
  return layer;
}

const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");

}  // namespace

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.path << ":" << fault.line << ": " << fault.message;
}

Faults check_includes(const File& file) {
  if (!is_cpp(file)) return {};

  const Layer* layer = layer_of(file);
  if (layer == nullptr)
    return {{file.path, 1, "belongs to no layer; add its folder to kLayers in tests/tidy.cc"}};

  Faults faults;
  each_line(file.text, [&](std::size_t number, const std::string& line) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) return;
    const std::string header = match[2];
    const auto fault = [&](const std::string& why) {
      faults.push_back({file.path, number, header + ": " + why});
    };

    if (match[1] == "\"") {
      // A test may look at all that its layer is linked to.
      if (!is_test_or_bench(file) && !starts_with_any(header, layer->may_include)) {
        fault("a layer above, or beside; " + std::string(layer->path) +
              " must do without it (kLayers in tests/tidy.cc)");
      }
      return;
    }
    if (is_in(file.path, "include/eventq") && header.find_first_of("./") != header.npos) {
      fault("the public headers include the standard library and each other, nothing else");
    }
    for (const ThirdParty& library : kThirdParty) {
      if (is_test_or_bench(file) || !header.starts_with(library.header)) continue;
      const auto may = [&](std::string_view folder) { return is_in(file.path, folder); };
      if (std::any_of(library.folders.begin(), library.folders.end(), may)) continue;
      fault("has its own folder, see kThirdParty in tests/tidy.cc; use the wrapper there");
    }
  });
  return faults;
}

Faults check_layers_are_used(const std::vector<File>& files) {
  std::map<const Layer*, std::set<std::string_view>> used;
  for (const File& file : files) {
    const Layer* layer = is_cpp(file) && !is_test_or_bench(file) ? layer_of(file) : nullptr;
    if (layer == nullptr) continue;
    each_line(file.text, [&](std::size_t, const std::string& line) {
      std::smatch match;
      if (!std::regex_search(line, match, kInclude)) return;
      for (const std::string_view allowed : layer->may_include) {
        if (match[2].str().starts_with(allowed)) used[layer].insert(allowed);
      }
    });
  }
  Faults faults;
  for (const Layer& layer : kLayers) {
    for (const std::string_view allowed : layer.may_include) {
      if (allowed.empty() || used[&layer].contains(allowed)) continue;  // empty: tests may include anything
      faults.push_back({"tests/tidy.cc", 1,
                        "kLayers lets " + std::string(layer.path) + " include " + std::string(allowed) +
                            ", and no file does; remove the entry"});
    }
  }
  return faults;
}

Faults check_head_comment(const File& file) {
  if (!is_cpp(file)) return {};
  const std::string name = std::filesystem::path(file.path).filename();
  if (file.text.starts_with("// " + name + ": ")) return {};
  return {{file.path, 1, "must start with a comment `// " + name + ": ` that says what the file is for"}};
}

Faults check_file_length(const File& file) {
  if (!is_cpp(file)) return {};
  const auto lines = static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n'));
  if (lines <= kFileLinesMax) return {};
  return {{file.path, lines, "has more than 800 lines; split it by the noun it serves"}};
}

Faults check_function_length(const File& file) {
  if (!is_cpp(file) || is_test_or_bench(file)) return {};

  const std::string text = braces_of(file.text);
  struct Open {
    Brace brace;
    std::size_t line;  // of the first word of its head
  };
  std::vector<Open> open;
  Faults faults;
  std::string head;
  std::size_t line = 1;
  std::size_t head_line = 1;
  for (const char c : text) {
    if (c == '{') {
      const bool at_scope = open.empty() || open.back().brace == Brace::scope;
      open.push_back({at_scope ? brace_after(head) : Brace::other, head_line});
    } else if (c == '}' && !open.empty()) {
      const Open closed = open.back();
      open.pop_back();
      if (closed.brace == Brace::function && line - closed.line + 1 > kFunctionLinesMax) {
        faults.push_back(
            {file.path, closed.line, "function of more than 70 lines; give a part of it a name"});
      }
    }
    const bool access_label =
        c == ':' && (head.ends_with("public") || head.ends_with("private") || head.ends_with("protected"));
    if (c == '{' || c == '}' || c == ';' || access_label) {
      head.clear();
    } else {
      if (head.find_first_not_of(" \n") == head.npos) head_line = line;
      head += c;
    }
    if (c == '\n') ++line;
  }
  return faults;
}

Faults check_time_and_randomness(const File& file) {
  if (file.path.ends_with(".sql")) {
    const std::string statement = std::regex_replace(file.text, std::regex("--[^\n]*"), "");
    return find(file, statement, "CURRENT_(TIMESTAMP|TIME|DATE)", "bind the time");
  }
  if (!is_cpp(file) || is_in(file.path, "bench")) return {};

  const std::string code = only(file.text, Part::code);
  Faults faults = find(file, code, R"(\b(sleep_for|sleep_until|usleep|nanosleep)\b)",
                       "nothing sleeps; wait for what you wait for, or advance a ManualClock");
  if (!is_in(file.path, "src") || is_in(file.path, "src/base") || is_test_or_bench(file)) return faults;

  const Faults times = find(file, code,
                            R"(system_clock::now|steady_clock::now|high_resolution_clock|clock_gettime|)"
                            R"(gettimeofday|\btime\((nullptr|NULL|0)\))",
                            "take a Clock&, or return a delay");
  const Faults randoms =
      find(file, code, R"(random_device|mt19937|\bs?rand\()", "take the randomness of base/ as an argument");
  faults.insert(faults.end(), times.begin(), times.end());
  faults.insert(faults.end(), randoms.begin(), randoms.end());
  return faults;
}

Faults check_sql(const File& file) {
  if (!is_cpp(file) || !is_in(file.path, "src") || is_test_or_bench(file)) return {};
  return find(file, only(file.text, Part::literal),
              R"(\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA|BEGIN IMMEDIATE)\b)",
              "a statement belongs in a .sql file of its own (cmake/embed.cmake)");
}

Faults check_words(const File& file) {
  if (!is_in(file.path, "src") || is_in(file.path, "src/wire")) return {};
  const std::string text =
      std::regex_replace(file.text, std::regex("memory_order(_|::)acquire"), "memory_order");
  return find(file, text, "(^|[^A-Za-z])([Jj]obs?|[Tt]asks?|[Aa]cquired?|[Aa]cquires)(?![A-Za-z])",
              "we say event, claim, lease; other spellings live in src/wire");
}

Faults check_machine_paths(const File& file) {
  if (!is_in(file.path, "src")) return {};
  return find(file, file.text, R"((^|[^\w.])/(home|root|tmp)/)",
              "is one machine's path; take it as an option");
}

Faults check_in_cmake(const std::vector<File>& files) {
  const auto named = [&](const std::filesystem::path& source) {
    return std::any_of(files.begin(), files.end(), [&](const File& list) {
      const std::filesystem::path path = list.path;
      if (path.filename() != "CMakeLists.txt" || !is_in(source.string(), path.parent_path().string()))
        return false;
      const std::string name = source.lexically_relative(path.parent_path()).string();
      std::istringstream words(std::regex_replace(list.text, std::regex("[()]"), " "));
      std::string word;
      while (words >> word) {
        if (word == name) return true;
      }
      return false;
    });
  };
  Faults faults;
  for (const File& file : files) {
    if (!file.path.ends_with(".cc") || named(file.path)) continue;
    faults.push_back({file.path, 1, "is not built; name it in the CMakeLists.txt of its folder"});
  }
  return faults;
}

Faults check_type_names(const std::vector<File>& files) {
  // A definition, not a declaration: a brace or a base follows the name.
  static const std::regex definition(
      R"(^\s*(?:template <[^>]*> *)?(?:class|struct|union|enum(?: class)?) (?:\[\[nodiscard\]\] )?(\w+)(?: final)?\s*(?:[{]|:[^:]))");
  std::map<std::string, std::string> first;  // a type's name, and the file that defines it
  Faults faults;
  for (const File& file : files) {
    const bool production = is_in(file.path, "src") || is_in(file.path, "include");
    if (!is_cpp(file) || !production || is_test_or_bench(file) || is_in(file.path, "src/store/conformance"))
      continue;
    each_line(only(file.text, Part::code), [&](std::size_t number, const std::string& line) {
      std::smatch match;
      if (!std::regex_search(line, match, definition)) return;
      const auto [found, added] = first.emplace(match[1], file.path);
      if (added || found->second == file.path) return;
      faults.push_back(
          {file.path, number,
           match[1].str() + " is also a type in " + found->second + "; choose a name that says which"});
    });
  }
  return faults;
}

}  // namespace eventq::tidy
