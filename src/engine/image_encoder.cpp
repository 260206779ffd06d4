#include "engine/image_encoder.h"

#include <algorithm>

#include "engine/restorable_program.h"
#include "generate/steps/call_errors.h"
#include "model/weights.h"
#include "vision/patch_places.h"
#include "vision/words_of_rows.h"

namespace tokamak {

Result<CompiledPart> ImageEncoder::compile(const VisionTower& tower,
                                           const Engine::Compiled& compiled,
                                           const DeviceInfo& device, const OpenOptions& options) {
  return TowerRunner::compile(tower, device,
                              {.target = fuse::in_f16(compiled.target),
                               .disabled_passes = compiled.disabled_passes,
                               .forced = options.forced,
                               .advice = options.advice});
}

Result<std::unique_ptr<ImageEncoder>> ImageEncoder::make(const Engine::Compiled& compiled,
                                                         const ModelFiles& files,
                                                         const OpenOptions& options,
                                                         const std::unique_ptr<Backend>& backend,
                                                         EncodeWords words) {
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
  ImageRows rows(compiled.main.plan, compiled.facts.vocab, std::move(angles),
                 tower.sees_whole_images);
  return std::unique_ptr<ImageEncoder>(new ImageEncoder(
      tower, compiled.tower->plan, files, backend, std::move(words), processor, std::move(rows)));
}

Result<std::vector<float>> ImageEncoder::run_tower(Image image) {
  if (runner_ == nullptr) {
    const auto constants = [this](const TensorDesc& constant, Share share,
                                  const WriteBytes& write) {
      return read_constant(files_.tensors, constant, share, write);
    };
    TOK_TRY(runner_, TowerRunner::open(tower_, plan_, *backend_, constants));
  }
  std::vector<float> all;
  for (const Image& part : processor_.parts(std::move(image))) {
    TOK_TRY(const std::vector<float> rows, runner_->run(processor_.cut(part)));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

PatchGrid ImageEncoder::rows_of(ImageSize fitted) const {
  const uint32_t side = tower_.patch * tower_.side;
  if (!std::holds_alternative<Tiles>(tower_.parts)) {
    return {.rows = fitted.height / side, .columns = fitted.width / side};
  }
  const uint32_t squares = processor_.squares(fitted).patches();
  return {.rows = squares == 1 ? 1 : squares + 1, .columns = tower_.max_rows()};
}

Result<std::vector<ImagePart>> ImageEncoder::parts_of(ImageSize fitted) const {
  std::vector<ImagePart> out;
  for (const WordsOfRows& part :
       words_of_rows(tower_, rows_of(fitted), processor_.squares(fitted))) {
    TOK_TRY(std::vector<uint32_t> ids,
            part.before.empty() ? std::vector<uint32_t>() : words_(part.before));
    out.push_back({std::move(ids), part.rows});
  }
  return out;
}

Result<uint32_t> ImageEncoder::tokens(ImageSize image) const {
  TOK_TRY(const ImageSize size, processor_.size_for(image));
  TOK_TRY(const std::vector<ImagePart> parts, parts_of(size));
  size_t tokens = rows_of(size).patches();
  for (const ImagePart& part : parts) tokens += part.before.size();
  return uint32_t(tokens);
}

Result<FittedImage> ImageEncoder::fit(Image image) const {
  TOK_TRY(const uint32_t count, tokens({image.width, image.height}));
  TOK_TRY(Image fitted, processor_.resize(std::move(image)));
  return FittedImage{std::move(fitted), count};
}

Result<ImageRef> ImageEncoder::add(FittedImage image, std::string_view tenant) {
  std::erase_if(added_, [&](const Added& one) {
    const ImageRef kept = one.image.lock();
    return kept == nullptr || rows_.find(kept->first_id) != kept;
  });
  const auto pixels = std::make_shared<const Image>(std::move(image.pixels));
  for (const Added& one : added_) {
    const bool is_same = one.tenant == tenant && one.pixels->width == pixels->width &&
                         one.pixels->rgb == pixels->rgb;
    if (is_same) return one.image.lock();
  }
  const ImageSize size = {pixels->width, pixels->height};
  TOK_TRY(std::vector<ImagePart> parts, parts_of(size));
  const PatchGrid grid = rows_of(size);
  ImageRef added = rows_.add(
      grid.rows, grid.columns, [this, pixels] { return run_tower(*pixels); }, std::move(parts));
  added_.push_back({pixels, std::string(tenant), added});
  return added;
}

Result<void> ImageEncoder::warm_up() {
  // One square is enough for images that are cut.
  if (std::holds_alternative<Tiles>(tower_.parts)) {
    TOK_TRY(run_tower(black_image(tower_.image_side, tower_.image_side)));
    return {};
  }
  const uint32_t side = tower_.patch * tower_.side;
  TOK_TRY(FittedImage black, fit(black_image(side, side)));
  TOK_TRY(run_tower(std::move(black.pixels)));
  return {};
}

Result<std::vector<uint32_t>> ImageEncoder::expand_placeholders(
    std::span<const uint32_t> ids, std::span<const ImageRef> images) const {
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
    const std::vector<uint32_t> own = images[next++]->ids();
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

Result<void> Engine::check_images() const {
  if (image_encoder_ != nullptr) return {};
  return Failure(compiled_.text_only);
}

Result<uint32_t> Engine::image_tokens(ImageSize image) const {
  TOK_TRY(check_images());
  return image_encoder_->tokens(image);
}

Result<FittedImage> Engine::fit_image(Image image) const {
  TOK_TRY(check_images());
  return image_encoder_->fit(std::move(image));
}

Result<ImageRef> Engine::add_image(FittedImage image, std::string_view tenant) {
  TOK_TRY(check_images());
  return image_encoder_->add(std::move(image), tenant);
}

Result<ImageRef> Engine::encode_image(const Image& image, std::string_view tenant) {
  TOK_TRY(FittedImage fitted, fit_image(image));
  TOK_TRY(ImageRef added, add_image(std::move(fitted), tenant));
  auto encoded = image_encoder_->rows().encode(*added);
  for (uint32_t losses = 1; !encoded && encoded.error().code == ErrorCode::kDeviceLost; ++losses) {
    if (restorable_ == nullptr || losses == kMaxLosses) break;
    TOK_TRY(restorable_->restore_silently(encoded.error()));
    encoded = image_encoder_->rows().encode(*added);
  }
  TOK_TRY(encoded);
  return added;
}

Result<std::vector<uint32_t>> Engine::place_images(std::span<const uint32_t> ids,
                                                   std::span<const ImageRef> images) const {
  if (images.empty()) return std::vector<uint32_t>(ids.begin(), ids.end());
  TOK_TRY(check_images());
  return image_encoder_->expand_placeholders(ids, images);
}

Result<std::vector<uint32_t>> Engine::encode_with_images(std::string_view prompt,
                                                         std::span<const ImageRef> images) const {
  std::string text(prompt);
  if (compiled_.vision) text = with_image_words(*compiled_.vision, {std::move(text), {}}).text;
  TOK_TRY(const std::vector<uint32_t> ids, template_ids(text));
  return place_images(ids, images);
}

PlainText with_image_words(const VisionTower& tower, PlainText prompt) {
  const std::string& word = tower.template_word;
  if (word.empty()) return prompt;
  PlainText out;
  auto plain = prompt.plain_at.begin();
  size_t from = 0;
  for (;;) {
    size_t at = prompt.text.find(word, from);
    // A word that a message spells is not the template's.
    while (at != std::string::npos && std::ranges::binary_search(prompt.plain_at, at)) {
      at = prompt.text.find(word, at + 1);
    }
    const size_t end = std::min(at, prompt.text.size());
    for (; plain != prompt.plain_at.end() && *plain < end; ++plain) {
      out.plain_at.push_back(out.text.size() + *plain - from);
    }
    out.text.append(prompt.text, from, end - from);
    if (at == std::string::npos) return out;
    out.text += tower.words;
    from = at + word.size();
  }
}

}  // namespace tokamak
