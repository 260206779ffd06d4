#include "invariants/wish_file.h"

#include <cmath>
#include <cstring>
#include <random>

#include "report/support/wished_model.h"

namespace tokamak::invariants {
namespace {

uint32_t seed_of(std::string_view name) {
  uint32_t hash = 2166136261u;  // FNV-1a, the same on every machine
  for (const char c : name) hash = (hash ^ uint8_t(c)) * 16777619u;
  return hash;
}

/// Rows of matrices of about length 1, so that hidden states neither vanish nor grow; vectors near
/// 1 where they are factors, else small.
std::vector<float> values_of(const TensorInfo& tensor) {
  std::minstd_rand random(seed_of(tensor.name) | 1);
  const bool is_factor =
      tensor.shape.size() == 1 && (tensor.name.contains("norm") || tensor.name.contains("scal"));
  const bool is_matrix = tensor.shape.size() > 1;
  const double columns = is_matrix ? double(tensor.elements() / tensor.shape[0]) : 0;
  const double reach = is_matrix ? std::sqrt(3 / columns) : 0.1;
  std::vector<float> values(size_t(tensor.elements()));
  for (float& value : values) {
    const double part = 2 * double(random()) / double(std::minstd_rand::max()) - 1;
    value = float((is_factor ? 1 : 0) + reach * part);
  }
  return values;
}

}  // namespace

Result<TensorFile> wish_file(const Architecture& architecture, const ConfigReader& config) {
  WishedModel model = wished_model(architecture, config);
  if (!model.error.message.empty()) return Failure(model.error);
  std::vector<std::byte> bytes;
  for (TensorInfo& tensor : model.tensors) {
    const std::vector<float> values = values_of(tensor);
    tensor.offset = bytes.size();
    bytes.resize(bytes.size() + size_t(tensor.bytes));
    std::memcpy(bytes.data() + tensor.offset, values.data(), size_t(tensor.bytes));
  }
  return TensorFile::make({memory_source("the wishes", std::move(bytes))}, std::move(model.tensors),
                          Json());
}

}  // namespace tokamak::invariants
