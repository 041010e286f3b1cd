// api_commit.h: one request that commits the changes of all notebooks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eventq/clock.h"
#include "http/api/call.h"
#include "notebook/notebook.h"

namespace eventq::notebook {

// Publishes a batch_commit to each notebook. With a `timeout` it waits for their ends: 200 when all have
// ended, 202 when the timeout is over. Without one: 202. The response has an element for each notebook, with
// its event or the reason why there is none: one notebook that cannot commit does not stop the others. No
// notebook: 200 without elements.
http::HandlerResult commit_all(const std::vector<std::shared_ptr<Notebook>>& notebooks,
                               std::optional<Millis> timeout);

}  // namespace eventq::notebook
