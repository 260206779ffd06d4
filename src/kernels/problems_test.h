// Problems that the tests of the variants and of their selection share.
#pragma once
#include "base/packing.h"
#include "graph/builder.h"
#include "graph/is_any.h"
#include "kernels/select.h"

namespace tokamak {

inline DeviceInfo plain_webgpu() {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "plain";
  return device;
}

/// One that lacks nothing, with the limits of a large GPU.
inline DeviceInfo full_webgpu() {
  DeviceInfo device = plain_webgpu();
  device.name = "full";
  device.features = kAllFeatures;
  device.subgroup_min = device.subgroup_max = 32;
  device.limits.workgroup_threads = 1024;
  device.limits.workgroup_bytes = 49152;
  device.size.multiprocessors = 132;
  return device;
}

inline TensorDesc tensor(Shape shape, DType dtype = DType::kF32) {
  return {.name = {}, .shape = std::move(shape), .dtype = dtype};
}

/// A problem of ordinary shapes for every op.
inline Problem ordinary(const Op& op, uint32_t max_tokens = 1) {
  Problem p{.op = &op, .inputs = {}, .outputs = {}, .max_tokens = max_tokens};
  const TensorDesc x = tensor({kTokens, 64}), w = tensor({64, 64}, DType::kF16);
  const TensorDesc cache = tensor({32, 2, 2, 16}, DType::kF16), pages = tensor({2}, DType::kU32);
  p.outputs = {x};
  if (std::holds_alternative<Embed>(op))
    p.inputs = {tensor({kTokens}, DType::kU32), w};
  else if (std::holds_alternative<Rope>(op))
    p.inputs = {x, tensor({32, 16})};
  else if (std::holds_alternative<GatherColumns>(op))
    p.inputs = {x, tensor({64}, DType::kU32)};
  else if (is_any<RmsNorm, LayerNorm, AllNorm>(op))
    p.inputs = {x, tensor({64})};
  else if (std::holds_alternative<Activate>(op))
    p.inputs = {x};
  else if (std::holds_alternative<ToHalf>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 64}, DType::kBF16)};
  } else if (std::holds_alternative<HalfLinear>(op))
    p.inputs = {tensor({kTokens, 64}, DType::kBF16), tensor({64, 64}, DType::kBF16)};
  else if (std::holds_alternative<PairGlu>(op)) {
    p.inputs = {tensor({kTokens, 128})};
    p.outputs = {tensor({kTokens, 64}, DType::kBF16)};
  } else if (std::holds_alternative<GatedHalf>(op)) {
    p.inputs = {x, x, tensor({32})};
    p.outputs = {tensor({kTokens, 64}, DType::kBF16)};
  } else if (std::holds_alternative<LoraDown>(op)) {
    p.inputs = {x, w};
    p.outputs = {tensor({kTokens, 16})};
  } else if (std::holds_alternative<LoraUp>(op)) {
    p.inputs = {tensor({kTokens, 64}), tensor({128, 64}, DType::kF16)};
  } else if (std::holds_alternative<AddPositions>(op))
    p.inputs = {x, tensor({32, 64})};
  else if (std::holds_alternative<Unfold>(op)) {
    p.inputs = {tensor({32, 32})};
    p.outputs = {tensor({kTokens, 32})};
  } else if (std::holds_alternative<Clamp>(op))
    p.inputs = {x};
  else if (std::holds_alternative<HalfSnake>(op))
    p.inputs = {x, tensor({32})};
  else if (const auto* conv = std::get_if<CausalConv>(&op)) {
    p.inputs = {x, tensor({64, 3 * 64}), tensor({64})};
    if (conv->snake) p.inputs.push_back(tensor({32}));
    if (conv->adds) p.inputs.push_back(x);
  } else if (std::holds_alternative<TransposedConv>(op)) {
    p.inputs = {x, tensor({64, 8}), tensor({32})};
    p.outputs = {tensor({kTokens, 4 * 32})};
  } else if (std::holds_alternative<GroupNorm>(op) || std::holds_alternative<Standardize>(op))
    p.inputs = {x, tensor({64}), tensor({64})};
  else if (const auto* norm = std::get_if<AddRmsNorm>(&op))
    p.inputs = {tensor({kTokens, norm->parts * 64}), x, tensor({64})};
  else if (const auto* own = std::get_if<FusedNorm>(&op)) {
    p.inputs = {x};
    if (own->adds) p.inputs.push_back(x);
    p.inputs.push_back(tensor({64}));
    if (own->centered) p.inputs.push_back(tensor({64}));
    p.outputs = {tensor({kTokens, 64}, half_dtype(own->rounded))};
    if (own->summed) p.outputs.push_back(x);
    if (own->plain) p.outputs.push_back(x);
  } else if (const auto* sandwich = std::get_if<NormAdd>(&op)) {
    p.inputs = {x, x, tensor({64})};
    if (sandwich->scaled) p.inputs.push_back(tensor({1}));
    if (sandwich->normed) {
      p.inputs.push_back(tensor({64}));
      p.outputs = {tensor({kTokens, 64}, half_dtype(sandwich->rounded)), x};
    }
  } else if (std::holds_alternative<Attention>(op))
    p.inputs = {x, tensor({32, 2, 1, 32}, DType::kF16), pages};
  else if (std::holds_alternative<KvAppend>(op)) {
    p.inputs = {tensor({kTokens, 32}), tensor({kTokens, 32}), pages};
    p.outputs = {cache};
  } else if (std::holds_alternative<ShortConv>(op)) {
    p.inputs = {x, tensor({64, 4})};
    p.outputs = {x, tensor({3, 64})};
  } else if (std::holds_alternative<GatedDelta>(op)) {
    p.inputs = {x, tensor({kTokens, 4}), tensor({2, 2})};
    p.outputs = {tensor({kTokens, 32}), tensor({2, 16, 16})};
  } else if (std::holds_alternative<SelectiveScan>(op)) {
    p.inputs = {x, tensor({kTokens, 4}), tensor({3, 2})};
    p.outputs = {tensor({kTokens, 32}), tensor({2, 16, 16})};
  } else if (std::holds_alternative<Route>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 1}), tensor({kTokens, 1}, DType::kU32)};
  } else if (std::holds_alternative<ExpertLinear>(op)) {
    p.inputs = {x, w, tensor({kTokens, 1}, DType::kU32)};
  } else if (std::holds_alternative<ExpertColumns>(op)) {
    p.inputs = {x, tensor({4, 64}, DType::kU32), tensor({kTokens, 1}, DType::kU32)};
  } else if (std::holds_alternative<ExpertSum>(op)) {
    p.inputs = {x, tensor({kTokens, 1})};
  } else if (std::holds_alternative<Columns>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 1})};
  } else if (std::holds_alternative<Scale>(op)) {
    p.inputs = {x};
  } else if (std::holds_alternative<MeanRows>(op) || std::holds_alternative<FirstRow>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({1, 64})};
  } else if (std::holds_alternative<BlockArgmax>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 2})};
  } else if (std::holds_alternative<NextToken>(op)) {
    p.inputs = {tensor({kTokens, 2})};
    p.outputs = {tensor({64})};
  } else if (std::holds_alternative<BlockMaxima>(op)) {
    p.inputs = {x, tensor({2}, DType::kU32)};
    p.outputs = {tensor({kTokens, 8})};
  } else if (std::holds_alternative<TopKBlocks>(op)) {
    p.inputs = {tensor({kTokens, 8})};
    p.outputs = {tensor({kTokens, 4})};
  } else if (std::holds_alternative<TopKTokens>(op)) {
    p.inputs = {x, tensor({kTokens, 8}), tensor({kTokens, 4}), tensor({2}, DType::kU32)};
    p.outputs = {tensor({kTokens, 129})};
  } else if (std::holds_alternative<SampleToken>(op)) {
    p.inputs = {tensor({kTokens, 129})};
    p.outputs = {tensor({4, 130}), tensor({8}, DType::kU32)};
  } else if (const auto* prepared = std::get_if<RopeAppend>(&op)) {
    p.inputs = {tensor({kTokens, prepared->appends ? 128 : 64}), tensor({64, 16})};
    if (prepared->appends) {
      p.inputs.push_back(pages);
      p.outputs.push_back(cache);
    }
    if (prepared->eps != 0) p.inputs.push_back(tensor({prepared->appends ? 32 : 16}));
  } else if (const auto* attention = std::get_if<StepAttention>(&op)) {
    const Dim q_columns = Dim{attention->heads} * 16;
    const Dim columns = q_columns + (attention->appends ? 64 : 0);
    p.inputs = {tensor({kTokens, attention->parts * columns}), tensor({32, 16})};
    if (!attention->appends) p.inputs.push_back(cache);
    p.inputs.push_back(pages);
    if (attention->eps > 0) p.inputs.push_back(tensor({attention->appends ? 32 : 16}));
    p.outputs = {tensor({kTokens, attention->splits * (q_columns + 2 * attention->heads)})};
    if (attention->appends) p.outputs.push_back(cache);
  } else if (const auto* fused = std::get_if<FusedLinear>(&op)) {
    p.inputs = {x, w};
    if (fused->prologue == Prologue::kMergeSplits)
      p.inputs[0] = tensor({kTokens, 2 * (64 + 2 * 4)});
    while (p.inputs.size() < fused->operands()) p.inputs.push_back(tensor({64}));
    if (fused->adds()) p.outputs.push_back(x);
    if (fused->prologue == Prologue::kHeadNorm) p.inputs[fused->w()] = tensor({16});
    if (fused->epilogue == Epilogue::kConv) {
      p.inputs.pop_back();
      p.inputs[fused->r()] = tensor({32, 4});
      p.outputs.push_back(tensor({3, 32}));
    }
    if (fused->clears) p.outputs.push_back(tensor({kTokens, 128}, DType::kI32));
  } else if (const auto* down = std::get_if<GatedFfn>(&op)) {
    p.inputs = {x, w};
    if (down->glu.adds()) p.inputs.push_back(x);
    if (down->glu.norms()) p.inputs.push_back(tensor({128}));
    p.inputs.push_back(tensor({64, 32}));
    p.outputs = {tensor({kTokens, 128}, DType::kI32)};
    if (down->glu.adds()) p.outputs.push_back(x);
  } else if (const auto* glu = std::get_if<ExpertGlu>(&op)) {
    p.inputs = {x, w, tensor({kTokens, 1}, DType::kU32)};
    if (glu->norm) p.inputs.push_back(tensor({64}));
    if (glu->bias) p.inputs.push_back(tensor({64}));
    p.outputs = {tensor({kTokens, 32})};
  } else if (std::holds_alternative<LatentAppend>(op)) {
    p.inputs = {tensor({kTokens, 32}), tensor({kTokens, 16}), pages};
    p.outputs = {tensor({32, 48}, DType::kF16)};
  } else if (const auto* merge = std::get_if<MergeSplits>(&op)) {
    p.inputs = {tensor({kTokens, merge->splits * (64 + 2 * merge->heads)})};
  } else if (std::holds_alternative<LatentAttention>(op)) {
    p.inputs = {x, tensor({kTokens, 32}), tensor({32, 48}, DType::kF16), pages};
  } else if (const auto* mix = std::get_if<ExpertMix>(&op)) {
    p.inputs = {x, w, tensor({kTokens, 1}, DType::kU32), tensor({kTokens, 1})};
    if (mix->bias) p.inputs.push_back(tensor({64}));
  } else {
    p.inputs = {x, w};
  }
  if (const auto* qkv = std::get_if<Qkv>(&op)) {
    p.outputs = {tensor({kTokens, qkv->q_rows}), tensor({kTokens, qkv->k_rows})};
    if (qkv->v_rows != 0) p.outputs.push_back(tensor({kTokens, qkv->v_rows}));
    const Dim left = 64 - Dim{qkv->q_rows} - Dim{qkv->k_rows} - Dim{qkv->v_rows};
    if (left > 0) p.outputs.push_back(tensor({kTokens, left}));
  }
  return p;
}

