// The settings of preprocessor_config.json: to which size images are brought and how they are cut.
#pragma once
#include <optional>
#include <variant>

#include "base/json.h"
#include "image/patches.h"
#include "image/resize.h"
#include "image/sizes.h"
#include "model/vision.h"
#include "vision/patch_places.h"

namespace tokamak {

class ImageProcessor {
 public:
  /// How an image is cut into squares of `side` pixels.
  struct Squares {
    uint32_t side = 0, longest = 0;
    bool splits = true;
  };

  /// How an image becomes a square of `side` pixels without being stretched: its shorter side is
  /// brought to that and what is beyond is cut off, or it gets margins of a colour first.
  struct Centre {
    uint32_t side = 0;
    std::optional<std::array<uint8_t, 3>> margin = {};
  };

  /// `file` is null where the model has none: the family's own values hold then. `max_pixels` is
  /// the user's limit. Errors name the field.
  static Result<ImageProcessor> read(const Json* file, const VisionTower& tower,
                                     uint64_t max_pixels);

  /// The size to which an image is brought.
  Result<ImageSize> size_for(ImageSize image) const;
  /// The image as the tower takes it: resized, so that its patches are whole.
  Result<Image> resize(Image image) const;
  /// The images that the tower sees of one of resize(), one after another: its squares from left to
  /// right and from top to bottom and then the whole, or it alone.
  std::vector<Image> parts(Image image) const;
  /// How many squares such an image is cut into, of each side; 1: none.
  PatchGrid squares(ImageSize resized) const;
  /// REQUIRES: one of parts().
  Patches cut(const Image& image) const { return patches_of(image, layout_); }

 private:
  PatchLayout layout_;
  /// A budget, or the square that all images become or are cut into.
  std::variant<PixelBudget, SideBudget, TokenBudget, ImageSize, Squares, Centre> size_;
  ResizeFilter filter_ = ResizeFilter::kBicubic;
};

}  // namespace tokamak
