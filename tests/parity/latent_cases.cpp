// Cases of the ops in kernels/latent.
#include <cmath>
#include <numeric>

#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

struct LatentShape {
  uint32_t heads, rank, turned;
};

Case latent_case(const LatentShape& shape, DType type, const Steps& steps) {
  CaseBuilder b(fmt::format("latent_attention {}x{}+{} {} {}", shape.heads, shape.rank,
                            shape.turned, cache_type_name(type), label(steps)));
  const uint32_t positions = std::accumulate(steps.chunks.begin(), steps.chunks.end(), 0u);
  uint32_t slots = 0;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache = b.graph().latent_cache("cache", type, slots, shape.rank, shape.turned);
  const ValueId latent = b.activation(shape.rank, 2), turned = b.activation(shape.turned, 2);
  const ValueId held = b.graph().latent_append(latent, turned, cache, pages);
  const ValueId ql = b.activation(shape.heads * shape.rank, 2);
  const ValueId qr = b.activation(shape.heads * shape.turned, 2);
  const float scale = 1.5f / std::sqrt(float(shape.rank + shape.turned));
  const ValueId y = b.graph().latent_attention(ql, qr, held, pages, scale);
  return b.finish(y, steps, attention_tolerance(type));
}

/// Pages that blocks of cells begin and end within.
const Steps kPieces = {80, {3, 17, 64, 1, 1, 80, 2}};
const Steps kManyOnes = {1, std::vector<uint32_t>(40, 1)};

}  // namespace

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
std::vector<Case> latent_cases() {
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
  return all;
}

}  // namespace tokamak::parity
