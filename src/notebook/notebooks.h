// notebooks.h: all notebooks of a server, and the threads they share.
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
  std::string state;               // the file of what is known of them
  std::vector<std::string> allow;  // folders in which notebooks may lie
  mode_t mask = 022;               // umask of the files they make
  Logger logger;
  const Clock* clock = nullptr;  // the system's when null
};

class Notebooks {
 public:
  // Opens those that were added before and goes on with what was under way. One that cannot be opened is left
  // out; the log says why. `engine` must outlive it, and be stopped after it. Errors: unavailable, corrupt.
  static Result<std::unique_ptr<Notebooks>> open(Engine& engine, NotebooksOptions options);
  virtual ~Notebooks() = default;  // stops

  // Errors: invalid_argument for a bad name or setting; not_found or conflict for a path that is no folder;
  // conflict when name or path are taken, or when it lies in no folder that is allowed.
  virtual Result<NotebookStatus> add(const std::string& name, const std::string& path,
                                     const NotebookSettings& settings) = 0;
  // `path`, with its links followed, lies in one of the folders that are allowed.
  [[nodiscard]] virtual bool is_allowed(const std::string& path) const = 0;

  [[nodiscard]] virtual std::shared_ptr<Notebook> find(const std::string& name) const = 0;  // null: no such
  [[nodiscard]] virtual std::vector<std::shared_ptr<Notebook>> all() const = 0;             // by name

  // Runs something that may read the disk, soon, on a thread of the pool; after stop() at once, on the
  // caller's.
  virtual void run(std::function<void()> what) = 0;

  // No changes are taken any more; what is being applied is finished and what waits is committed. Safe twice.
  virtual void stop() = 0;
};

}  // namespace eventq::notebook
