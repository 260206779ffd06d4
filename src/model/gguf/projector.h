// Towers of images, which llama.cpp keeps in a GGUF file of their own beside that of the text
// ("mmproj", architecture "clip"): tables, read by projector.cpp.
//
// References: ggml-org/llama.cpp, tools/mtmd/clip-impl.h (keys, names) and clip.cpp (what a
// projector implies); conversion/gemma.py, pixtral.py, qwen3vl.py and smolvlm.py (what a converter
// changes).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/gguf/architecture.h"

namespace tokamak::gguf {

/// Metadata of a tower on the way to config.json. Mistakes are left in reader's status.
struct TowerFields {
  const GgufFile& file;
  const GgufFile& text;
  ConfigReader& reader;
  Json own;     // fields beside those of the text and of the tower
  Json vision;  // vision_config
  Json text_config;
  Json processor;  // preprocessor_config.json

  static std::string key(std::string_view name) { return fmt::format("clip.vision.{}", name); }
  uint32_t size(std::string_view name) { return reader.size(key(name)); }
  uint32_t size(std::string_view name, uint32_t otherwise) {
    return reader.size(key(name), otherwise);
  }
  /// The rows of a tensor, in the order of torch; 1 where there is none.
  uint64_t rows(std::string_view tensor) const;
};

struct Tower {
  std::string_view type;          // clip.projector_type
  std::string_view text;          // general.architecture of the text
  std::string_view name;          // an entry of config.json's "architectures"
  std::string_view model_type;    // of config.json
  std::string_view word;          // the token that a prompt has for each row of an image
  std::string_view word_field;    // of config.json, which has its id
  std::span<const Rename> names;  // of tensors outside the blocks
  std::string_view blocks;        // before the number of a block
  std::span<const Rename> block_names;
  bool permuted = false;       // rows of q and k are stored in pairs
  bool may_lack_word = false;  // the text's file may end before it
  /// The tensor whose rows are as many as the text takes numbers; "": clip.vision.projection_dim.
  std::string_view width_of = "";
  void (*more)(TowerFields&) = nullptr;
};

std::span<const Tower> towers();

/// The tensors of the tower under their names in a Hugging Face checkpoint; those of sound are left
/// out.
std::vector<TensorInfo> rename_tower(const GgufFile& file, const Tower& tower, uint32_t heads);

}  // namespace tokamak::gguf
