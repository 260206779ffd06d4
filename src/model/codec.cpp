#include "model/codec.h"

#include <fmt/ranges.h>

#include "base/check.h"
#include "base/packing.h"
#include "formats/wishes.h"

namespace tokamak {

std::string codec_input(size_t index) {
  return fmt::format("codec.{}", index);
}

uint32_t CodecModel::codes_per_group() const {
  uint32_t codes = 1;
  for (const uint32_t count : levels) codes *= count;
  return codes;
}

Result<std::vector<float>> CodecModel::latents(std::span<const uint32_t> codes) const {
  TOK_CHECK(codes.size() % groups == 0);
  const uint32_t below = codes_per_group();
  std::vector<float> values;
  values.reserve(codes.size() * levels.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] >= below) {
      return invalid_input("Group {} of frame {} has the code {}, expected one below {}.",
                           i % groups, i / groups, codes[i], below);
    }
    uint32_t rest = codes[i];
    for (const uint32_t count : levels) {
      const auto half = int32_t(count / 2);
      values.push_back(float(int32_t(rest % count) - half) / float(half));
      rest /= count;
    }
  }
  return values;
}

std::vector<RowSpan> CodecModel::rows_for(uint64_t first, uint64_t end) const {
  std::vector<RowSpan> rows(stages.size());
  // The rows whose results are wanted of a stage.
  RowSpan wanted = {first * samples_per_frame, end * samples_per_frame};
  for (size_t i = stages.size(); i-- > 0;) {
    const uint64_t reach = std::min<uint64_t>(stages[i].reach, wanted.first);
    rows[i] = {wanted.first - reach, wanted.end};
    if (i == 0) break;
    wanted = {rows[i].first / stages[i - 1].rate, rows[i].end / stages[i - 1].rate};
  }
  return rows;
}

uint32_t CodecModel::context_frames() const {
  constexpr uint64_t kFar = uint64_t{1} << 20;  // a frame with enough of them before it
  return uint32_t(kFar - rows_for(kFar, kFar + 1).front().first);
}

const TensorInfo* CodecBuilder::stored(const std::string& name,
                                       const std::vector<uint64_t>& shape) {
  const TensorInfo* const info = find_or_wish(file_, name, shape);
  if (info != nullptr && info->shape == shape && is_float_weight(info->dtype)) return info;
  reject({ErrorCode::kInvalidInput,
          fmt::format("The checkpoint has {} \"{}\"{}; the config asks for [{}] of f32, f16 or "
                      "bf16.",
                      info == nullptr ? "no tensor" : "the tensor", name,
                      info == nullptr ? "" : " as " + describe(*info), fmt::join(shape, ", "))});
  return nullptr;
}

ValueId CodecBuilder::weight(const std::string& name, const std::vector<uint64_t>& shape) {
  const Shape matrix = {Dim(shape[0]), Dim(shape[1] * shape[2])};
  struct Spelling {
    const char *magnitude, *direction;
  };
  constexpr Spelling kSpellings[] = {
      {".parametrizations.weight.original0", ".parametrizations.weight.original1"},
      {".weight_g", ".weight_v"}};
  for (const auto& [magnitude, direction] : kSpellings) {
    const WeightNorm norm = {name + magnitude, name + direction};
    if (file_.find(norm.direction) == nullptr) continue;
    stored(norm.direction, shape);
    stored(norm.magnitude, {shape[0], 1, 1});
    return constant(name + ".weight", matrix, DType::kF32, norm);
  }
  stored(name + ".weight", shape);
  return constant(name + ".weight", matrix, DType::kF32, Weight{{name + ".weight"}});
}

ValueId CodecBuilder::floats(const std::string& name, uint32_t size) {
  return constant(name, {size}, DType::kF32, Weight{{name}});
}

ValueId CodecBuilder::convolution(ValueId x, const std::string& name, uint32_t out, uint32_t taps,
                                  uint32_t dilation) {
  const auto columns = uint64_t(at(x).shape[1]);
  const ValueId w = weight(name, {out, columns, taps});
  stored(name + ".bias", {out});
  return causal_conv(x, w, floats(name + ".bias", out), dilation);
}

ValueId CodecBuilder::upsampled(ValueId x, const std::string& name, uint32_t rate) {
  const auto columns = uint32_t(at(x).shape[1]);
  const ValueId w = weight(name, {columns, 1, 2 * uint64_t{rate}});
  stored(name + ".bias", {columns / 2});
  return transposed_conv(x, w, floats(name + ".bias", columns / 2));
}

ValueId CodecBuilder::snake(ValueId x, const std::string& name) {
  const auto rates = uint32_t(at(x).shape[1]) / 2;
  stored(name, {1, rates, 1});
  return half_snake(x, floats(name, rates));
}

}  // namespace tokamak
