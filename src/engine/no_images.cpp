// The browser's module for texts: its models see nothing.
#include "engine/image_encoder.h"

namespace tokamak {

Result<CompiledPart> ImageEncoder::compile(const VisionTower&, const Engine::Compiled& compiled,
                                           const DeviceInfo&, const OpenOptions&) {
  return Failure(compiled.text_only);
}

Result<std::unique_ptr<ImageEncoder>> ImageEncoder::make(const Engine::Compiled& compiled,
                                                         const ModelFiles&, const OpenOptions&,
                                                         const std::unique_ptr<Backend>&,
                                                         EncodeWords) {
  return Failure(compiled.text_only);
}

Result<void> Engine::check_images() const {
  return Failure(compiled_.text_only);
}

Result<uint32_t> Engine::image_tokens(ImageSize) const {
  return Failure(compiled_.text_only);
}

Result<FittedImage> Engine::fit_image(Image) const {
  return Failure(compiled_.text_only);
}

Result<ImageRef> Engine::add_image(FittedImage, std::string_view) {
  return Failure(compiled_.text_only);
}

Result<ImageRef> Engine::encode_image(const Image&, std::string_view) {
  return Failure(compiled_.text_only);
}

Result<std::vector<uint32_t>> Engine::place_images(std::span<const uint32_t>,
                                                   std::span<const ImageRef>) const {
  return Failure(compiled_.text_only);
}

PlainText with_image_words(const VisionTower&, PlainText prompt) {
  return prompt;
}

}  // namespace tokamak
