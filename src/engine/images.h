// Sight: what an engine has for images: the processor, the tower from the first image on, and the
// rows of the images that it has seen.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "generate/image_rows.h"
#include "image/image.h"
#include "vision/image_processor.h"
#include "vision/tower_runner.h"

namespace tokamak {

class Sight {
 public:
  /// REQUIRES: compiled.vision; it and the files outlive the sight.
  static Result<std::unique_ptr<Sight>> make(const Engine::Compiled& compiled,
                                             const ModelFiles& files, const OpenOptions& options);

  ImageRows& rows() { return rows_; }

  /// The image by ids that a prompt may have. One that was seen before is not looked at again. The
  /// first one loads the tower.
  Result<ImageRows::Named> see(Image image, Backend& backend);

  /// `ids` with as many ids as each image has in place of its placeholder. Errors: not as many
  /// placeholders as images.
  Result<std::vector<uint32_t>> in_place(std::span<const uint32_t> ids,
                                         std::span<const ImageRows::Named> images) const;

 private:
  Sight(const VisionTower& tower, const ModelFiles& files, ImageProcessor processor, ImageRows rows,
        TowerOptions options)
      : tower_(tower),
        files_(files),
        processor_(std::move(processor)),
        rows_(std::move(rows)),
        options_(std::move(options)) {}
  Result<std::vector<float>> look(const Patches& patches, Backend& backend);

  const VisionTower& tower_;
  const ModelFiles& files_;
  ImageProcessor processor_;
  ImageRows rows_;
  TowerOptions options_;
  std::unique_ptr<TowerRunner> runner_;
  struct Seen {
    Image image;  // resized
    ImageRows::Named named;
  };
  std::deque<Seen> seen_;
};

}  // namespace tokamak
