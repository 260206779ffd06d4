#include "base/system/folders.h"

#include "base/environment.h"

namespace tokamak {

std::string cache_folder(std::string_view purpose) {
  std::string folder = environment_variable("TOKAMAK_CACHE_DIR");
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME");
      folder.empty() && !xdg.empty()) {
    folder = xdg + "/tokamak";
  }
  if (folder.empty()) folder = usual_cache_folder();
  return folder.empty() ? "" : folder.append("/").append(purpose);
}

std::string data_folder() {
  const std::string xdg = environment_variable("XDG_DATA_HOME");
  return xdg.empty() ? usual_data_folder() : xdg + "/tokamak";
}

}  // namespace tokamak
