// Cases of the products.
#include <functional>

#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

constexpr DType kSomePacked[] = {DType::kQ4_0};

/// Packed types that between them use every text of kernels/quant with every other it goes with.
std::vector<DType> every_text() {
  std::vector<DType> all;
  for (const char* name : {"q8_0", "q4_0", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k",
                           "affine4_g64_bf16", "affine8_g32_f32", "zero4_g128_f16", "q2_k", "q3_k",
                           "iq4_nl", "mxfp4", "nvfp4", "nf4_g64", "f8e4m3_g128"}) {
    all.push_back(dtype_from_name(name).value());
  }
  return all;
}

struct ProductShape {
  uint32_t in, out;
};

/// More rows than the kernels with large tiles refuse.
constexpr uint32_t kTallRows = 3 * 5462;
const Steps kTall = {130, {1, 130}};

using MakeProduct = std::function<ValueId(CaseBuilder&, std::vector<ValueId>)>;

void add_product(std::vector<Case>& all, const std::string& op, DType dtype, ProductShape shape,
                 const Steps& steps, double tolerance, const MakeProduct& make) {
  CaseBuilder b(
      fmt::format("{} {} {}x{} {}", op, dtype_name(dtype), shape.out, shape.in, label(steps)));
  const ValueId x = b.activation(shape.in);
  const ValueId w = b.random("w", {shape.out, shape.in}, dtype);
  all.push_back(b.finish(make(b, {x, w}), steps, tolerance));
}

void add_tall_products(std::vector<Case>& all, const std::string& op, double tolerance,
                       const MakeProduct& make) {
  for (const Steps& steps : {kSmallBatchSteps, kTall}) {
    add_product(all, op, DType::kBF16, {40, kTallRows}, steps, tolerance, make);
  }
  // So few units of each row that a subgroup takes several.
  add_product(all, op, DType::kQ4_0, {544, kTallRows}, kOneByOne, tolerance, make);
}

/// Rows longer than the x' that a workgroup keeps at once.
void add_long_products(std::vector<Case>& all, const std::string& op, double tolerance,
                       const MakeProduct& make) {
  add_product(all, op, DType::kBF16, {2312, 66}, kOneByOne, tolerance, make);
  add_product(all, op, DType::kQ4_0, {4640, 66}, kOneByOne, tolerance, make);
}

/// `make` adds the product of x, w and perhaps a bias, and returns the value to compare. A software
/// device compiles slowly, so a bias comes with every second combination of shape and type.
void add_products(std::vector<Case>& all, const std::string& op,
                  std::span<const ProductShape> shapes, std::span<const DType> types,
                  double tolerance, const MakeProduct& make,
                  std::initializer_list<Steps> all_steps = {kOneByOne, kChunks}) {
  for (size_t s = 0; s < shapes.size(); ++s) {
    for (size_t t = 0; t < types.size(); ++t) {
      const bool bias = (s + t) % 2 == 0;
      for (const Steps& steps : all_steps) {
        CaseBuilder b(fmt::format("{} {} {}x{}{} {}", op, dtype_name(types[t]), shapes[s].out,
                                  shapes[s].in, bias ? " bias" : "", label(steps)));
        std::vector<ValueId> operands = {b.activation(shapes[s].in)};
        operands.push_back(b.random("w", {shapes[s].out, shapes[s].in}, types[t]));
        if (bias) operands.push_back(b.random("bias", {shapes[s].out}));
        const ValueId y = make(b, std::move(operands));
        all.push_back(b.finish(y, steps, tolerance));
      }
    }
  }
}

/// Packed types, with a shape in units of the shortest row that the type has.
void add_packed_products(std::vector<Case>& all, const std::string& op, ProductShape shape,
                         std::span<const DType> types, double tolerance, const MakeProduct& make,
                         std::initializer_list<Steps> all_steps = {kOneByOne, kChunks}) {
  for (const DType dtype : types) {
    const ProductShape own = {shape.in * weight_format(dtype).row_unit(), shape.out};
    add_products(all, op, std::span(&own, 1), std::span(&dtype, 1), tolerance, make, all_steps);
  }
}

