// The hub's reply about a repository: GET {endpoint}/api/models/{repo}/revision/{rev}?blobs=true.
//
//   {"sha": COMMIT, "siblings": [{"rfilename": PATH, "size": BYTES, "blobId": SHA1,
//                                 "lfs": {"sha256": SHA256, "size": BYTES}}, ...], ...}
//
// "lfs" stands at large files only. Reference: huggingface_hub, src/huggingface_hub/hf_api.py,
// RepoSibling and BlobLfsInfo. Everything in it becomes a path or an amount of disk, so nothing is
// taken over unchecked.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak::hub {

struct RepoFile {
  std::string path;  // inside the repository
  uint64_t size = 0;
  std::string hash;  // the name of its blob: SHA-256 of a large file, git's SHA-1 of a small one

  bool large() const { return hash.size() == 64; }
  bool operator==(const RepoFile&) const = default;
};

struct RepoListing {
  std::string repo = "org/name";  // whose it is, for messages
  std::string commit;
  std::vector<RepoFile> files;  // sorted by path, each once

  /// Null when there is no such file.
  const RepoFile* find(std::string_view path) const;
};

/// Errors name the entry that is wrong; they do not name the repository.
Result<RepoListing> parse_repo_reply(std::string_view text);

}  // namespace tokamak::hub
