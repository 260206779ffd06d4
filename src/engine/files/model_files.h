// ModelFiles: what a model folder holds.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/tensor_file.h"
#include "model/description.h"
#include "model/lora.h"
#include "text/tokenizer/gguf_vocab.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {

/// The files of a model folder, read but not interpreted. Texts are empty where there is no file. A
/// GGUF file fills the same fields; its vocabulary stands apart.
struct ModelFiles {
  std::string name;    // for messages: the folder or file
  TensorFile tensors;  // those of an encoder's modules have their folder and '/' before their names
  ModelDescription description;
  std::string tokenizer, tokenizer_config, chat_template;
  std::string special_tokens_map, added_tokens;                     // .json, beside tokenizer.json
  std::vector<std::pair<std::string, std::string>> more_templates;  // additional_chat_templates/
  std::optional<GgufVocab> vocab;                                   // instead of `tokenizer`
  std::vector<LoraFiles> adapters;   // that requests may choose, in the order of their numbers
  std::vector<std::string> notices;  // what is odd in the files, for OpenOptions::notice
  std::string tower_note;  // which file beside a GGUF file has its tower, or why one is not it
  std::shared_ptr<ModelFiles> draft;  // of a draft model beside it; null: there is none

  bool has_tokenizer() const { return vocab.has_value() || !tokenizer.empty(); }
  TokenizerFiles tokenizer_files() const {
    return {tokenizer, tokenizer_config, special_tokens_map, added_tokens};
  }
};

/// The number that requests have for the adapter of that name; 0 for "". Errors: there is none,
/// with those that there are.
Result<uint32_t> adapter_number(const ModelFiles& files, std::string_view name);

/// Reads a model folder, a .gguf or a .nemo file. A GGUF file's tower of images is that of
/// `projector`, or, where that is "", of a file beside it. Errors name the file.
Result<ModelFiles> read_model_files(const std::string& path, const std::string& projector = "");

/// Reads like read_model_files, but folders need no weights and no config, and files may have any
/// architecture: for tokenizing.
Result<ModelFiles> read_text_files(const std::string& path);

}  // namespace tokamak
