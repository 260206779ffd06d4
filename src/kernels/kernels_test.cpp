// The variant tables as data: names, sources, needs, selection. What the kernels compute is
// tests/parity's business.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/packing.h"
#include "graph/builder.h"
#include "kernels/launch.h"
#include "kernels/select.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

DeviceInfo plain_webgpu() {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "plain";
  return device;
}

TensorDesc tensor(Shape shape, DType dtype = DType::kF32) {
  return {.name = {}, .shape = std::move(shape), .dtype = dtype};
}

std::vector<DType> matrix_types() {
  std::vector<DType> all = {DType::kF32, DType::kF16, DType::kBF16};
  for (uint32_t i = 0; i < kPackedCount; ++i) all.push_back(DType(kDTypeCount + i));
  return all;
}

/// A problem of ordinary shapes for every op.
Problem ordinary(const Op& op, uint32_t max_tokens = 1) {
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
  else if (std::holds_alternative<RmsNorm>(op))
    p.inputs = {x, tensor({64})};
  else if (std::holds_alternative<AddRmsNorm>(op))
    p.inputs = {x, x, tensor({64})};
  else if (std::holds_alternative<Attention>(op))
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
  } else if (std::holds_alternative<MeanRows>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({1, 64})};
  } else if (std::holds_alternative<BlockArgmax>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 2})};
  } else if (std::holds_alternative<NextToken>(op)) {
    p.inputs = {tensor({kTokens, 2})};
    p.outputs = {tensor({64})};
  } else if (std::holds_alternative<BlockPeaks>(op)) {
    p.inputs = {x};
    p.outputs = {tensor({kTokens, 8})};
  } else if (std::holds_alternative<BestBlocks>(op)) {
    p.inputs = {tensor({kTokens, 8})};
    p.outputs = {tensor({kTokens, 4})};
  } else if (std::holds_alternative<TopTokens>(op)) {
    p.inputs = {x, tensor({kTokens, 8}), tensor({kTokens, 4})};
    p.outputs = {tensor({kTokens, 129})};
  } else if (const auto* attention = std::get_if<StepAttention>(&op)) {
    const Dim q_columns = Dim{attention->heads} * 16;
    p.inputs = {tensor({kTokens, q_columns + (attention->appends ? 64 : 0)}), tensor({32, 16})};
    if (!attention->appends) p.inputs.push_back(cache);
    p.inputs.push_back(pages);
    if (attention->eps > 0) p.inputs.push_back(tensor({attention->appends ? 32 : 16}));
    p.outputs = {tensor({kTokens, attention->splits * (q_columns + 2 * attention->heads)})};
    if (attention->appends) p.outputs.push_back(cache);
  } else if (const auto* fused = std::get_if<FusedLinear>(&op)) {
    p.inputs = {x, w};
    if (fused->before == Before::kMergeSplits) p.inputs[0] = tensor({kTokens, 2 * (64 + 2 * 4)});
    while (p.inputs.size() < fused->operands()) p.inputs.push_back(tensor({64}));
    if (fused->adds()) p.outputs.push_back(x);
    if (fused->before == Before::kHeadNorm) p.inputs[fused->w()] = tensor({16});
    if (fused->behind == Behind::kConv) {
      p.inputs.pop_back();
      p.inputs[fused->r()] = tensor({32, 4});
      p.outputs.push_back(tensor({3, 32}));
    }
  } else if (const auto* glu = std::get_if<ExpertGlu>(&op)) {
    p.inputs = {x, w, tensor({kTokens, 1}, DType::kU32)};
    if (glu->norm) p.inputs.push_back(tensor({64}));
    p.outputs = {tensor({kTokens, 32})};
  } else if (std::holds_alternative<ExpertMix>(op)) {
    p.inputs = {x, w, tensor({kTokens, 1}, DType::kU32), tensor({kTokens, 1})};
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

/// The same with a matrix of that type, where the op takes one.
Problem with_matrix(Problem p, DType dtype) {
  if (p.inputs.size() < 2) return p;
  TensorDesc& matrix = p.inputs[1];
  if (matrix.dtype != DType::kF16 || matrix.shape.size() != 2) return p;
  matrix.dtype = dtype;
  if (is_packed(dtype)) {
    matrix.shape[1] = 3 * packing(dtype).row_unit();
    TensorDesc& rows = std::holds_alternative<Embed>(*p.op) ? p.outputs[0] : p.inputs[0];
    rows.shape[1] = matrix.shape[1];
  }
  return p;
}

template <size_t... kIndices>
std::vector<Op> every_op(std::index_sequence<kIndices...>) {
  std::vector<Op> ops = {std::variant_alternative_t<kIndices, Op>{}...};
  for (Op& op : ops) {
    if (auto* rope = std::get_if<Rope>(&op)) rope->head_dim = 16;
    if (auto* qkv = std::get_if<Qkv>(&op)) *qkv = {32, 16};
    if (auto* attention = std::get_if<Attention>(&op)) attention->softcap = 10;
    if (auto* delta = std::get_if<GatedDelta>(&op)) delta->key_heads = 1;
    if (auto* attention = std::get_if<StepAttention>(&op)) attention->heads = 4;
  }
  ops.emplace_back(Qkv{32, 32});
  ops.emplace_back(Qkv{32, 16, 8});
  ops.emplace_back(ShortConv{.gated = true});
  ops.emplace_back(ExpertGlu{.norm = true, .eps = 1e-5f});
  ops.emplace_back(FusedLinear{.before = Before::kNorm, .behind = Behind::kGlu, .bias = true});
  ops.emplace_back(FusedLinear{.before = Before::kNorm, .behind = Behind::kConv, .bias = true});
  ops.emplace_back(FusedLinear{.before = Before::kNormAdd, .behind = Behind::kGate, .bias = true});
  ops.emplace_back(
      FusedLinear{.before = Before::kNormAddNorm, .behind = Behind::kArgmax, .softcap = 5});
  ops.emplace_back(FusedLinear{.before = Before::kNormAddNorm, .scaled = true});
  ops.emplace_back(FusedLinear{.before = Before::kMergeSplits,
                               .behind = Behind::kAdd,
                               .bias = true,
                               .splits = 2,
                               .gated = true});
  ops.emplace_back(FusedLinear{.before = Before::kHeadNorm, .behind = Behind::kArgmax});
  for (const bool appends : {false, true}) {
    ops.emplace_back(
        StepAttention{.heads = 4, .appends = appends, .eps = 1e-5f, .softcap = 5, .splits = 2});
  }
  return ops;
}
std::vector<Op> every_op() {
  return every_op(std::make_index_sequence<std::variant_size_v<Op>>());
}

/// On a device that has everything.
bool takes(const KernelVariant& variant, const Problem& problem) {
  DeviceInfo device = plain_webgpu();
  device.features = kAllFeatures;
  device.subgroup_min = device.subgroup_max = 32;
  device.limits.workgroup_bytes = 49152;
  return refusal(variant, problem, device).empty();
}

/// Ops that only steps of one token have.
bool is_for_one_token(const Op& op) {
  return std::holds_alternative<FusedLinear>(op) || std::holds_alternative<StepAttention>(op) ||
         std::holds_alternative<ExpertMix>(op) || std::holds_alternative<NextToken>(op) ||
         std::holds_alternative<BlockPeaks>(op) || std::holds_alternative<BestBlocks>(op) ||
         std::holds_alternative<TopTokens>(op) ||
         (std::holds_alternative<ExpertGlu>(op) && std::get<ExpertGlu>(op).norm);
}

TEST(Variants, NamesAreUniqueAndBeginWithTheOp) {
  std::set<std::string_view> names;
  for (const KernelVariant& variant : all_variants()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_TRUE(variant.name.starts_with(std::string(op_name_at(variant.op)) + "."))
        << variant.name;
    EXPECT_EQ(variant.backend == BackendKind::kCpu, variant.reference != nullptr) << variant.name;
    EXPECT_EQ(variant.backend == BackendKind::kWebGpu, variant.launch != nullptr) << variant.name;
    EXPECT_EQ(find_variant(variant.name), &variant);
  }
}

TEST(Variants, EveryOpRunsOnThePlainestDeviceAndOnTheCpu) {
  for (const Op& op : every_op()) {
    for (const uint32_t max_tokens : {1u, 8u, 64u}) {
      if (max_tokens > 1 && is_for_one_token(op)) continue;
      const Problem problem = ordinary(op, max_tokens);
      auto webgpu = select_variant(problem, plain_webgpu());
      ASSERT_TRUE(webgpu) << webgpu.error().message;
      EXPECT_EQ(webgpu->variant->needs, 0u);
      DeviceInfo cpu;
      auto reference = select_variant(problem, cpu);
      ASSERT_TRUE(reference) << reference.error().message;
      EXPECT_NE(reference->variant->reference, nullptr);
    }
  }
}

TEST(Variants, EveryMatrixTypeRunsOnThePlainestDevice) {
  for (const Op& op : {Op{Embed{}}, Op{Linear{}}, Op{Qkv{32, 16}}, Op{LinearGlu{}},
                       Op{ExpertLinear{}}, Op{ExpertGlu{}}}) {
    for (const DType dtype : matrix_types()) {
      for (const uint32_t max_tokens : {1u, 8u, 64u}) {
        const Problem problem = with_matrix(ordinary(op, max_tokens), dtype);
        auto selected = select_variant(problem, plain_webgpu());
        ASSERT_TRUE(selected) << selected.error().message;
        EXPECT_FALSE(selected->variant->name.ends_with(".any")) << dtype_name(dtype);
      }
    }
  }
}

void expect_whole_texts(const Problem& problem) {
  for (const KernelVariant& variant : all_variants()) {
    if (!takes(variant, problem)) continue;
    const Launch launch = variant.launch(problem);
    const std::string text =
        shader_text(variant.needs, launch, problem.inputs.size(), problem.outputs.size());
    std::string sources;  // where loops are not written out
    for (const std::string& source : launch.sources) sources += embedded_text(source);
    for (const Constant& constant : launch.constants) {
      EXPECT_TRUE(std::regex_search(sources, std::regex("\\b" + constant.name + "\\b")))
          << variant.name << " does not use " << constant.name;
    }
    EXPECT_NE(text.find("fn run("), std::string::npos) << variant.name;
    EXPECT_NE(text.find("fn main("), std::string::npos) << variant.name;
  }
}

TEST(Variants, SourcesExistAndUseEveryConstant) {
  for (const Op& op : every_op()) {
    for (const DType dtype : matrix_types()) {
      for (const uint32_t max_tokens : {1u, 8u, 64u}) {
        expect_whole_texts(with_matrix(ordinary(op, max_tokens), dtype));
      }
    }
  }
}

TEST(Variants, EveryEmbeddedFileBelongsToAVariant) {
  std::set<std::string> used = {"wgsl/frame.wgsl", "wgsl/next_frame.wgsl"};
  const auto note = [&](const Problem& problem) {
    for (const KernelVariant& variant : all_variants()) {
      if (!takes(variant, problem)) continue;
      for (const std::string& source : variant.launch(problem).sources) used.insert(source);
    }
  };
  for (Op op : every_op()) {
    for (const Activation activation : kActivations) {
      if (auto* glu = std::get_if<Glu>(&op)) glu->activation = activation;
      if (auto* glu = std::get_if<LinearGlu>(&op)) glu->activation = activation;
      for (const DType dtype : matrix_types()) {
        for (const float cap : {0.0f, 5.0f}) {
          if (auto* attention = std::get_if<Attention>(&op)) attention->softcap = cap;
          if (auto* attention = std::get_if<StepAttention>(&op)) attention->softcap = cap;
          Problem problem = with_matrix(ordinary(op, 64), dtype);
          if (std::holds_alternative<Attention>(op) && dtype == DType::kF32) {
            problem.inputs[1].dtype = dtype;
          }
          if (std::holds_alternative<StepAttention>(op) && dtype == DType::kF32) {
            (problem.outputs.size() > 1 ? problem.outputs[1] : problem.inputs[2]).dtype = dtype;
          }
          note(problem);
          problem.max_tokens = 8;
          note(problem);
          problem.max_tokens = 1;
          note(problem);
          if (std::holds_alternative<Linear>(op) || std::holds_alternative<Scale>(op) ||
              std::holds_alternative<Route>(op) || std::holds_alternative<ShortConv>(op) ||
              std::holds_alternative<ExpertMix>(op)) {
            problem.inputs.push_back(tensor({64}));
            note(problem);
          }
        }
      }
    }
  }
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_TRUE(used.contains(std::string(file.name))) << file.name << " is used by no variant";
  }
}

