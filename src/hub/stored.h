// The content of the cache: `tokamak list` and `tokamak rm`.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hub/model_name.h"

namespace tokamak::hub {

/// One snapshot of a repository, or a repository without any.
struct StoredModel {
  std::string repo, commit;            // commit is "" when there is no snapshot yet
  std::vector<std::string> revisions;  // branches and tags that mean this commit, sorted
  uint64_t bytes = 0;                  // of the blobs that its files are, each once
  uint64_t partial_bytes = 0;          // of the repository's contents on the way
  std::vector<std::string> files;      // that are there
  std::string missing;                 // why it cannot be opened; "" when it can

  bool complete() const { return missing.empty(); }
};

/// Sorted by repository and commit. An error when the cache cannot be read; a cache that is not
/// there is empty.
Result<std::vector<StoredModel>> stored_models(const std::string& cache);

/// The files that removing a model takes away.
struct Removal {
  std::vector<std::string> snapshots, refs, blobs;  // paths
  std::string folder;                               // the whole repository; "" when others stay
  uint64_t bytes = 0;                               // of the blobs
  uint32_t kept_blobs = 0;                          // shared with snapshots that stay
};

/// Finds what belongs to `name`: with a revision that snapshot and what only it uses, else the
/// repository with everything. `whole` says which.
Result<Removal> plan_removal(const std::string& cache, const ModelName& name, bool whole);

/// Removes it; links first, so that nothing points to what is gone.
Result<void> remove(const std::string& cache, const Removal& removal);

}  // namespace tokamak::hub
