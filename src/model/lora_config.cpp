#include "model/lora_config.h"

#include <algorithm>
#include <cmath>

namespace tokamak {
namespace {

/// Whether a field says something: neither null, false, nor empty.
bool is_given(const Json* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->is_bool()) return value->as_bool();
  if (value->is_array()) return !value->as_array().empty();
  if (value->is_object()) return !value->as_object().empty();
  return !value->is_string() || !value->as_string().empty();
}

struct Refused {
  std::string_view field, what;
};
constexpr Refused kRefused[] = {
    {"use_dora", "DoRA scales whole rows of the model"},
    {"modules_to_save", "modules that were trained as a whole are weights of another model"},
    {"lora_bias", "biases of B are not read"},
    {"use_qalora", "QALoRA pools what A reads"},
    {"alora_invocation_tokens", "activated LoRA begins in the middle of a sequence"},
    {"arrow_config", "Arrow mixes adapters by a router"},
    {"layer_replication", "replicated layers make another model"},
    {"target_parameters", "only modules are adapted, no parameters such as experts"},
    {"trainable_token_indices", "rows of the embedding are not adapted"},
};

/// Ways to begin that change the model's own weights, too, which such an adapter counts on.
constexpr std::string_view kChangesBase[] = {"pissa", "olora", "corda", "loftq", "lora_ga"};

Result<void> check_method(ConfigReader& config) {
  const std::string method = config.word("peft_type");
  TOK_TRY(config.status());
  if (method != "LORA") {
    return unsupported("{} is \"{}\"; adapters of this engine are \"LORA\".",
                       config.path("peft_type"), method);
  }
  for (const Refused& one : kRefused) {
    const Json* found = config.find(one.field);
    if (!is_given(found)) continue;
    return unsupported("{} is {}, which this engine does not do: {}.", config.path(one.field),
                       found->dump(), one.what);
  }
  const std::string bias = config.word("bias", "none");
  TOK_TRY(config.status());
  if (bias != "none") {
    return unsupported("{} is \"{}\", expected \"none\": biases of the model are not changed.",
                       config.path("bias"), bias);
  }
  const Json* begin = config.find("init_lora_weights");
  if (begin == nullptr || !begin->is_string()) return {};
  const std::string& way = begin->as_string();
  const bool changes_base =
      std::ranges::any_of(kChangesBase, [&](std::string_view one) { return way.starts_with(one); });
  if (!changes_base) return {};
  return unsupported(
      "{} is \"{}\", which changes the model's own weights, too; PEFT converts such an adapter to "
      "one that does not (path_initial_model_for_weight_conversion).",
      config.path("init_lora_weights"), way);
}

Result<void> read_alphas(const ConfigReader& config, LoraConfig& out) {
  const Json* found = config.find("alpha_pattern");
  if (!is_given(found)) return {};
  if (!found->is_object()) {
    return invalid_input("{} is {}, expected an object.", config.path("alpha_pattern"),
                         found->dump());
  }
  for (const auto& [key, value] : found->as_object()) {
    auto pattern = ModulePattern::parse(key);
    if (!pattern) return Failure(pattern.error().within(config.path("alpha_pattern")));
    if (!value.is_number() || !(value.as_number() > 0)) {
      return invalid_input("{} has {} for \"{}\", expected a number above 0.",
                           config.path("alpha_pattern"), value.dump(), key);
    }
    out.alphas.emplace_back(*std::move(pattern), value.as_number());
  }
  return {};
}

}  // namespace

double LoraConfig::factor(std::string_view module, uint64_t own_rank) const {
  double own = alpha;
  const auto found =
      std::ranges::find_if(alphas, [&](const auto& one) { return one.first.matches(module); });
  if (found != alphas.end()) own = found->second;
  return own / (by_root ? std::sqrt(double(own_rank)) : double(own_rank));
}

Result<LoraConfig> read_lora_config(ConfigReader config) {
  TOK_TRY(check_method(config));
  LoraConfig out{.rank = config.size("r"),
                 .alpha = config.positive("lora_alpha"),
                 .by_root = config.flag("use_rslora", false),
                 .has_ranks = is_given(config.find("rank_pattern")),
                 .alphas = {},
                 .base = config.word("base_model_name_or_path", "")};
  TOK_TRY(config.status());
  TOK_TRY(read_alphas(config, out));
  return out;
}

}  // namespace tokamak
