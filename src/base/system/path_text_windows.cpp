#include "base/system/path_text.h"
#include "base/system/text_windows.h"

namespace tokamak {

std::filesystem::path path_of(std::string_view text) {
  return wide_text(text);
}

std::string text_of(const std::filesystem::path& path) {
  return narrow_text(path.native());
}

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path_of(path), failed);
  return failed ? path : text_of(absolute);
}

}  // namespace tokamak
