// Paths as texts in UTF-8, whatever the system has. Native builds only.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace tokamak {

std::filesystem::path path_of(std::string_view text);
std::string text_of(const std::filesystem::path& path);

/// A path that leads to the same place from every working directory.
std::string absolute_path(const std::string& path);

}  // namespace tokamak
