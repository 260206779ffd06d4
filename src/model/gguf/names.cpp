// Tensor names, and what a converter did to their tensors.
#include <algorithm>
#include <charconv>

#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

constexpr Rename kModelNames[] = {
    {"output", "lm_head"},
    {"output_norm", "model.norm"},
    {"token_embd", "model.embed_tokens"},
    {"token_embd_norm", "model.embedding_norm"},  // LFM2's norm after the last layer, in old files
};
constexpr Rename kLayerNames[] = {
    {"attn_k", "self_attn.k_proj"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_norm", "input_layernorm"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_v", "self_attn.v_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
};
/// Matrices of all experts in one tensor; the first files with experts have one for each, as
/// "ffn_gate.3".
constexpr Rename kExpertNames[] = {
    {"ffn_down_exps", "down_proj"},
    {"ffn_gate_exps", "gate_proj"},
    {"ffn_up_exps", "up_proj"},
};

/// "blk.3.attn_q.weight" taken apart. `layer` is empty for tensors outside the layers, `suffix` for
/// those without one.
struct Parts {
  std::string_view layer, stem, suffix;
};
Parts parts_of(std::string_view name) {
  Parts parts;
  constexpr std::string_view kBlock = "blk.";
  if (name.starts_with(kBlock)) {
    name.remove_prefix(kBlock.size());
    const size_t dot = name.find('.');
    if (dot == name.npos) return {};
    parts.layer = name.substr(0, dot);
    name.remove_prefix(dot + 1);
  }
  const size_t dot = name.rfind('.');
  parts.stem = name.substr(0, dot);
  if (dot != name.npos) parts.suffix = name.substr(dot + 1);
  return parts;
}

uint64_t number(const Json& config, std::string_view name) {
  const Json* value = config.find(name);
  return value != nullptr && value->is_integer() ? uint64_t(value->as_integer()) : 0;
}

/// One tensor per expert, as the rows lie in the file; also of their factors, one number each.
void add_experts(const TensorInfo& all, const std::string& prefix, std::string_view name,
                 std::string_view suffix, std::vector<TensorInfo>& out) {
  const uint64_t experts = all.shape[0], bytes = all.bytes / experts;
  for (uint64_t i = 0; i < experts; ++i) {
    TensorInfo& one = out.emplace_back(all);
    one.name = fmt::format("{}.{}.{}.{}", prefix, i, name, suffix);
    if (one.shape.size() == 1) {
      one.shape.front() = 1;
    } else {
      one.shape.erase(one.shape.begin());
    }
    one.offset += i * bytes;
    one.bytes = bytes;
  }
}

void add_layer_tensor(TensorInfo tensor, const Parts& parts, const Architecture& architecture,
                      const Json& config, std::vector<TensorInfo>& out) {
  const std::string prefix = fmt::format("{}{}.", architecture.layers, parts.layer);
  const std::string whole = parts.suffix.empty() ? std::string(parts.stem)
                                                 : fmt::format("{}.{}", parts.stem, parts.suffix);
  if (const std::string_view name = renamed(architecture.names, whole); !name.empty()) {
    tensor.name = prefix + std::string(name);
    const bool is_column = parts.stem == "ssm_a" || parts.stem == "ssm_d";
    if (is_column && tensor.shape.size() == 2) tensor.shape = {tensor.elements()};
    out.push_back(std::move(tensor));
    return;
  }
  if (const std::string_view name = renamed(kExpertNames, parts.stem);
      architecture.experts && !name.empty() &&
      tensor.shape.size() == (parts.suffix == "scale" ? 1 : 3) &&
      tensor.shape[0] == number(config, "num_experts")) {
    add_experts(tensor, fmt::format("{}{}", prefix, architecture.expert_names), name, parts.suffix,
                out);
    return;
  }
  if (const size_t dot = parts.stem.rfind('.'); architecture.experts && dot != parts.stem.npos) {
    const std::string stacked = std::string(parts.stem.substr(0, dot)) + "_exps";
    if (const std::string_view name = renamed(kExpertNames, stacked); !name.empty()) {
      tensor.name = fmt::format("{}{}.{}.{}.{}", prefix, architecture.expert_names,
                                parts.stem.substr(dot + 1), name, parts.suffix);
      out.push_back(std::move(tensor));
      return;
    }
  }
  std::string_view name = renamed(architecture.names, parts.stem);
  if (name.empty()) name = renamed(kLayerNames, parts.stem);
  if (!name.empty() && !parts.suffix.empty()) {
    if (architecture.permuted && parts.stem == "attn_q") {
      tensor.rope_heads = uint32_t(number(config, "num_attention_heads"));
    }
    if (architecture.permuted && parts.stem == "attn_k") {
      tensor.rope_heads = uint32_t(number(config, "num_key_value_heads"));
    }
    const bool convolves = parts.stem == "shortconv.conv" || parts.stem == "ssm_conv1d";
    if (convolves && tensor.shape.size() == 2) {
      tensor.shape.insert(tensor.shape.begin() + 1, 1);  // as torch has it: one input channel
    }
    if (parts.stem == "ssm_norm" && tensor.shape.size() == 2) {
      tensor.shape = {tensor.elements()};  // a row for each group
    }
    if (parts.stem == "ffn_gate_inp_shexp" && tensor.shape.size() == 1) {
      tensor.shape.insert(tensor.shape.begin(), 1);  // a matrix of one row
    }
    tensor.name = fmt::format("{}{}.{}", prefix, name, parts.suffix);
  }
  out.push_back(std::move(tensor));
}

/// Whether a layer is after the last one and predicts further tokens.
bool is_further(std::string_view layer, const Json& config) {
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(layer.data(), layer.data() + layer.size(), index);
  return error == std::errc() && end == layer.data() + layer.size() &&
         number(config, "mtp_num_hidden_layers") != 0 &&
         index >= number(config, "num_hidden_layers");
}

}  // namespace

std::string_view renamed(std::span<const Rename> names, std::string_view from) {
  const auto found = std::ranges::find(names, from, &Rename::from);
  return found == names.end() ? std::string_view() : found->to;
}

std::vector<TensorInfo> rename_tensors(const GgufFile& file, const Architecture& architecture,
                                       const Json& config) {
  std::vector<TensorInfo> out;
  for (const TensorInfo& tensor : file.tensors.tensors()) {
    const std::string original = tensor.name;
    const Parts parts = parts_of(original);
    if (is_further(parts.layer, config)) {
      out.emplace_back(tensor).name = "mtp." + original;
    } else if (!parts.layer.empty()) {
      add_layer_tensor(tensor, parts, architecture, config, out);
    } else {
      TensorInfo& one = out.emplace_back(tensor);
      std::string_view name = renamed(architecture.names, parts.stem);
      if (name.empty()) name = renamed(kModelNames, parts.stem);
      if (!name.empty() && !parts.suffix.empty()) {
        one.name = fmt::format("{}.{}", name, parts.suffix);
      }
    }
  }
  for (TensorInfo& tensor : out) {
    tensor.raised = architecture.raised && tensor.name.ends_with("norm.weight");
  }
  return out;
}

}  // namespace tokamak::gguf
