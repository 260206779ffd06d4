// The browser's module for texts: it reads no images.
#include "engine/requests/image_files.h"

namespace tokamak {

Result<Image> image_of_bytes(std::span<const std::byte>) {
  return unsupported("The module for texts reads no images.");
}

}  // namespace tokamak