/// Roundings of weights, with a bias, and of what is rounded already, and a product of f16.
inline std::vector<Problem> half_problems() {
  static const Op plain = ToHalf{}, activates = ToHalf{Activation::kSilu},
                  f16 = ToHalf{Activation::kSilu, Half::kF16}, product = HalfLinear{.rows = 64},
                  gate = GatedHalf{};
  Problem weights = ordinary(plain), biased = ordinary(activates), again = ordinary(f16);
  weights.inputs = {tensor({64, 64}, DType::kF16)};
  weights.outputs = {tensor({64, 64}, DType::kBF16)};
  biased.inputs = {tensor({kTokens, 64}, DType::kBF16), tensor({64})};
  again.inputs = {tensor({kTokens, 64}, DType::kF16)};
  Problem halves = ordinary(product);
  for (TensorDesc& in : halves.inputs) in.dtype = DType::kF16;
  Problem plain_gate = ordinary(gate);
  plain_gate.inputs.pop_back();  // its norm
  return {weights, biased, again, halves, plain_gate};
}

/// Rows that do not come in fours.
inline Problem norm_of_odd_rows() {
  static const Op op = RmsNorm{};
  Problem p = ordinary(op);
  p.inputs = {tensor({kTokens, 63}), tensor({63})};
  p.outputs = {tensor({kTokens, 63})};
  return p;
}

/// Heads whose columns come in fours, but not in eights.
inline Problem heads_of_fours() {
  static const Op op = Attention{};
  Problem p = ordinary(op, 64);
  p.inputs[0] = tensor({kTokens, 40});
  p.inputs[1] = tensor({32, 2, 1, 20}, DType::kF16);
  p.outputs = {tensor({kTokens, 40})};
  return p;
}

}  // namespace tokamak
