#include <algorithm>
#include <mutex>

#include "backend/webgpu/dawn/library.h"
#include "backend/webgpu/dawn/loader.h"
#include "base/system/file.h"

namespace tokamak {

std::string first_readable(const std::vector<std::string>& paths) {
  const auto found = std::ranges::find_if(paths, is_readable);
  return found == paths.end() ? "" : *found;
}

Result<void> load_dawn(const std::string& path) {
  static std::mutex mutex;
  static bool loaded = false;
  const std::scoped_lock lock(mutex);
  if (loaded) return {};
  const std::vector<std::string> places = dawn_places();
  const std::string chosen = path.empty() ? first_readable(places) : path;
  if (chosen.empty()) return no_dawn(places);
  TOK_TRY(open_dawn(chosen));
  loaded = true;
  return {};
}

}  // namespace tokamak
