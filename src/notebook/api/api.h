// api.h: notebooks over HTTP.
#pragma once

#include <memory>

#include "http/api/notebooks.h"
#include "notebook/notebooks.h"

namespace eventq::notebook {

// `notebooks` must outlive it, and be stopped before the server ends.
std::unique_ptr<http::Notebooks> make_api(Notebooks& notebooks);

}  // namespace eventq::notebook
