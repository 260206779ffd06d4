// The differences between architectures of GGUF files; tables, read by config.cpp and names.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf.h"
#include "model/config.h"

namespace tokamak::gguf {

struct Rename {
  std::string_view from, to;
};
/// "" where there is none of that name.
std::string_view renamed(std::span<const Rename> names, std::string_view from);

/// Metadata of one architecture on the way to config.json. Mistakes are left in reader's status.
struct Fields {
  const GgufFile& file;
  ConfigReader& reader;
  std::string architecture;
  Json config;

  /// "llama.block_count" for "block_count".
  std::string key(std::string_view name) const;
  bool has(std::string_view name) const { return reader.has(key(name)); }
  bool has_tensor(std::string_view name) const { return file.tensors.find(name) != nullptr; }
  uint32_t size(std::string_view name) { return reader.size(key(name)); }
  uint32_t size(std::string_view name, uint32_t otherwise) {
    return reader.size(key(name), otherwise);
  }
  double positive(std::string_view name, double otherwise) {
    return reader.positive(key(name), otherwise);
  }
  void refuse(std::string_view name, std::string_view why);
  /// Gives a field of `config` that is there another value.
  void replace(std::string_view name, Json value);
};

struct Architecture {
  std::string_view gguf;          // general.architecture
  std::string_view name;          // an entry of config.json's "architectures"
  std::string_view model_type;    // of config.json
  std::span<const Rename> names;  // of tensors, before the common ones; "stem.ending" is whole
  bool permuted = false;          // rows of q and k are stored in pairs
  bool raised = false;            // norms are stored with their 1
  bool experts = false;           // there may be some
  std::string_view expert_names = "mlp.experts";
  std::span<const std::string_view> accepts = {};  // keys that `more` reads and others refuse
  std::string_view layers = "model.layers.";       // before the number of a layer
  bool encoder = false;                            // attends both ways
  bool layer_norm = false;                         // eps is that of layer norms
  bool partial = false;                            // heads may turn in their first part only
  bool lists = false;                              // heads and sizes may have a number per layer
  void (*more)(Fields&) = nullptr;                 // what is not common
};

/// A truth in a list, which some files store as integers.
inline bool is_true(const Json& value) {
  return value == Json(true) || value == Json(1);
}

std::span<const Architecture> architectures();

/// The fields of Gemma 4 beside the common ones.
void gemma4(Fields& f);
/// The fields of LFM2 beside the common ones.
void lfm2(Fields& f);
/// The experts of DeepSeek's kind, and the layers after the last one, which the engine leaves out.
void scored_experts(Fields& f);
void further_layers(Fields& f);
/// The fields of models with such experts.
void ernie4_5_moe(Fields& f);
void glm4_moe(Fields& f);
void lfm2_moe(Fields& f);
void minimax_m2(Fields& f);
/// The fields of DeepSeek V2 and V3.
void deepseek2(Fields& f);
/// The fields that Qwen3.5 adds, and those that it adds with experts, as Qwen3-Next has them.
void qwen3_5(Fields& f);
void qwen3_5_moe(Fields& f);
void qwen3_next(Fields& f);
/// The fields of models with the selective scan of Mamba-2.
void granite_hybrid(Fields& f);
void falcon_h1(Fields& f);
void nemotron_h(Fields& f);
/// Whether attention and MLP have biases, by the tensors of the first layer.
void biases(Fields& f);
/// The caps on scores and logits, where the file has them.
void softcaps(Fields& f);
/// The rows of families.cpp, decoders.cpp and encoders.cpp.
std::span<const Architecture> families();
std::span<const Architecture> decoders();
std::span<const Architecture> encoders();
/// Which layers slide: a period, or a list, as newer converters write it, as layer_types. Without
/// the key of a window all are full.
void set_layer_types(Fields& f, uint32_t period);

/// The config.json of the file.
Result<Json> make_config(const GgufFile& file, const Architecture& architecture);

/// The tensors under their names in a Hugging Face checkpoint. `config` is what make_config made.
std::vector<TensorInfo> rename_tensors(const GgufFile& file, const Architecture& architecture,
                                       const Json& config);

}  // namespace tokamak::gguf
