#include "engine/lexical_head.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.h"
#include "model/weights.h"

namespace tokamak {
namespace {

/// The numbers of a float tensor of that shape, in f32.
Result<std::vector<float>> floats_of(const TensorFile& file, const TensorInfo& tensor,
                                     const Shape& shape) {
  const bool fits = std::ranges::equal(tensor.shape, shape, [](uint64_t found, Dim expected) {
    return found == uint64_t(expected);
  });
  if (!fits || !is_float_weight(tensor.dtype)) {
    return invalid_input("The tensor \"{}\" is {}, expected [{}] of f32, f16 or bf16.", tensor.name,
                         describe(tensor), fmt::join(shape, ", "));
  }
  const TensorDesc constant = {.name = tensor.name,
                               .shape = shape,
                               .dtype = DType::kF32,
                               .storage = Storage::kConstant,
                               .recipe = Weight{{tensor.name}}};
  std::vector<float> numbers(size_t(element_count(constant.shape, 1)));
  const auto keep = [&](uint64_t offset, std::span<const std::byte> piece) -> Result<void> {
    std::memcpy(reinterpret_cast<std::byte*>(numbers.data()) + offset, piece.data(), piece.size());
    return {};
  };
  TOK_TRY(read_constant(file, constant, {.index = 0, .count = 1}, keep));
  return numbers;
}

}  // namespace

Result<std::optional<LexicalHead>> read_lexical_head(const TensorFile& file, uint32_t hidden) {
  const TensorInfo* const weight = file.find(kLexicalWeight);
  if (weight == nullptr) return std::nullopt;
  LexicalHead head;
  TOK_TRY(head.weight, floats_of(file, *weight, {1, hidden}));
  const TensorInfo* const bias = file.find(kLexicalBias);
  if (bias == nullptr) return head;
  TOK_TRY(const std::vector<float> number, floats_of(file, *bias, {1}));
  head.bias = number.front();
  return head;
}

std::vector<float> lexical_weights(const LexicalHead& head, std::span<const float> rows) {
  const size_t hidden = head.weight.size();
  TOK_CHECK(rows.size() % hidden == 0);
  std::vector<float> weights;
  for (; !rows.empty(); rows = rows.subspan(hidden)) {
    double sum = head.bias;
    for (size_t i = 0; i < hidden; ++i) sum += double(head.weight[i]) * rows[i];
    weights.push_back(float(sum));
  }
  return weights;
}

SparseVector sparse_vector(std::span<const uint32_t> ids, std::span<const float> weights,
                           const std::function<bool(uint32_t)>& counts) {
  std::map<uint32_t, float> largest;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!(weights[i] > 0) || !counts(ids[i])) continue;
    float& own = largest[ids[i]];
    own = std::max(own, weights[i]);
  }
  SparseVector vector;
  for (const auto& [id, weight] : largest) vector.push_back({id, weight});
  return vector;
}

}  // namespace tokamak
