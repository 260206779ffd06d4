#include "engine/images.h"

#include <algorithm>

#include "model/weights.h"
#include "vision/patch_places.h"

namespace tokamak {

Result<std::unique_ptr<Sight>> Sight::make(const Engine::Compiled& compiled,
                                           const ModelFiles& files, const OpenOptions& options) {
  const VisionTower& tower = *compiled.vision;
  const std::optional<Json>& file = files.description.image_processor;
  TOK_TRY(ImageProcessor processor,
          ImageProcessor::read(file ? &*file : nullptr, tower, options.image_pixels));
  ImageRows::WriteAngles angles;
  if (tower.angles) {
    angles = [&own = *tower.angles](const TokenPlace& place, std::span<float> out) {
      write_angles(own, {place.time, place.row, place.column}, out);
    };
  }
  ImageRows rows(compiled.plan, compiled.facts.vocab, std::move(angles), tower.sees_whole_images);
  TowerOptions tower_options = {.target = compiled.target,
                                .disabled_passes = compiled.disabled_passes,
                                .forced = options.forced,
                                .advice = options.advice};
  return std::unique_ptr<Sight>(
      new Sight(tower, files, std::move(processor), std::move(rows), std::move(tower_options)));
}

Result<std::vector<float>> Sight::look(const Patches& patches, Backend& backend) {
  if (runner_ == nullptr) {
    const auto constants = [this](const TensorDesc& constant, Share share,
                                  const WriteBytes& write) {
      return read_constant(files_.tensors, constant, share, write);
    };
    TOK_TRY(runner_, TowerRunner::open(tower_, backend, options_, constants));
  }
  auto rows = runner_->run(patches);
  // The device may be opened again by then.
  if (!rows && rows.error().code == ErrorCode::kDeviceLost) runner_.reset();
  return rows;
}

Result<ImageRows::Named> Sight::see(Image image, Backend& backend) {
  TOK_TRY(Image resized, processor_.resize(std::move(image)));
  for (const Seen& seen : seen_) {
    const bool is_same = seen.image.width == resized.width && seen.image.rgb == resized.rgb;
    if (is_same && rows_.find(seen.named.first_id) != nullptr) return seen.named;
  }
  const Patches patches = processor_.cut(resized);
  TOK_TRY(std::vector<float> values, look(patches, backend));
  const ImageRows::Named named =
      rows_.add(patches.rows / tower_.side, patches.columns / tower_.side, std::move(values));
  std::erase_if(seen_, [&](const Seen& one) { return rows_.find(one.named.first_id) == nullptr; });
  seen_.push_back({std::move(resized), named});
  return named;
}

Result<std::vector<uint32_t>> Sight::in_place(std::span<const uint32_t> ids,
                                              std::span<const ImageRows::Named> images) const {
  const auto places = size_t(std::ranges::count(ids, tower_.placeholder));
  if (places != images.size()) {
    return invalid_input(
        "The prompt has {} places for images, but there are {} images; each image needs one {}.",
        places, images.size(), tower_.words);
  }
  std::vector<uint32_t> out;
  size_t next = 0;
  for (const uint32_t id : ids) {
    if (id != tower_.placeholder) {
      out.push_back(id);
      continue;
    }
    const ImageRows::Named& image = images[next++];
    for (uint32_t i = 0; i < image.tokens(); ++i) out.push_back(image.first_id + i);
  }
  return out;
}

namespace {

/// A rendered prompt with what the model was trained on where its template writes a word for that.
std::string with_image_words(const VisionTower& tower, std::string_view prompt) {
  if (tower.template_word.empty()) return std::string(prompt);
  std::string out;
  for (;;) {
    const size_t at = prompt.find(tower.template_word);
    out += prompt.substr(0, at);
    if (at == prompt.npos) return out;
    out += tower.words;
    prompt.remove_prefix(at + tower.template_word.size());
  }
}

}  // namespace

Result<std::vector<uint32_t>> Engine::encode_with_images(std::string_view prompt,
                                                         std::span<const Image> images) {
  TOK_TRY(const Tokenizer* own, tokenizer());
  const std::string text =
      compiled_.vision ? with_image_words(*compiled_.vision, prompt) : std::string(prompt);
  TOK_TRY(const std::vector<uint32_t> ids,
          own->encode(text, {.add_special = false, .parse_special = true}));
  return with_images(ids, images);
}

Result<std::vector<uint32_t>> Engine::with_images(std::span<const uint32_t> ids,
                                                  std::span<const Image> images) {
  if (images.empty()) return std::vector<uint32_t>(ids.begin(), ids.end());
  if (sight_ == nullptr) {
    return fail(ErrorCode::kUsage, "The model was opened for text only, without image_pixels.");
  }
  std::vector<ImageRows::Named> named;
  for (size_t i = 0; i < images.size(); ++i) {
    auto one = sight_->see(images[i], *backend_);
    if (!one) return Failure(one.error().within(fmt::format("image {}", i + 1)));
    named.push_back(*one);
  }
  return sight_->in_place(ids, named);
}

}  // namespace tokamak
