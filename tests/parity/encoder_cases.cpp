// Cases of what encoders have beside the ops of decoders.
#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

/// The mean is far from zero, as it may be in rows that were added up.
Case layer_norm_case(uint32_t groups, uint32_t size, bool has_bias, bool last, const Steps& steps) {
  CaseBuilder b(fmt::format("layer_norm {}x{}{}{} {}", groups, size, has_bias ? " with a bias" : "",
                            last ? " of the last row" : "", label(steps)));
  const uint32_t columns = groups * size;
  std::vector<float> far(kVocab * columns);
  for (size_t i = 0; i < far.size(); ++i) far[i] = float(i / columns) * 0.2f - 4;
  const ValueId mean = b.graph().embed(b.tokens(), b.constant("far", {kVocab, Dim{columns}}, far));
  ValueId x = b.graph().add(b.activation(columns), mean);
  if (last) x = b.graph().last_row(x);
  const ValueId w = b.random("w", {size}, DType::kF32, 2);
  std::optional<ValueId> bias;
  if (has_bias) bias = b.random("bias", {size}, DType::kF32, 2);
  return b.finish(b.graph().layer_norm(x, w, 1e-3f, bias), steps, kSum);
}

}  // namespace

std::vector<Case> layer_norm_cases() {
  struct Shape {
    uint32_t groups, size;
  };
  std::vector<Case> all;
  for (const Shape shape : {Shape{1, 1}, {1, 7}, {3, 33}, {4, 32}, {2, 256}, {1, 640}, {1, 2050}}) {
    for (const bool has_bias : {false, true}) {
      all.push_back(layer_norm_case(shape.groups, shape.size, has_bias, !has_bias, kOneByOne));
      all.push_back(layer_norm_case(shape.groups, shape.size, has_bias, has_bias, kChunks));
    }
  }
  return all;
}

std::vector<Case> add_positions_cases() {
  std::vector<Case> all;
  for (const DType dtype : kWeights) {
    for (const uint32_t columns : {1u, 7u, 128u, 300u}) {
      for (const Steps& steps : {kOneByOne, kChunks}) {
        const uint32_t offset = columns == 7 ? 2 : 0;
        CaseBuilder b(fmt::format("add_positions {} {} from {} {}", dtype_name(dtype), columns,
                                  offset, label(steps)));
        const ValueId table = b.random("table", {400, columns}, dtype);
        const ValueId x = b.activation(columns);
        all.push_back(b.finish(b.graph().add_positions(x, table, offset), steps, kExact));
      }
    }
  }
  return all;
}

std::vector<Case> position_scale_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 300u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("position_scale {} {}", columns, label(steps)));
      const PositionScale op{.beta = 0.3f, .period = 3, .shift = 1};
      all.push_back(
          b.finish(b.graph().add_node(op, {b.activation(columns)}).front(), steps, kFunction));
    }
  }
  return all;
}

/// A rank that is alone counts as all ranks.
std::vector<Case> all_reduce_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 300u, 600u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      for (const uint32_t parts : {1u, 3u}) {
        for (const bool adds : {false, true}) {
          CaseBuilder b(fmt::format("all_reduce {} in {} parts{} {}", columns, parts,
                                    adds ? " and a residual" : "", label(steps)));
          const bool is_many = columns == 7 || columns == 600;
          const AllReduce op{.ranks = is_many ? 8u : 2u, .parts = parts, .last = adds};
          std::vector<ValueId> inputs = {b.activation(parts * columns)};
          if (adds) inputs.push_back(b.activation(columns));
          all.push_back(b.finish(b.graph().add_node(op, inputs).front(), steps, kSum));
        }
      }
    }
  }
  return all;
}

std::vector<Case> all_reduce_norm_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {7u, 300u, 1280u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      for (const uint32_t parts : {1u, 3u}) {
        CaseBuilder b(
            fmt::format("all_reduce_norm {} in {} parts {}", columns, parts, label(steps)));
        const AllReduceNorm op{
            .ranks = columns == 300 ? 2u : 8u, .parts = parts, .last = parts == 3, .eps = 1e-3f};
        const ValueId x = b.activation(parts * columns), r = b.activation(columns);
        const auto both = b.graph().add_node(op, {x, r, b.random("w", {columns}, DType::kF32, 2)});
        const ValueId norm = b.graph().scale(both[1], 0.7f);
        all.push_back(b.finish(b.graph().add(both[0], norm), steps, kSum));
      }
    }
  }
  return all;
}

std::vector<Case> all_gather_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 300u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      for (const uint32_t left_out : {0u, 5u}) {
        CaseBuilder b(fmt::format("all_gather {} less {} {}", columns, left_out, label(steps)));
        if (left_out >= columns) continue;
        const AllGather op{.ranks = 3, .columns = 3 * columns - left_out, .last = left_out == 0};
        all.push_back(
            b.finish(b.graph().add_node(op, {b.activation(columns)}).front(), steps, kExact));
      }
    }
  }
  return all;
}

/// One value, and two whose rows are of other lengths.
std::vector<Case> all_norm_cases() {
  struct Shape {
    uint32_t columns, other;
  };
  std::vector<Case> all;
  for (const Shape shape : {Shape{7, 0}, {300, 0}, {1280, 0}, {300, 100}, {33, 7}, {1280, 2052}}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("all_norm {} and {} {}", shape.columns, shape.other, label(steps)));
      const uint32_t ranks = shape.columns == 300 ? 2 : 8;
      const AllNorm op{.ranks = ranks,
                       .columns = ranks * shape.columns - 1,
                       .other_columns = ranks * shape.other,
                       .eps = 1e-3f};
      std::vector<ValueId> inputs = {b.activation(shape.columns),
                                     b.random("w", {shape.columns}, DType::kF32, 2)};
      if (shape.other == 0) {
        all.push_back(b.finish(b.graph().add_node(op, inputs).front(), steps, kSum));
        continue;
      }
      inputs.push_back(b.activation(shape.other));
      inputs.push_back(b.random("v", {shape.other}, DType::kF32, 2));
      const auto both = b.graph().add_node(op, inputs);
      const uint32_t shared = std::min(shape.columns, shape.other);
      const ValueId first = b.graph().columns(both[0], 0, shared);
      const ValueId other = b.graph().columns(both[1], shape.other - shared, shared);
      all.push_back(b.finish(b.graph().add(first, b.graph().scale(other, 0.7f)), steps, kSum));
    }
  }
  return all;
}

std::vector<Case> gather_columns_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 300u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("gather_columns {} {}", columns, label(steps)));
      const ValueId x = b.activation(columns, 3);
      const ValueId y = b.graph().gather_columns(x, b.order("order", {columns}));
      all.push_back(b.finish(y, steps, kExact));
    }
  }
  return all;
}

}  // namespace tokamak::parity
