// NeMo's file of a model: a tar archive, perhaps packed by gzip, of model_config.yaml and
// model_weights.ckpt, which is a module's state as torch.save writes it. Weights are used where
// they are; nothing of the file is run. Native programs only.
#pragma once
#include "formats/tensor_file.h"

namespace tokamak {

struct NemoFile {
  Json config;  // model_config.yaml
  TensorFile tensors;
};

/// Errors name the file, and what of it is wrong.
Result<NemoFile> read_nemo(std::shared_ptr<ByteSource> source);

}  // namespace tokamak
