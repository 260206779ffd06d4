// Cases of the ops in kernels/lora: steps of two adapters and of none take turns.
#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

constexpr uint32_t kAdapters = 2;

struct LoraShape {
  uint32_t in, out, rank;  // rank: of what lora_up reads
  uint32_t first, ranks;   // where that is in the rows of lora_down
};

Case lora_case(std::string_view op, const LoraShape& shape, DType dtype, const Steps& steps) {
  CaseBuilder b(fmt::format("{} {} {}->{} of {}->{} {}", op, dtype_name(dtype), shape.in,
                            shape.rank, shape.ranks, shape.out, label(steps)));
  const ValueId x = b.activation(shape.in), y = b.activation(shape.out);
  const ValueId a = b.random("a", {kAdapters * shape.ranks, shape.in}, dtype, 0.3f);
  const ValueId up = b.random("b", {kAdapters * shape.out, shape.rank}, dtype);
  const ValueId h = b.graph().add_node(LoraDown{shape.ranks}, {x, a}).front();
  const ValueId sum = b.graph().add_node(LoraUp{shape.first}, {y, h, up}).front();
  Case c = b.finish(sum, steps, 2 * kSum);
  c.adapters = kAdapters;
  return c;
}

}  // namespace

std::vector<Case> lora_cases(std::string_view op) {
  constexpr LoraShape kSmall = {8, 1, 8, 0, 8}, kPart = {264, 33, 16, 8, 32};
  constexpr LoraShape kWide = {2056, 7, 8, 16, 24}, kTall = {72, 130, 64, 0, 64};
  std::vector<Case> all;
  const auto add = [&](const LoraShape& shape, DType dtype, const Steps& steps) {
    all.push_back(lora_case(op, shape, dtype, steps));
  };
  add(kSmall, DType::kF32, kOneByOne);
  add(kWide, DType::kBF16, kOneByOne);
  add(kPart, DType::kF16, kSmallBatchSteps);
  add(kPart, DType::kF32, kChunks);
  add(kTall, DType::kBF16, kChunks);
  return all;
}

}  // namespace tokamak::parity
