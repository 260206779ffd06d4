#include "kernels/kernel.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "base/packing.h"
#include "kernels/cpu/panels.h"

namespace tokamak {

std::string_view backend_name(BackendKind kind) {
  switch (kind) {
    case BackendKind::kCpu:
      return "cpu";
    case BackendKind::kWebGpu:
      return "webgpu";
    case BackendKind::kCuda:
      break;
  }
  return "cuda";
}

std::string features_text(Features features) {
  std::string text;
  const auto add = [&](Feature feature, std::string_view name) {
    if ((features & feature) == 0) return;
    if (!text.empty()) text += ' ';
    text += name;
  };
  add(kFeatureF16, "f16");
  add(kFeatureSubgroups, "subgroups");
  add(kFeatureSubgroupMatrix, "subgroup_matrix");
  add(kFeatureDot4, "dot4");
  add(kFeatureLibrary, "library");
  add(kFeatureMatrixElements, "matrix_elements");
  add(kFeatureVectors, "vectors");
  add(kFeatureBf16Tiles, "bf16_tiles");
  return text.empty() ? "none" : text;
}

uint32_t DeviceSize::groups(uint32_t each) const {
  return each * std::bit_floor(std::max(multiprocessors, 1u));
}

uint32_t DeviceInfo::tier() const {
  if ((features & kFeatureF16) == 0) return 3;
  return (features & kFeatureSubgroups) != 0 ? 1 : 2;
}

CpuTensor CpuTensor::of_slot(uint32_t index) const {
  uint64_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  return {data + index * count * dtype_bytes(dtype), dtype, dims};
}

std::span<float> CpuTensor::f32() const {
  TOK_CHECK(dtype == DType::kF32);
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  return {reinterpret_cast<float*>(data), count};
}

std::span<uint32_t> CpuTensor::u32() const {
  TOK_CHECK(dtype == DType::kU32);
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  return {reinterpret_cast<uint32_t*>(data), count};
}

float CpuTensor::load(size_t i) const {
  switch (dtype) {
    case DType::kF32:
      return reinterpret_cast<const float*>(data)[i];
    case DType::kF16:
      return f16_to_f32(reinterpret_cast<const uint16_t*>(data)[i]);
    case DType::kBF16:
      return bf16_to_f32(reinterpret_cast<const uint16_t*>(data)[i]);
    default:
      break;
  }
  TOK_CHECK(is_float_weight(dtype));
  return 0;
}

void CpuTensor::store(size_t i, float value) const {
  TOK_CHECK(is_float_weight(dtype));
  if (dtype == DType::kF32) {
    reinterpret_cast<float*>(data)[i] = value;
  } else {
    reinterpret_cast<uint16_t*>(data)[i] =
        dtype == DType::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
}

void CpuTensor::load_row(size_t row, std::span<float> out) const {
  TOK_CHECK(dims.size() == 2 && dims[1] == out.size());
  if (panels != nullptr) return unpack_panel_row(*panels, data, row, out);
  if (is_packed(dtype)) {
    return unpack_row(dtype, {data, size_t(matrix_bytes(dtype, dims[0], dims[1]))}, dims[0], row,
                      out);
  }
  const size_t first = row * out.size();
  if (dtype == DType::kBF16) {
    const auto* from = reinterpret_cast<const uint16_t*>(data) + first;
    std::transform(from, from + out.size(), out.begin(), bf16_to_f32);
  } else {
    for (size_t i = 0; i < out.size(); ++i) out[i] = load(first + i);
  }
}

}  // namespace tokamak
