// sqlite_reader.h: Reader on its own read-only connection. It keeps snapshots short, because an open snapshot
// prevents the writer from reusing the write-ahead log.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace eventq::sqlite {

Result<std::unique_ptr<Reader>> open_reader(const std::string& path, const Clock& clock);

}  // namespace eventq::sqlite
