// adapter_config.json of PEFT, of low-rank adapters that add to products of the model and do
// nothing else. Reference: peft/tuners/lora/config.py and layer.py.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "model/config.h"

namespace tokamak {

struct LoraConfig {
  uint32_t rank = 0;
  double alpha = 0;
  bool by_root = false;                  // rsLoRA, arXiv:2312.03732
  bool has_ranks = false;                // of modules: their tensors say which
  std::map<std::string, double> alphas;  // of modules, by the ends of their names
  std::string base;                      // the model that it was made for; "": not said

  /// What B A is multiplied by where A has that many rows: alpha / r, or alpha / sqrt(r).
  double factor(std::string_view module, uint64_t rank) const;
};

/// Which modules an adapter is for, and in which layers, its tensors say; so the fields that chose
/// them in training are not read. Errors: another method than LoRA, and what changes the model in
/// other ways (DoRA, biases, modules_to_save, ...), by the name of the field.
Result<LoraConfig> read_lora_config(ConfigReader config);

}  // namespace tokamak
