// notebooks.h: all notebooks of a server, and the thread pool they share.
//
// Threads: every method may be called from any thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "notebook/notebook.h"

namespace eventq::notebook {

struct NotebooksOptions {
  std::string state;               // the SQLite file of NotebookState
  std::vector<std::string> allow;  // notebooks must lie in one of these folders
  mode_t mask = 022;               // umask of new files
  Logger logger;
  const Clock* clock = nullptr;  // null: the system's clock
};

class Notebooks {
 public:
  // Opens the notebooks that were added before and recovers them. A notebook that cannot be opened is skipped
  // and retried periodically; the log has the reason.
  // REQUIRES: `engine` outlives the result and is stopped after it.
  // Errors: unavailable, corrupt.
  static Result<std::unique_ptr<Notebooks>> open(Engine& engine, NotebooksOptions options);
  virtual ~Notebooks() = default;  // stops

  // Errors: invalid_argument for a bad name or setting; not_found or conflict for a path that is no folder;
  // conflict when the name or path is in use, or the path lies in no allowed folder.
  virtual Result<NotebookStatus> add(const std::string& name, const std::string& path,
                                     const NotebookSettings& settings) = 0;
  // Whether `path`, with links resolved, lies in an allowed folder.
  [[nodiscard]] virtual bool is_allowed(const std::string& path) const = 0;
  // The message for a path that is not allowed. It is the same for a path that does not exist, so a caller
  // cannot find out which folders exist outside of the allowed ones, not even through a link.
  // REQUIRES: !is_allowed(path).
  [[nodiscard]] virtual std::string not_allowed_text(const std::string& path) const = 0;

  [[nodiscard]] virtual std::shared_ptr<Notebook> find(const std::string& name) const = 0;  // null: none
  [[nodiscard]] virtual std::vector<std::shared_ptr<Notebook>> all() const = 0;             // by name

  // Runs `what`, which may read the disk, on a thread of the pool; after stop() on the caller's thread,
  // before run() returns.
  virtual void run(std::function<void()> what) = 0;

  // Refuses new changes, finishes running operations and commits pending changes. Safe to call twice.
  virtual void stop() = 0;
};

}  // namespace eventq::notebook
