// How people name a model of a Hugging Face hub: org/name[@revision][:file or quantization].
//
//   google/gemma-3-270m-it
//   google/gemma-3-270m-it@9b0cfec892e2bc2afd938c98eabe4e4a7b1e0ca1
//   org/name-GGUF:Q4_K_M        the .gguf file of that quantization
//   org/name-GGUF:a/b.gguf      that file
//   hf.co/org/name:Q4_K_M, https://huggingface.co/org/name/tree/main
//                               what a browser's address line or another tool's manual shows
//
// Names become folders of the cache and parts of addresses, so every part is checked here. What the
// hub allows: huggingface_hub, src/huggingface_hub/utils/_validators.py.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak::hub {

struct ModelName {
  std::string repo;               // "org/name"
  std::string revision = "main";  // a branch, a tag or a commit
  std::string choice;             // what stands after ":"; "" for none

  /// The name as it was written: without "@main".
  std::string text() const;
  bool operator==(const ModelName&) const = default;
};

/// kUsage when `text` is no such name; the sentence says which part is wrong.
Result<ModelName> parse_model_name(std::string_view text);

/// 40 hexadecimal digits in lower case.
bool is_commit(std::string_view text);

/// True for a relative path that stays below where it starts: no "..", no empty part, no
/// backslash, no control character, no part longer than a file name may be.
bool is_inner_path(std::string_view path);

/// True when all of `text` are hexadecimal digits in lower case and there are `digits` of them.
bool is_hex(std::string_view text, size_t digits);

}  // namespace tokamak::hub
