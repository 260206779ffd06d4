// The fields of config.json about how matrices are packed: MLX's "quantization" and the
// "quantization_config" of GPTQ, AWQ and others, or GPTQ's own quantize_config.json. They are
// checked against the tensors, which decide (stored_matrix.h).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "model/config.h"

namespace tokamak {

struct Quantization {
  /// 0: not said, or in the case of a group one for the whole row.
  struct Numbers {
    uint32_t bits = 0, group = 0;
  };
  /// A tensor without which the numbers of a matrix mean something else.
  struct Promise {
    std::string by;      // "config.json: quantization_config.desc_act is true"
    std::string suffix;  // ".g_idx", after the name of the module
    uint32_t bits = 0;   // of the matrices that have it; 0: of all
  };

  std::string where;  // "config.json: quantization"; "" when it says nothing
  Numbers all;
  bool has_whole_zeros = false;                         // GPTQ's second format
  std::vector<Promise> promises;                        // for every packed matrix
  std::map<std::string, Numbers, std::less<>> modules;  // exceptions, by the name of the module

  /// The numbers for the matrix `module` + ".weight".
  const Numbers& of(std::string_view module) const;
};

/// `beside`: quantize_config.json, or null. It counts where config.json says nothing and the file
/// has tensors of GPTQ; its format counts beside a config.json that says GPTQ. Errors name the
/// field; for packings that this engine does not read also a tensor of `file` that has such a one.
Result<Quantization> read_quantization(const ConfigReader& config, const TensorFile& file,
                                       const Json* beside = nullptr);

}  // namespace tokamak
