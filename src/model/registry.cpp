#include "model/arch.h"

namespace tokamak {
namespace {

constexpr Architecture kArchitectures[] = {
    {"Gemma3ForCausalLM", "gemma3_text", gemma3_facts, build_gemma3},
    {"Gemma3ForConditionalGeneration", "gemma3", gemma3_facts, build_gemma3},
    {"LlamaForCausalLM", "llama", llama_facts, build_llama},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

Result<const Architecture*> find_architecture(const ConfigReader& config) {
  ConfigReader reader = config;
  const std::vector<std::string> names = reader.words("architectures");
  const std::string type = reader.word("model_type", "");
  TOK_TRY(reader.status());
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (!names.empty() ? names.front() == architecture.name : type == architecture.model_type) {
      return &architecture;
    }
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  if (names.empty() && type.empty()) {
    return invalid_input("{}: architectures and model_type are missing, expected one of {}.",
                         config.where(), known);
  }
  return unsupported("{}: architecture \"{}\" is not supported; this engine knows {}.",
                     config.where(), names.empty() ? type : names.front(), known);
}

}  // namespace tokamak
