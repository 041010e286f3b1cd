// api.h: notebooks over HTTP, as routes that the server registers with http.
//
// A handler checks the request on its IoThread. Reads of the disk and the wait for a change run elsewhere,
// and resolve a DeferredResult. JSON is in api_json.h, the wait for a change in api_wait.h.
#pragma once

#include "http/api/routes.h"
#include "notebook/notebooks.h"

namespace eventq::notebook {

// With a null pointer every route answers 404 and says how to switch notebooks on.
// REQUIRES: `notebooks` outlives the service that has the routes, and is stopped before the server ends.
http::ApiExtension make_api(Notebooks* notebooks);

}  // namespace eventq::notebook
