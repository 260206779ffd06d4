// Which tensor of a GGUF file is written in which type.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/gguf.h"
#include "quantize/mixes.h"
#include "text/tokenizer/regex.h"

namespace tokamak {

/// A type for the matrices whose names have a match of the pattern.
struct TypeOverride {
  std::string text;  // as it was given
  Regex pattern;
  DType type;
};

/// Reads "attn_v=q6_k". Errors (kUsage): no "=", no regular expression, no type.
Result<TypeOverride> parse_override(const std::string& text);

struct TensorPlan {
  const TensorInfo* from = nullptr;  // of the file
  TensorInfo to;                     // `offset` is not set
  std::string note;                  // the reason for a type that was not asked for; "": none
  bool is_rounded = false;           // else its bytes stay
};

struct QuantizationPlan {
  std::vector<TensorPlan> tensors;  // in the order of the file
  uint32_t file_type = 0;           // general.file_type
  uint64_t old_bytes = 0, new_bytes = 0;
  uint64_t packed = 0;  // tensors that had lost bits before and lose more
};

/// The first override that matches decides, then the rules of `target`. Errors (kUsage): an
/// override that matches no matrix. REQUIRES: `file` outlives the plan.
Result<QuantizationPlan> plan_quantization(const GgufFile& file, const TargetType& target,
                                           const std::vector<TypeOverride>& overrides);

}  // namespace tokamak
