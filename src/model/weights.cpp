#include "model/weights.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;

struct Part {
  const TensorInfo* info;
  std::span<const std::byte> bytes;
};

Result<std::vector<Part>> find_parts(const TensorFile& file, const Weight& weight) {
  std::vector<Part> parts;
  for (const WeightPart& part : weight.parts) {
    const TensorInfo* info = file.find(part.name);
    if (info == nullptr) return invalid_input("The checkpoint has no tensor \"{}\".", part.name);
    TOK_TRY(std::span<const std::byte> bytes, file.data(*info));
    if (part.rows != 0) {
      const uint64_t end = uint64_t{part.first_row} + part.rows;
      if (info->shape.empty() || end > info->shape[0]) {
        return invalid_input("{}: tensor \"{}\" is {}, expected at least {} rows.",
                             file.file_name(*info), part.name, describe(*info), end);
      }
      const size_t row_bytes = bytes.size() / size_t(info->shape[0]);
      bytes = bytes.subspan(part.first_row * row_bytes, part.rows * row_bytes);
    }
    parts.push_back({info, bytes});
  }
  return parts;
}

float load_f32(const std::byte* bytes, DType dtype) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, dtype_bytes(dtype));
  switch (dtype) {
    case DType::kF32:
      return std::bit_cast<float>(word);
    case DType::kF16:
      return f16_to_f32(uint16_t(word));
    case DType::kBF16:
      return bf16_to_f32(uint16_t(word));
    default:
      break;
  }
  TOK_CHECK(is_float_weight(dtype));  // the model builder asks for no others
  return 0;
}

std::vector<std::byte> as_f32(const Part& part, bool add_one) {
  const uint32_t width = dtype_bytes(part.info->dtype);
  std::vector<std::byte> out(part.bytes.size() / width * sizeof(float));
  for (size_t i = 0; i * width < part.bytes.size(); ++i) {
    const float value =
        load_f32(part.bytes.data() + i * width, part.info->dtype) + (add_one ? 1.0f : 0.0f);
    std::memcpy(out.data() + i * sizeof(float), &value, sizeof value);
  }
  return out;
}

/// Rows of the parts in turn: part 0's first, part 1's first, part 0's second, ...
Result<void> write_interleaved(std::span<const std::span<const std::byte>> parts, size_t rows,
                               const WriteBytes& write) {
  const size_t row_bytes = parts[0].size() / rows;
  std::vector<std::byte> piece;
  for (size_t row = 0; row < rows; ++row) {
    for (const std::span<const std::byte>& part : parts) {
      const auto bytes = part.subspan(row * row_bytes, row_bytes);
      piece.insert(piece.end(), bytes.begin(), bytes.end());
    }
    if (piece.size() >= kPieceBytes || row + 1 == rows) {
      TOK_TRY(write(piece));
      piece.clear();
    }
  }
  return {};
}

}  // namespace

Result<void> read_constant(const TensorFile& file, const TensorDesc& constant,
                           const WriteBytes& write) {
  if (const auto* table = std::get_if<RopeTable>(&constant.recipe)) {
    const std::vector<float> values = rope_table(*table, uint32_t(constant.shape[0]));
    return write(std::as_bytes(std::span(values)));
  }
  if (const auto* fill = std::get_if<Fill>(&constant.recipe)) {
    const std::vector<float> values(element_count(constant.shape, 1), fill->value);
    return write(std::as_bytes(std::span(values)));
  }
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  TOK_CHECK(weight != nullptr);
  TOK_TRY(const std::vector<Part> parts, find_parts(file, *weight));
  std::vector<std::vector<std::byte>> converted(parts.size());
  std::vector<std::span<const std::byte>> bytes;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].info->dtype != constant.dtype || weight->add_one) {
      TOK_CHECK(constant.dtype == DType::kF32);
      converted[i] = as_f32(parts[i], weight->add_one);
      bytes.push_back(converted[i]);
    } else {
      bytes.push_back(parts[i].bytes);
    }
  }
  if (weight->order == RowOrder::kInterleave) {
    return write_interleaved(bytes, size_t(constant.shape[0]) / parts.size(), write);
  }
  for (const std::span<const std::byte>& part : bytes) {
    for (size_t at = 0; at < part.size(); at += kPieceBytes) {
      TOK_TRY(write(part.subspan(at, std::min(kPieceBytes, part.size() - at))));
    }
  }
  return {};
}

}  // namespace tokamak
