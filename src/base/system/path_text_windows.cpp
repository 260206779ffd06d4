#include <algorithm>

#include "base/system/path_text.h"
#include "base/system/text_windows.h"

namespace tokamak {

std::filesystem::path path_of(std::string_view text) {
  return wide_text(text);
}

/// With "/", which Windows takes as well: texts are joined and compared by it. Only after "\\\\?\\"
/// it does not.
std::string text_of(const std::filesystem::path& path) {
  std::string text = narrow_text(path.native());
  if (!text.starts_with(R"(\\?\)")) std::ranges::replace(text, '\\', '/');
  return text;
}

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path_of(path), failed);
  return failed ? path : text_of(absolute);
}

}  // namespace tokamak