/// For the kernels of a few tokens: less than a unit of columns for each lane of a lane group, and
/// some more; rows that fill no workgroup.
void add_small_batch(std::vector<Case>& all, const std::string& op, std::span<const DType> packed,
                     uint32_t least_rows, uint32_t rows, double tolerance,
                     const MakeProduct& make) {
  const ProductShape shapes[] = {{8, least_rows}, {520, rows}};
  add_products(all, op, shapes, kWeights, tolerance, make, {kSmallBatchSteps});
  add_packed_products(all, op, {3, rows}, packed, tolerance, make, {kSmallBatchSteps});
  add_packed_products(all, op, {3, rows}, kSomePacked, tolerance, make, {kFewSteps});
}

}  // namespace

std::vector<Case> linear_cases() {
  std::vector<Case> all;
  const auto make = [](CaseBuilder& b, std::vector<ValueId> operands) {
    return b.graph().add_node(Linear{}, std::move(operands)).front();
  };
  constexpr ProductShape kShapes[] = {{8, 1}, {7, 3}, {40, 66}, {37, 5}, {520, 131}, {2048, 64}};
  add_products(all, "linear", kShapes, kWeights, kSum, make);
  add_packed_products(all, "linear", {3, 67}, packed_types(), kSum, make);
  add_packed_products(all, "linear", {1, 3}, every_text(), kSum, make);
  add_small_batch(all, "linear", every_text(), 1, 67, kSum, make);
  add_tall_products(all, "linear", kSum, make);
  add_long_products(all, "linear", kSum, make);
  // By dot products of bytes: other types; more of a row than is kept at once; many rows.
  constexpr DType kBytes[] = {DType::kQ4_0, DType::kQ8_0};
  for (const char* type : {"q8_0", "q4_k", "affine4_g64_bf16", "affine8_g32_f32"}) {
    const DType dtype = dtype_from_name(type).value();
    add_packed_products(all, "linear", {3, 67}, std::span(&dtype, 1), kSum, make, {kFewSteps});
  }
  for (const DType dtype : kBytes) {
    add_product(all, "linear", dtype, {9248, 66}, kFewSteps, kSum, make);
  }
  add_product(all, "linear", DType::kQ4_0, {96, kTallRows}, kFewSteps, kSum, make);
  add_product(all, "linear", DType::kBF16, {1024, 3}, kSmallBatchSteps, kSum, make);
  // Values that no f16 holds, and more of both sizes than a tile has.
  for (const Steps& steps : {kOneByOne, kChunks}) {
    CaseBuilder large(fmt::format("linear f32 150x200 of large values {}", label(steps)));
    const ValueId large_x = large.activation(200, 3e5f);
    const ValueId large_w = large.random("w", {150, 200}, DType::kF32, 2e5f);
    const ValueId y = large.graph().linear(large_x, large_w);
    all.push_back(large.finish(y, steps, kSum));
  }
  // A vocabulary: more rows than one dimension of the grid takes.
  CaseBuilder b("linear f16 131101x8 one by one");
  const ValueId x = b.activation(8);
  const ValueId w = b.random("w", {131101, 8}, DType::kF16);
  all.push_back(b.finish(b.graph().linear(x, w), {1, {1, 1}}, kSum));
  return all;
}

