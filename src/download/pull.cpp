#include "download/pull.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include "base/system/path_text.h"
#include "download/blob_file.h"
#include "download/fetch.h"
#include "download/listing.h"
#include "download/lock.h"
#include "hub/cache.h"
#include "hub/repo_files.h"

namespace tokamak::download {
namespace {

namespace fs = std::filesystem;

Result<void> make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    return invalid_input("{}: The folder cannot be made: {}.", text_of(folder), failed.message());
  }
  return {};
}

/// The name of a file while it is not whole.
fs::path partial_of(const fs::path& path) {
  return path_of(text_of(path) + std::string(hub::kPartialEnding));
}

/// Puts a file in place in one step, so that nobody sees half of it.
Result<void> replace(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (!failed) return {};
  std::error_code ignored;
  fs::remove(from, ignored);
  return invalid_input("{}: The file cannot be put in place: {}.", text_of(to), failed.message());
}

/// snapshots/COMMIT/PATH -> ../../blobs/HASH, with one ".." more for each folder of the path.
Result<void> link_file(const fs::path& snapshot, const hub::RepoFile& file) {
  const fs::path link = snapshot / path_of(file.path);
  fs::path target = "../..";
  for (const char c : file.path) {
    if (c == '/') target /= "..";
  }
  target /= fs::path("blobs") / path_of(file.hash);
  const fs::path blob = link.parent_path() / target;
  std::error_code failed;
  if (fs::read_symlink(link, failed) == target && !failed) return {};
  TOK_TRY(make_folder(link.parent_path()));
  if (fs::equivalent(link, blob, failed) && !failed) return {};
  const fs::path partial = partial_of(link);
  fs::remove(partial, failed);
  fs::create_symlink(target, partial, failed);
  // Windows has symbolic links for administrators alone; another name of the same file is for all,
  // but not on all disks.
  if (failed) fs::create_hard_link(blob, partial, failed);
  if (failed) fs::copy_file(blob, partial, failed);
  if (failed) {
    return invalid_input("{}: The link cannot be made: {}.", text_of(link), failed.message());
  }
  return replace(partial, link);
}

Result<void> write_ref(const fs::path& folder, const hub::ModelName& name,
                       const std::string& commit) {
  if (name.revision == commit) return {};
  const fs::path ref = folder / "refs" / path_of(name.revision);
  TOK_TRY(make_folder(ref.parent_path()));
  const fs::path partial = partial_of(ref);
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file << commit;
    if (!file.flush()) return invalid_input("{}: The file cannot be written.", text_of(partial));
  }
  return replace(partial, ref);
}

/// One pull, once the lock is held.
class Pull {
 public:
  Pull(Fetcher& fetcher, Progress& progress, const hub::RepoListing& listing,
       const std::vector<hub::RepoFile>& files)
      : fetcher_(fetcher),
        progress_(progress),
        listing_(listing),
        files_(files),
        folder_(path_of(hub::repo_folder(fetcher.settings().cache, fetcher.name().repo))),
        snapshot_(folder_ / "snapshots" / path_of(listing.commit)) {}

  Result<void> run() {
    for (const hub::RepoFile& file : files_) {
      if (leads_below(file.path)) continue;
      return invalid_input("{}: This system takes no file of the name \"{}\", which the list has.",
                           fetcher_.name().text(), file.path);
    }
    TOK_TRY(make_folder(folder_ / "blobs"));
    const std::vector<hub::RepoFile> missing = find_missing();
    TOK_TRY(check_room());
    progress_.stage = Stage::kFetch;
    for (const hub::RepoFile& file : missing) TOK_TRY(add(file));
    TOK_TRY(fetcher_.run());
    for (const hub::RepoFile& file : files_) TOK_TRY(link_file(snapshot_, file));
    return write_ref(folder_, fetcher_.name(), listing_.commit);
  }

  const fs::path& snapshot() const { return snapshot_; }

 private:
  /// A blob on the way.
  struct Wanted {
    hub::RepoFile file;
    std::optional<BlobFile> blob;
    size_t parts_left = 0;
  };

  std::string blobs() const { return text_of(folder_ / "blobs"); }

  /// One file for each blob that is not there: files of equal contents share one.
  std::vector<hub::RepoFile> find_missing() {
    std::vector<hub::RepoFile> missing;
    std::set<std::string> seen;
    for (const hub::RepoFile& file : files_) {
      if (!seen.insert(file.hash).second) continue;
      progress_.total += file.size;
      std::error_code failed;
      const uintmax_t size = fs::file_size(folder_ / "blobs" / path_of(file.hash), failed);
      if (!failed && size == file.size) {
        progress_.done += file.size;
      } else {
        progress_.done += BlobFile::left_before(blobs(), file);
        missing.push_back(file);
      }
    }
    return missing;
  }

