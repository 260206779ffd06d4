// The settings of preprocessor_config.json: to which size images are brought and how they are cut.
#pragma once
#include <optional>
#include <variant>

#include "base/json.h"
#include "image/patches.h"
#include "image/resize.h"
#include "image/sizes.h"
#include "model/vision.h"

namespace tokamak {

class ImageProcessor {
 public:
  /// `file` is null where the model has none: the family's own values hold then. `max_pixels` is
  /// the user's limit. Errors name the field.
  static Result<ImageProcessor> read(const Json* file, const VisionTower& tower,
                                     uint64_t max_pixels);

  /// The size to which an image is brought.
  Result<ImageSize> size_for(ImageSize image) const;
  /// The image as the tower takes it: resized, so that its patches are whole.
  Result<Image> resize(Image image) const;
  /// REQUIRES: an image of resize().
  Patches cut(const Image& image) const { return patches_of(image, layout_); }

 private:
  PatchLayout layout_;
  /// A budget, or the square that all images become.
  std::variant<PixelBudget, TokenBudget, ImageSize> size_;
  ResizeFilter filter_ = ResizeFilter::kBicubic;
};

}  // namespace tokamak
