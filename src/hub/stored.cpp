#include "hub/stored.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/system/file.h"
#include "base/system/path_text.h"
#include "hub/cache.h"

namespace tokamak::hub {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

/// "org/name" of "models--org--name"; "" for other folders.
std::string repo_of(const std::string& folder) {
  constexpr std::string_view kPrefix = "models--";
  if (!folder.starts_with(kPrefix)) return "";
  std::string repo = folder.substr(kPrefix.size());
  const size_t dashes = repo.find("--");
  if (dashes != repo.npos) repo.replace(dashes, 2, "/");
  return parse_model_name(repo) ? repo : "";
}

/// Branches and tags of a repository with their commits; a name may have slashes.
std::map<std::string, std::string> refs_of(const fs::path& folder) {
  std::map<std::string, std::string> refs;
  const std::string root = text_of(folder / "refs");
  for (const std::string& name : snapshot_files(root)) {
    if (const auto commit = cached_commit(text_of(folder), name)) refs[name] = *commit;
  }
  return refs;
}

/// The blobs that the links of a snapshot lead to. A file that is no link, as on systems without
/// links, stands for itself.
std::set<fs::path> blobs_of(const fs::path& snapshot) {
  std::set<fs::path> blobs;
  for (const std::string& file : snapshot_files(text_of(snapshot))) {
    std::error_code failed;
    const fs::path target = fs::canonical(snapshot / path_of(file), failed);
    if (!failed) blobs.insert(target);
  }
  return blobs;
}

bool is_partial(const fs::path& blob) {
  const std::string name = text_of(blob.filename());
  return name.find(kPartialEnding) != name.npos || name.ends_with(".incomplete");
}

/// Contents on the way have holes: of them counts what is on disk.
uint64_t size_of(const fs::path& file) {
  const auto state = file_state(text_of(file));
  if (!state) return 0;
  return is_partial(file) ? std::min(state->bytes, state->stored_bytes) : state->bytes;
}

uint64_t partial_bytes(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const fs::path& blob : entries(folder / "blobs")) {
    if (is_partial(blob) && !text_of(blob).ends_with(".parts")) bytes += size_of(blob);
  }
  return bytes;
}

Result<void> remove_path(const fs::path& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) return invalid_input("{} cannot be removed: {}.", text_of(path), failed.message());
  return {};
}

}  // namespace

Result<std::vector<StoredModel>> stored_models(const std::string& cache) {
  std::vector<StoredModel> models;
  std::error_code failed;
  fs::directory_iterator readable(path_of(cache), failed);
  if (failed && failed != std::errc::no_such_file_or_directory) {
    return invalid_input("{} cannot be read: {}.", cache, failed.message());
  }
  for (const fs::path& folder : entries(path_of(cache))) {
    StoredModel model;
    model.repo = repo_of(text_of(folder.filename()));
    if (model.repo.empty()) continue;
    model.partial_bytes = partial_bytes(folder);
    const auto refs = refs_of(folder);
    bool any = false;
    for (const fs::path& snapshot : entries(folder / "snapshots")) {
      StoredModel one = model;
      one.commit = text_of(snapshot.filename());
      if (!is_commit(one.commit)) continue;
      for (const auto& [name, commit] : refs) {
        if (commit == one.commit) one.revisions.push_back(name);
      }
      one.files = snapshot_files(text_of(snapshot));
      for (const fs::path& blob : blobs_of(snapshot)) one.bytes += size_of(blob);
      one.missing = missing_part(text_of(snapshot), one.files);
      models.push_back(std::move(one));
      any = true;
    }
    if (any) continue;
    model.missing = "no file is complete";
    models.push_back(std::move(model));
  }
  return models;
}

Result<Removal> plan_removal(const std::string& cache, const ModelName& name, bool whole) {
  const fs::path folder = path_of(repo_folder(cache, name.repo));
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) {
    return invalid_input("{} is not in {}; `tokamak list` shows what is.", name.repo, cache);
  }
  Removal removal;
  const auto commit = cached_commit(text_of(folder), name.revision);
  const fs::path snapshot = folder / "snapshots" / path_of(commit.value_or(""));
  if (!whole && (!commit || !fs::exists(snapshot, ignored))) {
    return invalid_input("Revision \"{}\" of {} is not in {}; `tokamak list` shows what is.",
                         name.revision, name.repo, cache);
  }
  std::set<fs::path> used;
  bool others = false;
  if (!whole) {
    for (const fs::path& other : entries(folder / "snapshots")) {
      if (other == snapshot) continue;
      others = true;
      used.merge(blobs_of(other));
    }
  }
  if (!others) {
    removal.folder = text_of(folder);
    for (const fs::path& blob : entries(folder / "blobs")) removal.bytes += size_of(blob);
    return removal;
  }
  removal.snapshots.push_back(text_of(snapshot));
  for (const auto& [ref, meant] : refs_of(folder)) {
    if (meant == *commit) removal.refs.push_back(text_of(folder / "refs" / path_of(ref)));
  }
  const fs::path blobs = fs::canonical(folder / "blobs", ignored);
  for (const fs::path& blob : blobs_of(snapshot)) {
    if (used.contains(blob)) {
      ++removal.kept_blobs;
    } else if (blob.parent_path() == blobs) {
      removal.blobs.push_back(text_of(blob));
      removal.bytes += size_of(blob);
    }
  }
  return removal;
}

Result<void> remove(const std::string& cache, const Removal& removal) {
  for (const auto* paths : {&removal.snapshots, &removal.refs, &removal.blobs}) {
    for (const std::string& path : *paths) TOK_TRY(remove_path(path_of(path)));
  }
  if (removal.folder.empty()) return {};
  TOK_TRY(remove_path(path_of(removal.folder)));
  // Who removes holds the lock in there: a system that keeps files which are open keeps that one,
  // too.
  std::error_code ignored;
  fs::remove_all(path_of(cache) / ".locks" / path_of(removal.folder).filename(), ignored);
  return {};
}

}  // namespace tokamak::hub
