// Images as people and programs give them: bytes of a file, or its path.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "image/image.h"

namespace tokamak {

/// The image in the bytes of a file. Errors do not name the file. In the browser the page decodes.
Result<Image> image_of_bytes(std::span<const std::byte> bytes);
/// The same of a file, which errors name. Native programs only.
Result<Image> image_of_file(const std::string& path);

}  // namespace tokamak