TEST(Select, TakesTheFirstThatFitsAndSaysWhyOthersDoNot) {
  const Op op = Linear{};
  DeviceInfo device = plain_webgpu();
  auto plain = select_variant(ordinary(op), device);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->variant->name, "linear.wgsl.matvec");
  EXPECT_EQ(plain->passed_over, (std::vector<std::string>{
                                    "linear.wgsl.matvec_cores: device lacks subgroups",
                                    "linear.wgsl.matvec_dot4_subgroup: device lacks subgroups dot4",
                                    "linear.wgsl.matvec_f16_subgroup: device lacks f16 subgroups",
                                    "linear.wgsl.matvec_subgroup: device lacks subgroups"}));
  device.features = kFeatureF16 | kFeatureSubgroups;
  EXPECT_EQ(select_variant(ordinary(op), device)->variant->name, "linear.wgsl.matvec_f16_subgroup");
  Problem many = ordinary(op, 64);
  many.inputs[1].dtype = DType::kBF16;
  auto matmul = select_variant(many, device);
  ASSERT_TRUE(matmul);
  EXPECT_EQ(matmul->variant->name, "linear.wgsl.matmul");
  EXPECT_EQ(matmul->passed_over.back(),
            "linear.wgsl.matmul_f16: is for f16 weights, these are bf16");
}

