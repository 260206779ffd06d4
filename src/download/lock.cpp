#include "download/lock.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/system/file_lock.h"
#include "base/system/path_text.h"
#include "hub/cache.h"

namespace tokamak::download {
namespace {

constexpr std::chrono::milliseconds kPause(200);

/// True while `path` is the file that is open here, and not removed or made anew.
bool is_still(const File& file, const std::string& path) {
  const auto own = file.state(), there = file_state(path);
  return own && there && own->identity == there->identity;
}

}  // namespace

Result<Lock> Lock::take(const std::string& path, const std::function<bool()>& waiting) {
  for (;;) {
    std::error_code failed;
    std::filesystem::create_directories(path_of(path).parent_path(), failed);
    auto file = File::open(path, FileMode::kCreate, {.follows_links = false});
    if (!file) {
      if (failed) {
        return invalid_input("{}: The folder for the lock cannot be made: {}.", path,
                             failed.message());
      }
      // Gone again since it was made: somebody removes the repository.
      if (file.error().code == ErrorCode::kUsage && waiting()) continue;
      return invalid_input("{}: The lock cannot be opened: {}.", path, file.error().message);
    }
    for (;;) {
      const auto taken = try_lock(*file);
      if (!taken) {
        return invalid_input("{}: The lock cannot be taken: {}.", path, taken.error().message);
      }
      if (*taken) break;
      if (!waiting()) return fail(ErrorCode::kCancelled, "Stopped while waiting for another pull.");
      std::this_thread::sleep_for(kPause);
    }
    if (is_still(*file, path)) return Lock(*std::move(file));
  }
}

Result<Lock> Lock::take_repo(const std::string& cache, const std::string& repo,
                             const std::function<bool()>& waiting) {
  const std::filesystem::path folder = path_of(hub::repo_folder(cache, repo));
  return take(text_of(path_of(cache) / ".locks" / folder.filename() / "tokamak.lock"), waiting);
}

}  // namespace tokamak::download
