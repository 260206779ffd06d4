// The cache of models on disk, laid out as huggingface_hub does, so that each finds what the other
// has fetched (huggingface.co/docs/huggingface_hub/guides/manage-cache):
//
//   models--org--name/
//     blobs/HASH                       contents, named after SHA-256 (large) or git's SHA-1 (small)
//     blobs/HASH.tokamak               contents on the way; HASH.tokamak.parts: how far they are
//     refs/REVISION                    the commit of a branch or a tag, 40 digits, no line end
//     snapshots/COMMIT/PATH            symbolic links to ../../blobs/HASH
//   .locks/models--org--name/          lock files
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/model_name.h"

namespace tokamak::hub {

/// The end of the names of contents on the way. Not ".incomplete": huggingface_hub goes on from the
/// length of such a file, and ours have holes.
inline constexpr std::string_view kPartialEnding = ".tokamak";

/// The folder of a repository. REQUIRES: `repo` comes from a ModelName.
std::string repo_folder(const std::string& cache, const std::string& repo);

/// Reads a ref file: its commit, or nothing when it holds anything else.
std::optional<std::string> parse_ref(std::string_view text);

/// The commit of a revision as far as the cache knows it; nothing when it does not.
std::optional<std::string> cached_commit(const std::string& folder, const std::string& revision);

/// Paths of the files of a snapshot that are there, relative to it and sorted. Links whose blob is
/// gone do not count.
std::vector<std::string> snapshot_files(const std::string& snapshot);

/// Why a snapshot cannot be opened as a model: "config.json is missing"; "" when it can.
std::string missing_part(const std::string& snapshot, const std::vector<std::string>& files);

/// Whether the .gguf file at `path` in a snapshot was chosen among several for its quantization.
bool is_default_choice(const std::string& path);

/// Finds the files for a command's MODEL argument: `model` itself when it exists, else the snapshot
/// or the .gguf file of the model of that name in `cache`. Errors name the way out, which for a
/// model that is not there is a `tokamak pull`.
Result<std::string> resolve_model(const std::string& model, const std::string& cache);

}  // namespace tokamak::hub
