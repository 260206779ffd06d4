// adapter_config.json of PEFT, of low-rank adapters that add to products of the model and do
// nothing else. Reference: peft/tuners/lora/config.py and layer.py.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config.h"
#include "model/module_pattern.h"

namespace tokamak {

struct LoraConfig {
  uint32_t rank = 0;
  double alpha = 0;
  bool by_root = false;    // rsLoRA, arXiv:2312.03732
  bool has_ranks = false;  // of modules: known from their tensors
  std::vector<std::pair<ModulePattern, double>>
      alphas;        // of modules: the first that matches counts
  std::string base;  // the model that it was made for; "": not known

  /// Returns the factor of B A where A has that many rows: alpha / r, or alpha / sqrt(r). `module`:
  /// its full name in the model that was adapted, as PEFT has it.
  double factor(std::string_view module, uint64_t rank) const;
};

/// Which modules an adapter is for, and in which layers, its tensors say; so the fields that chose
/// them in training are not read. Errors: another method than LoRA, and what changes the model in
/// other ways (DoRA, biases, modules_to_save, ...), by the name of the field.
Result<LoraConfig> read_lora_config(ConfigReader config);

}  // namespace tokamak
