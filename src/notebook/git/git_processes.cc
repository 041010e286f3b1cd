// git_processes.cc: see git_processes.h.
#include "notebook/git/git_processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

#include "base/descriptor.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;

// The commands that change files and then HEAD. `git commit` is not here: it changes no file.
constexpr std::array<std::string_view, 13> kCommands = {
    "am",    "bisect",  "checkout", "cherry-pick",     "merge", "pull",  "rebase",
    "reset", "restore", "revert",   "sparse-checkout", "stash", "switch"};

bool is_inside(const std::string& path, const RepositoryFolders& folders) {
  const auto is_beneath = [&](std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    return is_within(path, folder);
  };
  return is_beneath(folders.work_tree) || is_beneath(folders.git);
}

std::string target_of(const fs::path& link) {
  std::error_code failed;
  return fs::read_symlink(link, failed).string();
}

// Calls `visit` with the folder in /proc of each other process, until it returns true.
bool any_process(const std::function<bool(const fs::path&)>& visit) {
  std::error_code failed;
  const std::string own = std::to_string(::getpid());
  for (fs::directory_iterator at("/proc", failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos || name == own) continue;
    if (visit(at->path())) return true;
  }
  return false;
}

// The command among the arguments of a git process, after git's own options; empty: none of kCommands.
std::string_view command_in(std::string_view arguments) {
  const auto next = [&] {
    const std::string_view word = arguments.substr(0, arguments.find('\0'));
    arguments.remove_prefix(std::min(word.size() + 1, arguments.size()));
    return word;
  };
  next();  // git itself
  for (std::string_view word = next(); !word.empty(); word = next()) {
    if (word == "-c" || word == "-C" || word == "--git-dir" || word == "--work-tree" ||
        word == "--namespace") {
      next();
    } else if (!word.starts_with('-')) {
      return std::find(kCommands.begin(), kCommands.end(), word) == kCommands.end() ? "" : word;
    }
  }
  return "";
}

// The beginning of a file in /proc; empty: the process has ended. A stream would throw in that case.
std::string text_of(const fs::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t size = opened.open() ? ::read(opened.number(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<std::size_t>(std::max(size, ssize_t{0}))};
}

}  // namespace

// Git changes its current folder to the work tree before it runs such a command.
std::optional<std::string> running_git(const RepositoryFolders& folders) {
  std::optional<std::string> found;
  any_process([&](const fs::path& process) {
    if (!is_inside(target_of(process / "cwd"), folders)) return false;
    if (text_of(process / "comm") != "git\n") return false;
    const std::string arguments = text_of(process / "cmdline");
    const std::string command(command_in(arguments));
    if (command.empty()) return false;
    found = "git " + command + " (process " + process.filename().string() + ")";
    return true;
  });
  return found;
}

bool is_in_use(const RepositoryFolders& folders) {
  return any_process([&](const fs::path& process) {
    if (is_inside(target_of(process / "cwd"), folders)) return true;
    std::error_code failed;
    for (fs::directory_iterator at(process / "fd", failed), end; !failed && at != end; at.increment(failed)) {
      if (is_inside(target_of(at->path()), folders)) return true;
    }
    return false;
  });
}

}  // namespace eventq::notebook
