#include "model/scalar.h"

#include "base/packing.h"
#include "formats/wishes.h"

namespace tokamak {

Result<float> scalar(const TensorFile& file, const std::string& name) {
  const TensorInfo* const info = find_or_wish(file, name, {1});
  if (info == nullptr || info->elements() != 1 || !is_float_weight(info->dtype)) {
    return invalid_input("The checkpoint has {} \"{}\"; expected one number of f32, f16 or bf16.",
                         info == nullptr ? "no tensor" : "another tensor", name);
  }
  TOK_TRY(const auto bytes, file.data(*info));
  return number_at(info->dtype, bytes.data());
}

Result<float> scalar_or(const TensorFile& file, const std::string& name, float missing) {
  if (file.find(name) == nullptr) return missing;
  return scalar(file, name);
}

}  // namespace tokamak
