#include "quantize/importance.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "formats/printable.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// Columns that were always 0 still count by this share of the mean.
constexpr float kMinShare = 1e-6f;

Result<std::vector<float>> floats_of(const GgufFile& file, const TensorInfo& tensor,
                                     uint64_t expected) {
  const auto about = [&](std::string_view what) {
    return invalid_input("{}: tensor \"{}\" is {}, {}.", file.tensors.file_name(tensor),
                         printable(tensor.name), describe(tensor), what);
  };
  if (tensor.dtype != DType::kF32) return about("expected f32");
  if (tensor.elements() != expected) {
    return about(fmt::format("expected {} elements, as the model's matrix has columns", expected));
  }
  TOK_TRY(const FileBytes bytes, file.tensors.data(tensor));
  std::vector<float> out(size_t(tensor.elements()));
  load_floats(DType::kF32, bytes.data(), out);
  const auto is_sum = [](float value) { return std::isfinite(value) && value >= 0; };
  if (!std::ranges::all_of(out, is_sum)) return about("and has numbers that are no sums");
  return out;
}

/// Makes means of the sums of one expert; what was never used counts alike.
void make_means(std::span<float> sums, float count) {
  double total = 0;
  for (const float sum : sums) total += double(sum);
  if (count == 0 || total == 0) {
    std::ranges::fill(sums, 1.0f);
    return;
  }
  const float least = kMinShare * float(total / double(sums.size()));
  for (float& sum : sums) sum = std::max(sum, least) / count;
}

}  // namespace

Result<std::vector<float>> importance_of(const GgufFile& file, const TensorInfo& matrix) {
  const TensorInfo* sums = file.tensors.find(matrix.name + ".in_sum2");
  const TensorInfo* counts = file.tensors.find(matrix.name + ".counts");
  if (sums == nullptr || counts == nullptr) return std::vector<float>();
  const uint64_t columns = matrix.shape.back();
  const uint64_t experts = matrix.shape.size() > 2
                               ? matrix.elements() / columns / matrix.shape[matrix.shape.size() - 2]
                               : 1;
  TOK_TRY(std::vector<float> out, floats_of(file, *sums, experts * columns));
  TOK_TRY(const std::vector<float> count, floats_of(file, *counts, experts));
  for (size_t i = 0; i < count.size(); ++i) {
    make_means(std::span(out).subspan(i * size_t(columns), size_t(columns)), count[i]);
  }
  return out;
}

}  // namespace tokamak