TEST(Select, AProcessorHasKernelsOfItsOwn) {
  const Op op = Linear{};
  DeviceInfo device = plain_webgpu();
  device.features = kFeatureSubgroups;
  EXPECT_EQ(select_variant(ordinary(op), device)->passed_over[0],
            "linear.wgsl.matvec_cores: is for the cores of a processor");
  device.software = true;
  Problem problem = ordinary(op);
  EXPECT_EQ(select_variant(problem, device)->variant->name, "linear.wgsl.matvec_cores");
  for (const size_t i : {0, 1}) problem.inputs[i].shape[1] = 4096;
  const auto wide = select_variant(problem, device);
  EXPECT_EQ(wide->variant->name, "linear.wgsl.matvec_subgroup");
  EXPECT_EQ(wide->passed_over[0],
            "linear.wgsl.matvec_cores: x' of 4096 columns is more than the 2048 kept at once");
}

TEST(Select, AFewTokensHaveKernelsOfTheirOwn) {
  DeviceInfo device = plain_webgpu();
  const auto name = [&](const Op& op, uint32_t tokens) {
    return select_variant(ordinary(op, tokens), device)->variant->name;
  };
  for (const uint32_t tokens : {2u, 8u}) {
    EXPECT_EQ(name(Linear{}, tokens), "linear.wgsl.few");
    EXPECT_EQ(name(Qkv{32, 16}, tokens), "qkv.wgsl.few");
    EXPECT_EQ(name(LinearGlu{}, tokens), "linear_glu.wgsl.few");
  }
  const Op op = Linear{};
  const auto more = select_variant(ordinary(op, 9), device);
  EXPECT_EQ(more->variant->name, "linear.wgsl.matmul");
  EXPECT_EQ(
      std::ranges::count(more->passed_over, "linear.wgsl.few: is for at most 8 tokens, not 9"), 1);
  device.features = kFeatureSubgroups;
  device.subgroup_min = device.subgroup_max = 32;
  EXPECT_EQ(name(Linear{}, 8), "linear.wgsl.few_subgroup");
  device.subgroup_max = 64;
  EXPECT_EQ(name(Linear{}, 8), "linear.wgsl.few");
}

