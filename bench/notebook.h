// notebook.h: measures what batched git commits save.
#pragma once

namespace eventq::bench {

// Updates `files` files through a notebook with default settings until all are committed, and the same files
// in a second repository with one `git commit` each. Prints both rates and their ratio.
void bench_notebook(int files);

}  // namespace eventq::bench
