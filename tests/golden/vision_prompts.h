// The recorded chats about images, as prompts of an engine.
#pragma once
#include <filesystem>
#include <fstream>

#include "engine/requests/image_files.h"
#include "golden/made_checkpoint.h"
#include "golden/reference.h"

namespace tokamak::golden {

/// A recorded model that reads images: a folder of tests/data/vision, or one that is made by a
/// recipe of tests/data/families.
class VisionModel {
 public:
  explicit VisionModel(const std::string& name) {
    if (!file_exists(family_file(name))) {
      folder_ = TOKAMAK_TEST_DATA "/vision/" + name;
      golden_ = read_json(folder_ + "/golden.json");
      return;
    }
    golden_ = read_json(family_file(name));
    folder_ = made_checkpoint(name, golden_);
    is_made_ = true;
    std::ofstream(folder_ + "/preprocessor_config.json") << golden_.find("processor")->dump();
    if (const Json* tokenizer = golden_.find("tokenizer")) {
      std::ofstream(folder_ + "/tokenizer.json") << tokenizer->dump();
    }
  }
  ~VisionModel() {
    if (is_made_) std::filesystem::remove_all(folder_);
  }
  VisionModel(const VisionModel&) = delete;
  VisionModel& operator=(const VisionModel&) = delete;

  const std::string& folder() const { return folder_; }
  const Json& golden() const { return golden_; }

 private:
  std::string folder_;
  Json golden_;
  bool is_made_ = false;
};
inline constexpr uint64_t kImagePixels = 1 << 16;  // that they were recorded with

/// An image of tests/data/images.
inline Image image_of(const std::string& file) {
  auto image = image_of_file(TOKAMAK_TEST_DATA "/images/" + file);
  EXPECT_TRUE(image) << image.error().message;
  return image ? *std::move(image) : Image();
}

struct ImagePrompt {
  std::vector<uint32_t> ids;
  std::vector<ImageRef> images;
};

/// A prompt's ids, in which `placeholder` stands for each image, with those of the images.
inline ImagePrompt placed(Engine& engine, std::span<const uint32_t> ids,
                          std::span<const Image> images) {
  ImagePrompt prompt;
  for (const Image& image : images) {
    const auto encoded = engine.encode_image(image);
    EXPECT_TRUE(encoded) << encoded.error().message;
    if (encoded) prompt.images.push_back(*encoded);
  }
  const auto all = engine.place_images(ids, prompt.images);
  EXPECT_TRUE(all) << all.error().message;
  if (all) prompt.ids = *all;
  return prompt;
}

/// A chat's prompt, in which the images stand as the engine names them.
inline ImagePrompt prompt_of(Engine& engine, const Json& chat) {
  std::vector<Image> images;
  for (const Json& segment : chat.find("segments")->as_array()) {
    if (segment.is_string()) images.push_back(image_of(segment.as_string()));
  }
  const std::vector<uint32_t> ids = ids_of(*chat.find("ids"));
  if (const Json* prompt = chat.find("prompt")) {
    // Words stand between the rows of an image, as its tokenizer has them.
    ImagePrompt own = placed(engine, ids_of(*prompt), images);
    const uint32_t vocab = engine.compiled().facts.vocab;
    std::vector<uint32_t> written = own.ids;
    for (uint32_t& id : written) {
      if (id >= vocab) id = engine.compiled().vision->placeholder;
    }
    EXPECT_EQ(written, ids);
    return own;
  }
  const uint32_t placeholder = engine.compiled().vision->placeholder;
  // The recorded ids have a placeholder for each row, a prompt has one for each image.
  std::vector<uint32_t> written;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != placeholder || i == 0 || ids[i - 1] != placeholder) written.push_back(ids[i]);
  }
  ImagePrompt prompt = placed(engine, written, images);
  EXPECT_EQ(prompt.ids.size(), ids.size());
  return prompt;
}

}  // namespace tokamak::golden