TEST(Select, OddRowLengthsFallBackToTheGeneralKernel) {
  const Op op = Linear{};
  Problem odd = ordinary(op);
  odd.inputs[0].shape[1] = odd.inputs[1].shape[1] = 13;
  auto selected = select_variant(odd, plain_webgpu());
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->variant->name, "linear.wgsl.any");
  for (const char* reason : {"linear.wgsl.matvec: in = 13 is no multiple of 8",
                             "linear.wgsl.matmul: is for several tokens"}) {
    EXPECT_EQ(std::ranges::count(selected->passed_over, reason), 1) << reason;
  }
}

TEST(Select, NamesEveryReasonWhenNothingFits) {
  const Op op = Attention{};
  Problem odd = ordinary(op);
  odd.inputs[1].shape[3] = 7;
  auto selected = select_variant(odd, plain_webgpu());
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(selected.error().message.find("head_dim = 7 is odd"), std::string::npos);
}

TEST(Select, TakesTheFirstOfTheForcedThatFits) {
  const Op op = Linear{};
  const DeviceInfo device = plain_webgpu();
  const ForcedVariants forced = {{"linear", "linear.wgsl.matmul"}, {"linear", "linear.wgsl.any"}};
  const auto one = select_variant(ordinary(op), device, forced);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->variant->name, "linear.wgsl.any");
  EXPECT_EQ(one->passed_over[4], "linear.wgsl.matvec: linear.wgsl.any is forced");
  EXPECT_EQ(one->passed_over.back(), "linear.wgsl.matmul: is for several tokens");
  EXPECT_EQ(select_variant(ordinary(op, 64), device, forced)->variant->name, "linear.wgsl.matmul");
  const auto none = select_variant(ordinary(op), device, {{"linear", "linear.wgsl.matmul"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "No forced variant computes linear f32[T,64] f16[64,64] -> f32[T,64] in steps of 1 on "
            "\"plain\" (linear.wgsl.matmul: is for several tokens); those that do are "
            "linear.wgsl.matvec, linear.wgsl.any.");
}

TEST(Select, FollowsAdviceWhereItCan) {
  const Op op = Linear{};
  const DeviceInfo device = plain_webgpu();
  const std::string problem = problem_text(ordinary(op));
  VariantAdvice advice;
  const auto name = [&](uint32_t tokens = 1) {
    return select_variant(ordinary(op, tokens), device, {}, advice)->variant->name;
  };
  advice.tuned[problem] = {"linear.wgsl.any",
                           {{"linear.wgsl.any", 12.1e-6}, {"linear.wgsl.matvec", 15e-6}}};
  EXPECT_EQ(name(), "linear.wgsl.any");
  EXPECT_EQ(name(64), "linear.wgsl.matmul") << "another problem";
  EXPECT_EQ(select_variant(ordinary(op), device, {}, advice)->passed_over[4],
            "linear.wgsl.matvec: tuned: 15.0 us against 12.1 us");
  advice.preferred = {{"linear", "linear.cpu"}, {"linear", "linear.wgsl.matvec_subgroup"}};
  EXPECT_EQ(name(), "linear.wgsl.any") << "no wish fits";
  advice.preferred.emplace("linear", "linear.wgsl.matvec");
  EXPECT_EQ(name(), "linear.wgsl.matvec") << "a model's wish comes before";
  advice.preferred = {{"linear", "linear.wgsl.any"}};
  EXPECT_EQ(select_variant(ordinary(op), device, {}, advice)->passed_over[4],
            "linear.wgsl.matvec: the model prefers linear.wgsl.any");
  advice.wrong["linear.wgsl.any"] = "case 1: element 3";
  EXPECT_EQ(name(), "linear.wgsl.matvec");
  const auto chosen = select_variant(ordinary(op), device, {}, advice);
  EXPECT_EQ(chosen->passed_over.back(),
            "linear.wgsl.any: computes wrongly on this device: case 1: element 3");
  advice.tuned[problem] = {"a kernel of another version", {}};
  EXPECT_EQ(name(), "linear.wgsl.matvec");
  const auto forced = select_variant(ordinary(op), device, {{"linear", "linear.wgsl.any"}}, advice);
  ASSERT_FALSE(forced);
  EXPECT_NE(forced.error().message.find("computes wrongly"), std::string::npos);
}

TEST(Select, NamesProblemsByWhatMatters) {
  const Op op = Linear{};
  const Problem one = ordinary(op), many = ordinary(op, 64);
  EXPECT_EQ(problem_text(one), "linear f32[T,64] f16[64,64] -> f32[T,64] in steps of 1");
  EXPECT_NE(problem_text(one), problem_text(many));
  Problem cut = one;
  cut.cut = {32, 96};
  EXPECT_EQ(problem_text(cut), "linear f32[T,64] f16[64,64] -> f32[T,64] rows 32/96 in steps of 1");
}

TEST(Select, ChecksNamesOfOpsAndVariants) {
  EXPECT_TRUE(check_variants({{"linear", "linear.wgsl.any"}, {"rope", "rope.cpu"}}));
  const auto op = check_variants({{"linaer", "x"}});
  ASSERT_FALSE(op);
  EXPECT_TRUE(op.error().message.starts_with(
      "There is no op \"linaer\" (did you mean linear?); there are embed, linear,"));
  const auto variant = check_variants({{"rope", "linear.wgsl.any"}});
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().message,
            "rope has no variant \"linear.wgsl.any\"; it has rope.wgsl, rope.cpu.");
}

