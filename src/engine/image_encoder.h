// ImageEncoder: what an engine has for images: the processor, the tower from the first image on,
// and the rows of the images that it has encoded.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "generate/steps/image_rows.h"
#include "image/image.h"
#include "text/template/plain_marks.h"
#include "vision/image_processor.h"
#include "vision/tower_runner.h"

namespace tokamak {

class ImageEncoder {
 public:
  /// Compiles a tower for what `compiled` has of the device.
  static Result<CompiledPart> compile(const VisionTower& tower, const Engine::Compiled& compiled,
                                      const DeviceInfo& device, const OpenOptions& options);

  /// The ids of words of the tokenizer that stand in a prompt as a part of an image.
  using EncodeWords = std::function<Result<std::vector<uint32_t>>(std::string_view)>;

  /// `backend`: where towers run, also after another one has taken its place. REQUIRES:
  /// compiled.vision and compiled.tower; they, the files and the backend outlive the encoder.
  static Result<std::unique_ptr<ImageEncoder>> make(const Engine::Compiled& compiled,
                                                    const ModelFiles& files,
                                                    const OpenOptions& options,
                                                    const std::unique_ptr<Backend>& backend,
                                                    EncodeWords words);

  ImageRows& rows() { return rows_; }

  /// How many tokens an image of that size has, with the words between them.
  Result<uint32_t> tokens(ImageSize image) const;
  /// The image as the tower takes it. Any thread may call it.
  Result<FittedImage> fit(Image image) const;
  /// Gives the image ids that a prompt may have; its rows are made when a step reads them. One that
  /// was added before for the same tenant does not go through the tower again; for another tenant
  /// it does: the time must not reveal what others have sent. The first run loads the tower.
  Result<ImageRef> add(FittedImage image, std::string_view tenant);
  /// Loads the tower and runs it once, on a black image.
  Result<void> warm_up();
  /// Before the backend goes: the tower is loaded again by the next image.
  void forget_device() { runner_.reset(); }

  /// `ids` with as many ids as each image has in place of its placeholder. Errors: not as many
  /// placeholders as images.
  Result<std::vector<uint32_t>> expand_placeholders(std::span<const uint32_t> ids,
                                                    std::span<const ImageRef> images) const;

 private:
  ImageEncoder(const VisionTower& tower, const Plan& plan, const ModelFiles& files,
               const std::unique_ptr<Backend>& backend, EncodeWords words,
               const ImageProcessor& processor, ImageRows rows)
      : tower_(tower),
        plan_(plan),
        files_(files),
        backend_(backend),
        words_(std::move(words)),
        processor_(processor),
        rows_(std::move(rows)) {}
  Result<std::vector<float>> run_tower(Image image);
  /// The rows of an image that the processor has brought to that size, and the words between them.
  PatchGrid rows_of(ImageSize fitted) const;
  Result<std::vector<ImagePart>> parts_of(ImageSize fitted) const;

  struct Added {
    std::shared_ptr<const Image> pixels;
    std::string tenant;
    std::weak_ptr<const PromptImage> image;  // the rows keep it as long as there is room
  };

  const VisionTower& tower_;
  const Plan& plan_;
  const ModelFiles& files_;
  const std::unique_ptr<Backend>& backend_;
  EncodeWords words_;
  ImageProcessor processor_;
  ImageRows rows_;
  std::unique_ptr<TowerRunner> runner_;
  std::deque<Added> added_;
};

/// A rendered prompt with what the model was trained on where its template writes a word for an
/// image. Words at `plain_at` are a message's.
PlainText with_image_words(const VisionTower& tower, PlainText prompt);

}  // namespace tokamak
