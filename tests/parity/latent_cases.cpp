// Cases of the ops in kernels/latent, and of merge_splits.
#include <cmath>
#include <numeric>

#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

struct LatentShape {
  uint32_t heads, rank, turned;
  uint32_t splits = 1;
};

Case latent_case(const LatentShape& shape, DType type, const Steps& steps) {
  CaseBuilder b(fmt::format("latent_attention {}x{}+{} {} splits {} {}", shape.heads, shape.rank,
                            shape.turned, cache_type_name(type), shape.splits, label(steps)));
  const uint32_t positions = std::accumulate(steps.chunks.begin(), steps.chunks.end(), 0u);
  uint32_t slots = 0;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache = b.graph().latent_cache("cache", type, slots, shape.rank, shape.turned);
  const ValueId latent = b.activation(shape.rank, 2), turned = b.activation(shape.turned, 2);
  const ValueId held = b.graph().latent_append(latent, turned, cache, pages);
  const ValueId ql = b.activation(shape.heads * shape.rank, 2);
  const ValueId qr = b.activation(shape.heads * shape.turned, 2);
  const float scale = 1.5f / std::sqrt(float(shape.rank + shape.turned));
  const LatentAttention op{scale, shape.splits};
  ValueId y = b.graph().add_node(op, {ql, qr, held, pages}).front();
  if (op.splits > 1) y = b.graph().add_node(MergeSplits{shape.heads, op.splits}, {y}).front();
  return b.finish(y, steps, attention_tolerance(type));
}

Case merge_case(uint32_t heads, uint32_t head_dim, uint32_t splits, const Steps& steps) {
  CaseBuilder b(fmt::format("merge_splits {}x{} {} {}", heads, head_dim, splits, label(steps)));
  const ValueId x = b.positive_activation(splits * heads * (head_dim + 2));
  return b.finish(b.graph().add_node(MergeSplits{heads, splits}, {x}).front(), steps, kSum);
}

/// Pages that blocks of cells begin and end within.
const Steps kPieces = {80, {3, 17, 64, 1, 1, 80, 2}};
const Steps kManyOnes = {1, std::vector<uint32_t>(40, 1)};

/// Heads as DeepSeek V3 has them, and those that no vector of four divides.
std::vector<Case> head_linear_cases() {
  struct Shape {
    uint32_t heads, rows, columns;
  };
  std::vector<Case> all;
  for (const Shape shape :
       std::vector<Shape>{{1, 1, 8}, {2, 32, 16}, {5, 7, 264}, {3, 9, 5}, {4, 128, 512}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const bool transposed : {false, true}) {
        for (const Steps& steps : {kOneByOne, kChunks}) {
          if (shape.columns == 512 && dtype != DType::kBF16) continue;
          CaseBuilder b(fmt::format("head_linear {} {}x{}x{}{} {}", dtype_name(dtype), shape.heads,
                                    shape.rows, shape.columns, transposed ? " transposed" : "",
                                    label(steps)));
          const ValueId w = b.random("w", {shape.heads * shape.rows, shape.columns}, dtype);
          const ValueId x = b.activation(shape.heads * (transposed ? shape.rows : shape.columns));
          const ValueId y = b.graph().head_linear(x, w, {shape.heads, transposed});
          all.push_back(b.finish(y, steps, kSum));
        }
      }
    }
  }
  for (const char* type : {"q8_0", "q4_k"}) {
    const DType dtype = dtype_from_name(type).value();
    for (const bool transposed : {false, true}) {
      CaseBuilder b(fmt::format("head_linear {}{}", type, transposed ? " transposed" : ""));
      const ValueId w = b.random("w", {3 * 20, 256}, dtype);
      const ValueId x = b.activation(3 * (transposed ? 20 : 256));
      const ValueId y = b.graph().head_linear(x, w, {3, transposed});
      all.push_back(b.finish(y, kChunks, kSum));
    }
  }
  return all;
}

/// The appended elements show in what attention reads. The widest is that of DeepSeek V3.
std::vector<Case> attention_cases() {
  std::vector<Case> all;
  bool turn = false;
  for (const DType type : {DType::kF32, DType::kF16}) {
    for (const LatentShape shape :
         std::vector<LatentShape>{{1, 2, 2}, {2, 32, 16}, {5, 70, 6}, {16, 512, 64}, {4, 258, 8}}) {
      turn = !turn;
      all.push_back(latent_case(shape, type, turn ? kManyOnes : kPieces));
    }
  }
  all.push_back(latent_case({3, 24, 8}, DType::kF16, {150, {150}}));
  // More heads than a workgroup has rows, and tokens whose heads fill several workgroups.
  all.push_back(latent_case({40, 16, 8}, DType::kF16, {1, std::vector<uint32_t>(20, 1)}));
  all.push_back(latent_case({40, 16, 8}, DType::kF16, {24, {7, 24, 1}}));
  // Parts of the positions; the first steps have more parts than positions.
  all.push_back(latent_case({20, 32, 16, 8}, DType::kF32, {1, std::vector<uint32_t>(20, 1)}));
  all.push_back(latent_case({5, 70, 6, 3}, DType::kF32, {24, {7, 24, 1}}));
  all.push_back(latent_case({2, 32, 16, 4}, DType::kF16, {1, std::vector<uint32_t>(100, 1)}));
  all.push_back(latent_case({3, 258, 8, 2}, DType::kF16, {40, {3, 40, 1}}));
  return all;
}

std::vector<Case> merge_splits_cases() {
  return {merge_case(1, 2, 2, kOneByOne), merge_case(5, 6, 3, kChunks),
          merge_case(3, 130, 5, kOneByOne), merge_case(2, 512, 32, kChunks)};
}

}  // namespace

std::vector<Case> latent_cases(std::string_view op) {
  if (op == "head_linear") return head_linear_cases();
  if (op == "latent_append" || op == "latent_attention") return attention_cases();
  if (op == "merge_splits") return merge_splits_cases();
  return {};
}

}  // namespace tokamak::parity