TEST(Frame, HasTheLayoutOfTheShader) {
  const std::string_view text = embedded_text("wgsl/frame.wgsl");
  const size_t tokens = text.find("tokens: u32"), position = text.find("position: u32");
  ASSERT_NE(tokens, std::string_view::npos);
  ASSERT_NE(position, std::string_view::npos);
  EXPECT_LT(tokens, position);
  EXPECT_EQ(offsetof(Frame, tokens), 0u);
  EXPECT_EQ(offsetof(Frame, position), 4u);
  EXPECT_LT(position, text.find("length: u32"));
  EXPECT_LT(text.find("length: u32"), text.find("chosen: u32"));
  EXPECT_EQ(offsetof(Frame, length), 8u);
  EXPECT_LT(text.find("chosen: u32"), text.find("inverse_temperature: f32"));
  EXPECT_EQ(offsetof(Frame, inverse_temperature), 16u);
  EXPECT_EQ(sizeof(Frame), 32u);
}

TEST(Extent, CountsWorkgroupsByTokens) {
  EXPECT_EQ((Extent{7, 0}.at(100)), 7u);
  EXPECT_EQ((Extent{3, 64}.at(1)), 3u);
  EXPECT_EQ((Extent{3, 64}.at(65)), 6u);
}

}  // namespace
}  // namespace tokamak