std::vector<Case> qkv_cases() {
  std::vector<Case> all;
  const auto make = [](CaseBuilder& b, std::vector<ValueId> operands) {
    const uint32_t rows = uint32_t(b.graph().at(operands[1]).shape[0]) / 3;
    const auto parts = b.graph().add_node(Qkv{rows, rows}, std::move(operands));
    const ValueId k = b.graph().scale(parts[1], 2);
    const ValueId v = b.graph().scale(parts[2], 3);
    const ValueId sum = b.graph().add(parts[0], k);
    return b.graph().add(sum, v);
  };
  constexpr ProductShape kShapes[] = {{8, 3}, {7, 9}, {264, 201}};
  add_products(all, "qkv", kShapes, kWeights, 4 * kSum, make);
  add_packed_products(all, "qkv", {2, 9}, every_text(), 4 * kSum, make);
  add_small_batch(all, "qkv", kSomePacked, 3, 69, 4 * kSum, make);
  add_tall_products(all, "qkv", 4 * kSum, make);
  add_long_products(all, "qkv", 4 * kSum, make);
  // Unequal parts cannot be added up: one at a time.
  constexpr ProductShape kUnequal[] = {{64, 40}, {9, 12}};
  for (const size_t part : {0u, 1u, 2u}) {
    add_products(all, fmt::format("qkv part {}", part), kUnequal, std::span(kWeights).subspan(1, 1),
                 kSum, [part](CaseBuilder& b, std::vector<ValueId> operands) {
                   const uint32_t rows = uint32_t(b.graph().at(operands[1]).shape[0]);
                   const Qkv op{rows / 2 + 1, rows / 4};
                   return b.graph().add_node(op, std::move(operands))[part];
                 });
  }
  for (const size_t part : {1u, 3u}) {  // the last of two, and of four
    add_products(
        all, fmt::format("qkv last part {}", part), kUnequal, std::span(kWeights).subspan(1, 1),
        kSum, [part](CaseBuilder& b, std::vector<ValueId> operands) {
          const uint32_t rows = uint32_t(b.graph().at(operands[1]).shape[0]);
          const Qkv op = part == 1 ? Qkv{rows / 4, rows - rows / 4} : Qkv{rows / 2, rows / 4, 1};
          return b.graph().add_node(op, std::move(operands))[part];
        });
  }
  return all;
}

std::vector<Case> split_linear_cases() {
  std::vector<Case> all;
  const auto add = [&](uint32_t parts, DType dtype, ProductShape shape, const Steps& steps) {
    add_product(all, fmt::format("split_linear {} parts", parts), dtype, shape, steps, kSum,
                [parts](CaseBuilder& b, std::vector<ValueId> operands) {
                  return b.graph().add_node(SplitLinear{parts}, std::move(operands)).front();
                });
  };
  for (const DType dtype : kWeights) add(4, dtype, {96, 70}, kSmallBatchSteps);
  for (const DType dtype : every_text()) {
    add(2, dtype, {2 * weight_format(dtype).row_unit(), 34}, kSmallBatchSteps);
  }
  for (const DType dtype : {DType::kQ4_0, DType::kQ8_0}) add(4, dtype, {1024, 70}, kFewSteps);
  // The numbers of tokens are those each tile is for, and more than fit one.
  for (const uint32_t rows : {16u, 32u, 64u, 70u}) {
    CaseBuilder b(fmt::format("split_linear 8 parts, {} tokens", rows));
    const ValueId x = b.activation(1088), w = b.random("w", {134, 1088}, DType::kBF16);
    const ValueId y = b.graph().add_node(SplitLinear{8}, {x, w}).front();
    all.push_back(b.finish(y, {rows, {rows, rows / 3}}, kSum));
  }
  return all;
}

std::vector<Case> linear_glu_cases() {
  std::vector<Case> all;
  constexpr ProductShape kShapes[] = {{7, 6}, {8, 2}, {264, 134}};
  for (const Activation activation : kActivations) {
    const bool first = activation == Activation::kSilu;
    const std::string name = fmt::format("linear_glu {}", activation_name(activation));
    const auto make = [activation](CaseBuilder& b, std::vector<ValueId> operands) {
      return b.graph().add_node(LinearGlu{activation}, std::move(operands)).front();
    };
    add_products(all, name, kShapes, std::span(kWeights).first(first ? 3 : 2), kFunction, make);
    if (first) add_packed_products(all, name, {3, 70}, every_text(), kFunction, make);
    if (first) add_small_batch(all, name, kSomePacked, 2, 70, kFunction, make);
    if (first) add_tall_products(all, name, kFunction, make);
    if (first) add_long_products(all, name, kFunction, make);
  }
  return all;
}

}  // namespace tokamak::parity
