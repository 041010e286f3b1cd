// notebook.h: what batching saves.
#pragma once

namespace eventq::bench {

// Updates `files` files through a notebook with its usual settings, until they are all committed, and the
// same files in another repository with one `git commit` each; prints both and their ratio.
void bench_notebook(int files);

}  // namespace eventq::bench
