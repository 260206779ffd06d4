// Paths as texts in UTF-8, whatever the system has. Native builds only.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace tokamak {

std::filesystem::path path_of(std::string_view text);
std::string text_of(const std::filesystem::path& path);

/// Whether this system takes "a/b" for a file below the folder that it is joined to: some have
/// characters and names that lead elsewhere. REQUIRES: no part is "", "." or "..".
bool leads_below(std::string_view path);

/// A path that leads to the same place from every working directory.
std::string absolute_path(const std::string& path);

}  // namespace tokamak
