// An adapter's tensors, by the modules of the model that they are for.
#pragma once
#include <map>
#include <optional>

#include "model/lora.h"
#include "model/lora_config.h"

namespace tokamak {

/// The columns that a module of the model takes and gives.
struct LoraShape {
  uint32_t in = 0, out = 0;
};
/// By inner_lora_name().
using LoraShapes = std::map<std::string, LoraShape, std::less<>>;

/// The model around a module does not distinguish it from others: the same layers are
/// "model.layers" of a text model and "model.language_model.layers" of one that reads images.
std::string_view inner_lora_name(std::string_view name);

/// The tensors of one adapter for a module, which adds factor B A.
struct LoraPair {
  const TensorInfo* a = nullptr;  // [rank, in]
  const TensorInfo* b = nullptr;  // [out, rank]
  double factor = 1;
};

class LoraAdapter {
 public:
  /// REQUIRES: the files outlive it. Errors: those of add_adapters().
  static Result<LoraAdapter> read(const LoraFiles& files, const LoraShapes& modules);

  /// Null where it has nothing for that module.
  const LoraPair* find(std::string_view module) const;
  const std::map<std::string, LoraPair, std::less<>>& pairs() const { return pairs_; }
  const LoraFiles& files() const { return *files_; }

  void note_unused_patterns(const std::function<void(std::string_view)>& notice) const;

 private:
  explicit LoraAdapter(const LoraFiles& files) : files_(&files) {}

  Failure wrong(const TensorInfo& tensor, const std::string& text) const;
  Result<void> add(const TensorInfo& tensor, const LoraShapes& modules);
  Result<void> check(const std::string& name, LoraPair& pair, const LoraShape& module) const;

  const LoraFiles* files_;
  LoraConfig config_;
  std::map<std::string, LoraPair, std::less<>> pairs_;
};

}  // namespace tokamak
