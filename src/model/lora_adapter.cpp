#include "model/lora_adapter.h"

#include <algorithm>
#include <set>

#include "base/bits.h"

namespace tokamak {
namespace {

constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight";

/// "self_attn.q_proj" of "layers.3.self_attn.q_proj".
std::string_view kind_of(std::string_view module) {
  if (!module.starts_with("layers.")) return module;
  module.remove_prefix(std::string_view("layers.").size());
  return module.substr(std::min(module.find('.'), module.size() - 1) + 1);
}

std::string kinds_text(const LoraShapes& modules) {
  std::set<std::string_view> kinds;
  for (const auto& [name, shape] : modules) kinds.insert(kind_of(name));
  std::string text;
  for (const std::string_view kind : kinds)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", kind);
  return text;
}

/// The name of an A's module in the model, as PEFT has it.
std::string_view full_name(const TensorInfo& a) {
  constexpr std::string_view kWrapper = "base_model.model.";
  std::string_view name = std::string_view(a.name).substr(0, a.name.size() - kA.size());
  if (name.starts_with(kWrapper)) name.remove_prefix(kWrapper.size());
  return name;
}

}  // namespace

std::string_view inner_lora_name(std::string_view name) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const std::string_view outer : {"base_model.", "model.", "language_model."}) {
      if (!name.starts_with(outer)) continue;
      name.remove_prefix(outer.size());
      has_changed = true;
    }
  }
  return name;
}

Result<LoraAdapter> LoraAdapter::read(const LoraFiles& files, const LoraShapes& modules) {
  LoraAdapter adapter(files);
  TOK_TRY(adapter.config_,
          read_lora_config(ConfigReader(files.config, files.where + "/adapter_config.json")));
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    TOK_TRY(adapter.add(tensor, modules));
  }
  if (adapter.pairs_.empty()) {
    return invalid_input("{}: the adapter has no tensors.", files.where);
  }
  for (auto& [name, pair] : adapter.pairs_) {
    TOK_TRY(adapter.check(name, pair, modules.find(name)->second));
  }
  return adapter;
}

const LoraPair* LoraAdapter::find(std::string_view module) const {
  const auto found = pairs_.find(module);
  return found == pairs_.end() ? nullptr : &found->second;
}

void LoraAdapter::note_unused_patterns(const std::function<void(std::string_view)>& notice) const {
  for (const auto& [pattern, alpha] : config_.alphas) {
    const bool is_used = std::ranges::any_of(
        pairs_, [&](const auto& one) { return pattern.matches(full_name(*one.second.a)); });
    if (is_used) continue;
    notice(fmt::format("{}: alpha_pattern has \"{}\", which fits no module of the adapter.",
                       files_->where, pattern.text()));
  }
}

/// The error for a tensor that does not fit: perhaps the model is another one.
Failure LoraAdapter::wrong(const TensorInfo& tensor, const std::string& text) const {
  const std::string base =
      config_.base.empty() ? "" : fmt::format(" The adapter was made for \"{}\".", config_.base);
  return invalid_input("{}: tensor \"{}\" {}.{}", files_->tensors.file_name(tensor), tensor.name,
                       text, base);
}

Result<void> LoraAdapter::add(const TensorInfo& tensor, const LoraShapes& modules) {
  const bool is_a = tensor.name.ends_with(kA);
  if (!is_a && !tensor.name.ends_with(kB)) {
    return wrong(tensor,
                 "is no lora_A.weight or lora_B.weight of a module, and nothing else is read");
  }
  const std::string_view module =
      inner_lora_name(std::string_view(tensor.name).substr(0, tensor.name.size() - kA.size()));
  if (!modules.contains(module)) {
    return wrong(tensor, fmt::format("is for \"{}\", which this model has no adaptable product of; "
                                     "its layers have {}",
                                     module, kinds_text(modules)));
  }
  if (!is_float_weight(tensor.dtype) || tensor.shape.size() != 2) {
    return wrong(tensor,
                 fmt::format("is {}, expected a matrix of f32, f16 or bf16", describe(tensor)));
  }
  LoraPair& pair = pairs_[std::string(module)];
  const TensorInfo*& place = is_a ? pair.a : pair.b;
  if (place != nullptr) {
    return wrong(tensor, fmt::format("is for the same module as \"{}\"", place->name));
  }
  place = &tensor;
  return {};
}

Result<void> LoraAdapter::check(const std::string& name, LoraPair& pair,
                                const LoraShape& module) const {
  if (pair.a == nullptr || pair.b == nullptr) {
    const TensorInfo& alone = pair.a != nullptr ? *pair.a : *pair.b;
    return wrong(alone,
                 fmt::format("has no {} beside it", pair.a != nullptr ? "lora_B" : "lora_A"));
  }
  const uint64_t rank = pair.a->shape[0];
  if (rank == 0 || pair.a->shape[1] != module.in) {
    return wrong(*pair.a, fmt::format("is {}, expected [rank, {}] as the model's {} takes",
                                      describe(*pair.a), module.in, name));
  }
  if (pair.b->shape[0] != module.out || pair.b->shape[1] != rank) {
    return wrong(*pair.b, fmt::format("is {}, expected [{}, {}] as the model's {} gives and A has",
                                      describe(*pair.b), module.out, rank, name));
  }
  if (!config_.has_ranks && rank != config_.rank) {
    return wrong(*pair.a, fmt::format("is {}, expected [{}, {}] by r of adapter_config.json",
                                      describe(*pair.a), config_.rank, module.in));
  }
  pair.factor = config_.factor(full_name(*pair.a), rank) * files_->scale;
  return {};
}

}  // namespace tokamak
