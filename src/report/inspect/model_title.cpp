#include "report/inspect/model_title.h"

namespace tokamak {

std::string model_title(const ModelFiles& files, const std::string& asked) {
  return asked.empty() ? short_model_name(files, asked) + " (built-in)" : asked;
}

std::string short_model_name(const ModelFiles& files, const std::string& asked) {
  std::string_view name = asked.empty() ? files.name : asked;
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size() - 1));
  constexpr std::string_view kGguf = ".gguf";
  if (name.ends_with(kGguf)) name.remove_suffix(kGguf.size());
  return std::string(name);
}

}  // namespace tokamak
