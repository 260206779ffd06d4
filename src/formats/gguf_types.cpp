#include "formats/gguf_types.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"

namespace tokamak {
namespace {

struct ElementType {
  uint32_t number;
  std::string_view name;
  std::string_view dtype = {};  // empty: known, but not read
  GgufBlock block = {};
};
// ggml.h, enum ggml_type; 4, 5, 31-33 and 36-38 were taken out of it.
constexpr ElementType kTypes[] = {
    {0, "F32", "f32", {1, 4}},
    {1, "F16", "f16", {1, 2}},
    {2, "Q4_0", "q4_0", {32, 18}},
    {3, "Q4_1", "q4_1", {32, 20}},
    {4, "Q4_2"},
    {5, "Q4_3"},
    {6, "Q5_0", "q5_0", {32, 22}},
    {7, "Q5_1", "q5_1", {32, 24}},
    {8, "Q8_0", "q8_0", {32, 34}},
    {9, "Q8_1"},
    {10, "Q2_K", "q2_k", {256, 84}},
    {11, "Q3_K", "q3_k", {256, 110}},
    {12, "Q4_K", "q4_k", {256, 144}},
    {13, "Q5_K", "q5_k", {256, 176}},
    {14, "Q6_K", "q6_k", {256, 210}},
    {15, "Q8_K"},
    {16, "IQ2_XXS", "iq2_xxs", {256, 66}},
    {17, "IQ2_XS", "iq2_xs", {256, 74}},
    {18, "IQ3_XXS", "iq3_xxs", {256, 98}},
    {19, "IQ1_S", "iq1_s", {256, 50}},
    {20, "IQ4_NL", "iq4_nl", {32, 18}},
    {21, "IQ3_S", "iq3_s", {256, 110}},
    {22, "IQ2_S", "iq2_s", {256, 82}},
    {23, "IQ4_XS", "iq4_xs", {256, 136}},
    {24, "I8", "i8", {1, 1}},
    {25, "I16", "i16", {1, 2}},
    {26, "I32", "i32", {1, 4}},
    {27, "I64", "i64", {1, 8}},
    {28, "F64", "f64", {1, 8}},
    {29, "IQ1_M", "iq1_m", {256, 56}},
    {30, "BF16", "bf16", {1, 2}},
    {31, "Q4_0_4_4"},
    {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"},
    {34, "TQ1_0", "tq1_0", {256, 54}},
    {35, "TQ2_0", "tq2_0", {256, 66}},
    {36, "IQ4_NL_4_4"},
    {37, "IQ4_NL_4_8"},
    {38, "IQ4_NL_8_8"},
    {39, "MXFP4", "mxfp4", {32, 17}},
    {40, "NVFP4", "nvfp4", {64, 36}},
    {41, "Q1_0", "q1_0", {128, 18}},
    {42, "Q2_0", "q2_0", {64, 18}},
};

const ElementType* find_type(uint32_t number) {
  const auto found = std::ranges::find(kTypes, number, &ElementType::number);
  return found == std::end(kTypes) ? nullptr : &*found;
}

/// Indexed by DType: a row of a matrix asks for it.
using Blocks = std::array<GgufBlock, 256>;
Blocks all_blocks() {
  Blocks blocks{};
  for (const ElementType& type : kTypes) {
    if (!type.dtype.empty()) blocks[size_t(dtype_from_name(type.dtype).value())] = type.block;
  }
  return blocks;
}

}  // namespace

Result<DType> gguf_dtype(uint32_t number) {
  const ElementType* found = find_type(number);
  if (found == nullptr) {
    return invalid_input("Its type is number {}, which is not one of GGUF's.", number);
  }
  if (!found->dtype.empty()) return dtype_from_name(found->dtype).value();
  std::string known;
  for (const ElementType& type : kTypes) {
    if (!type.dtype.empty()) known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  return unsupported("Its type is {}; this engine reads {}.", found->name, known);
}

std::optional<uint32_t> gguf_type_number(DType dtype) {
  const auto found = std::ranges::find(kTypes, dtype_name(dtype), &ElementType::dtype);
  if (found == std::end(kTypes)) return std::nullopt;
  return found->number;
}

std::string gguf_type_name(uint32_t number) {
  const ElementType* found = find_type(number);
  return found == nullptr ? fmt::format("type {}", number) : std::string(found->name);
}

GgufBlock gguf_block(DType dtype) {
  static const Blocks blocks = all_blocks();
  const GgufBlock block = blocks[size_t(dtype)];
  TOK_CHECK(block.weights != 0);
  return block;
}

}  // namespace tokamak