  Result<void> check_room() const {
    const uint64_t needed = progress_.total - progress_.done;
    std::error_code failed;
    const fs::space_info space = fs::space(folder_, failed);
    if (failed || space.available >= needed) return {};
    return fail(ErrorCode::kOutOfMemory,
                "{} needs {:.1f} MB more, but the disk of {} has {:.1f} MB free; make room, or set "
                "HF_HUB_CACHE to a folder on another disk.",
                fetcher_.name().text(), double(needed) / 1e6, fetcher_.settings().cache,
                double(space.available) / 1e6);
  }

  Result<void> add(const hub::RepoFile& file) {
    auto wanted = std::make_shared<Wanted>();
    wanted->file = file;
    TOK_TRY(wanted->blob, BlobFile::open(blobs(), file));
    const hub::Parts parts = wanted->blob->parts();
    for (size_t i = 0; i < parts.done.size(); ++i) {
      const Range range{parts.begin(i) + parts.done[i], parts.end(i)};
      if (range.size() == 0) continue;
      ++wanted->parts_left;
      Fetch fetch;
      fetch.url = fetcher_.file_url(wanted->file.path, listing_.commit);
      fetch.what = wanted->file.path;
      fetch.range = range;
      fetch.file_size = wanted->file.size;
      fetch.sink = [this, wanted, i](std::span<const std::byte> bytes) -> Result<void> {
        TOK_TRY(wanted->blob->write(i, bytes));
        progress_.done += bytes.size();
        progress_.fetched += bytes.size();
        return {};
      };
      fetch.done = [this, wanted]() -> Result<void> {
        return --wanted->parts_left == 0 ? finish(*wanted) : Result<void>();
      };
      fetcher_.add(std::move(fetch));
    }
    return wanted->parts_left == 0 ? finish(*wanted) : Result<void>();
  }

  Result<void> finish(Wanted& wanted) {
    // The rest goes on afterwards; a file is checked faster than it is fetched.
    progress_.stage = Stage::kCheck;
    progress_.text = wanted.file.path;
    TOK_TRY(wanted.blob->finish([this](uint64_t) { fetcher_.tick(); }));
    wanted.blob.reset();
    progress_.stage = Stage::kFetch;
    progress_.text.clear();
    return link_file(snapshot_, wanted.file);
  }

  Fetcher& fetcher_;
  Progress& progress_;
  const hub::RepoListing& listing_;
  const std::vector<hub::RepoFile>& files_;
  fs::path folder_, snapshot_;
};

}  // namespace

Result<Pulled> pull(const hub::Settings& settings, const hub::ModelName& name,
                    const PullHooks& hooks) {
  Progress progress;
  const auto tell = [&] {
    if (hooks.progress) hooks.progress(progress);
  };
  const auto stage = [&](Stage now, std::string text) {
    progress.stage = now;
    progress.text = std::move(text);
    tell();
  };
  FetchHooks fetch_hooks{.cancelled = hooks.cancelled, .notice = {}, .tick = tell};
  fetch_hooks.notice = [&](const std::string& text) {
    const Stage before = progress.stage;
    stage(Stage::kWait, text);
    progress.stage = before;
    progress.text.clear();
  };
  Fetcher fetcher(settings, name, std::move(fetch_hooks));
  stage(Stage::kLookUp, name.text());
  TOK_TRY(const hub::RepoListing listing, fetch_listing(fetcher));
  TOK_TRY(const std::vector<hub::RepoFile> files, choose_files(fetcher, listing));

  TOK_TRY(const Lock lock, Lock::take_repo(settings.cache, name.repo, [&] {
            stage(Stage::kWait, fmt::format("another pull of {} is running", name.repo));
            return !hooks.cancelled || !hooks.cancelled();
          }));

  Pull work(fetcher, progress, listing, files);
  TOK_TRY(work.run());
  Pulled pulled{.path = text_of(work.snapshot()), .commit = listing.commit};
  const auto gguf = std::ranges::find_if(
      files, [](const hub::RepoFile& file) { return file.path.ends_with(".gguf"); });
  if (gguf != files.end()) {
    pulled.path += "/" + gguf->path;
    std::vector<std::string> all;
    for (const hub::RepoFile& file : listing.files) all.push_back(file.path);
    pulled.chose_default = name.choice.empty() && hub::chooses_default(all);
  }
  pulled.files = uint32_t(files.size());
  pulled.bytes = progress.total;
  pulled.fetched = progress.fetched;
  return pulled;
}

}  // namespace tokamak::download
