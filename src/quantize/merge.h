// Adds what LoRA adapters add to products to the weights themselves: W + s B A.
#pragma once
#include <span>
#include <vector>

#include "model/lora_adapter.h"
#include "quantize/put_rows.h"

namespace tokamak {

struct MergePlan {
  struct Pair {
    const LoraFiles* files;
    LoraPair tensors;
  };
  struct Tensor {
    const TensorInfo* tensor;  // of the model
    std::vector<Pair> pairs;   // in the order of the adapters
  };
  std::vector<Tensor> tensors;  // those that change, in the order of their places in the files
};

/// Which matrices of a checkpoint the adapters change. Errors: those of reading an adapter; a
/// matrix that is packed, or whose name does not decide which one it is. `notice` gets those of
/// add_adapters(). REQUIRES: the model and the adapters outlive the plan.
Result<MergePlan> plan_merge(const TensorFile& model, std::span<const LoraFiles> adapters,
                             const std::function<void(std::string_view)>& notice = {});

struct MergeOptions {
  uint32_t threads = 1;  // the bytes do not depend on it
  /// Called before each tensor that changes.
  std::function<void(const TensorInfo& next)> progress;
  Cancelled cancelled;
};

/// One file of the model with the tensors of the plan changed: all else stays byte by byte. Errors:
/// those of reading and of the sink; a sum that the tensor's type cannot hold, by tensor, row and
/// column; kCancelled.
Result<void> write_merged(const TensorFile& model, const MergePlan& plan, uint32_t file,
                          const MergeOptions& options, const ByteSink& sink);

}  // namespace tokamak
