// The variant tables as data: names, sources, needs. What the kernels compute is
// tests/parity's business.
#include <gtest/gtest.h>

#include <set>

#include "graph/kv_cache.h"
#include "kernels/collective/collective.h"
#include "kernels/launch.h"
#include "kernels/problems_test.h"
#include "kernels/sources.h"
#include "kernels/words.h"

namespace tokamak {
namespace {

std::vector<DType> matrix_types() {
  std::vector<DType> all = {DType::kF32, DType::kF16, DType::kBF16};
  for (size_t i = 0; i < weight_formats().size(); ++i) all.push_back(packed_type(i));
  return all;
}

/// The problem with a matrix of that type, where its op takes one.
Problem with_matrix(Problem p, DType dtype) {
  if (p.inputs.size() < 2) return p;
  TensorDesc& matrix = p.inputs[1];
  if (matrix.dtype != DType::kF16 || matrix.shape.size() != 2) return p;
  matrix.dtype = dtype;
  if (is_packed(dtype)) {
    matrix.shape[1] = 3 * weight_format(dtype).row_unit();
    TensorDesc& rows = std::holds_alternative<Embed>(*p.op) ? p.outputs[0] : p.inputs[0];
    rows.shape[1] = matrix.shape[1];
  }
  return p;
}

/// The problem with a cache of that type, where its op has one.
Problem with_cache(Problem p, DType dtype) {
  for (std::vector<TensorDesc>* operands : {&p.inputs, &p.outputs}) {
    for (TensorDesc& one : *operands) {
      if (one.shape.size() != 4) continue;
      const Dim head_dim = cached_head_dim(one.dtype, one.shape);
      one = tensor(cache_shape(dtype, one.shape[0], one.shape[2], head_dim), dtype);
    }
  }
  return p;
}
constexpr DType kCacheTypes[] = {DType::kF32, DType::kF16, kQ8Cache};

template <size_t... kIndices>
std::vector<Op> every_op(std::index_sequence<kIndices...>) {
  std::vector<Op> ops = {std::variant_alternative_t<kIndices, Op>{}...};
  for (Op& op : ops) {
    if (auto* rope = std::get_if<Rope>(&op)) rope->head_dim = 16;
    if (auto* prepared = std::get_if<RopeAppend>(&op)) *prepared = {4, 16};
    if (auto* qkv = std::get_if<Qkv>(&op)) *qkv = {32, 16};
    if (auto* attention = std::get_if<Attention>(&op)) attention->softcap = 10;
    if (auto* delta = std::get_if<GatedDelta>(&op)) delta->key_heads = 1;
    if (auto* attention = std::get_if<StepAttention>(&op)) attention->heads = 4;
    if (auto* linear = std::get_if<HalfLinear>(&op)) linear->rows = 64;
    if (auto* lora = std::get_if<LoraDown>(&op)) lora->rank = 16;
  }
  ops.emplace_back(AddRmsNorm{1e-5f, 3});
  ops.emplace_back(HeadLinear{.heads = 1, .transposed = true});
  ops.emplace_back(Attention{.rounded = Half::kBf16});
  ops.emplace_back(Attention{.window = 32, .chunks = true});
  ops.emplace_back(HalfLinear{.rows = 64, .rounded = true});
  for (const FusedNorm& norm : fused_norms(1e-5f)) ops.emplace_back(norm);
  for (const NormAdd& norm : norm_adds(1e-5f, 0.5f)) ops.emplace_back(norm);
  ops.emplace_back(StepAttention{.heads = 4, .parts = 2});
  ops.emplace_back(StepAttention{.heads = 4, .window = 32, .chunks = true});
  for (const Qkv& qkv : {Qkv{32, 32}, Qkv{32, 16, 8}}) ops.emplace_back(qkv);
  ops.emplace_back(ShortConv{.gated = true});
  ops.emplace_back(ExpertGlu{.norm = true, .eps = 1e-5f});
  ops.emplace_back(ExpertGlu{.bias = true, .limit = 7});
  ops.emplace_back(ExpertMix{.bias = true});
  ops.emplace_back(
      FusedLinear{.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu, .bias = true});
  ops.emplace_back(
      FusedLinear{.prologue = Prologue::kNorm, .epilogue = Epilogue::kConv, .bias = true});
  ops.emplace_back(
      FusedLinear{.prologue = Prologue::kNormAdd, .epilogue = Epilogue::kGate, .bias = true});
  ops.emplace_back(
      FusedLinear{.prologue = Prologue::kNormAddNorm, .epilogue = Epilogue::kArgmax, .softcap = 5});
  ops.emplace_back(FusedLinear{.prologue = Prologue::kNormAddNorm, .scaled = true});
  ops.emplace_back(FusedLinear{.prologue = Prologue::kMergeSplits,
                               .epilogue = Epilogue::kAdd,
                               .bias = true,
                               .splits = 2,
                               .gated = true});
  ops.emplace_back(FusedLinear{.prologue = Prologue::kHeadNorm, .epilogue = Epilogue::kArgmax});
  ops.emplace_back(FusedLinear{.epilogue = Epilogue::kAdd, .clears = true});
  ops.emplace_back(FusedLinear{.prologue = Prologue::kLayerNorm});
  ops.emplace_back(GatedFfn{
      .glu = {.prologue = Prologue::kNormAddNorm, .epilogue = Epilogue::kGlu, .eps = 1e-5f}});
  ops.emplace_back(CausalConv{.snake = true});
  ops.emplace_back(CausalConv{.adds = true});
  ops.emplace_back(CausalConv{.dilation = 3, .snake = true, .adds = true});
  for (const bool appends : {false, true}) {
    ops.emplace_back(RopeAppend{4, 16, 0, appends, false, appends, 1e-5f});
    ops.emplace_back(
        StepAttention{.heads = 4, .appends = appends, .eps = 1e-5f, .softcap = 5, .splits = 2});
  }
  return ops;
}
std::vector<Op> every_op() {
  return every_op(std::make_index_sequence<std::variant_size_v<Op>>());
}

bool takes(const KernelVariant& variant, const Problem& problem) {
  // Most variants end here, without a text of the reason.
  if (variant.op != problem.op->index()) return false;
  return refusal(variant, problem, full_webgpu()).empty();
}

/// Ops that only steps of one token have.
bool is_for_one_token(const Op& op) {
  return std::holds_alternative<FusedLinear>(op) || std::holds_alternative<GatedFfn>(op) ||
         std::holds_alternative<StepAttention>(op) || std::holds_alternative<ExpertMix>(op) ||
         std::holds_alternative<NextToken>(op) || std::holds_alternative<BlockMaxima>(op) ||
         std::holds_alternative<TopKBlocks>(op) || std::holds_alternative<TopKTokens>(op) ||
         std::holds_alternative<SampleToken>(op) ||
         (std::holds_alternative<ExpertGlu>(op) && std::get<ExpertGlu>(op).norm);
}

TEST(Variants, NamesAreUniqueAndBeginWithTheOp) {
  std::set<std::string_view> names;
  for (const KernelVariant& variant : all_variants()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_TRUE(variant.name.starts_with(std::string(op_name_at(variant.op)) + "."))
        << variant.name;
    EXPECT_EQ(variant.backend == BackendKind::kCpu, variant.run != nullptr) << variant.name;
    EXPECT_EQ(variant.backend != BackendKind::kCpu, variant.launch != nullptr) << variant.name;
    EXPECT_EQ(find_variant(variant.name), &variant);
  }
}

TEST(Variants, EveryOpRunsOnThePlainestDeviceAndOnTheCpu) {
  for (const Op& op : every_op()) {
    for (const uint32_t max_tokens : {1u, 8u, 64u}) {
      if (max_tokens > 1 && is_for_one_token(op)) continue;
      const Problem problem = ordinary(op, max_tokens);
      // Several devices together are CUDA's alone.
      if (!is_collective(op)) {
        auto webgpu = select_variant(problem, plain_webgpu());
        ASSERT_TRUE(webgpu) << webgpu.error().message;
        EXPECT_EQ(webgpu->variant->needs, 0u);
      }
      DeviceInfo cpu;
      auto reference = select_variant(problem, cpu);
      ASSERT_TRUE(reference) << reference.error().message;
      EXPECT_NE(reference->variant->run, nullptr);
    }
  }
}

TEST(Variants, AProcessorLeavesToReferencesWhatTakesNoTimeThere) {
  std::set<std::string_view> left, taken;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend != BackendKind::kCpu) continue;
    const bool is_fast = (variant.needs & kFeatureVectors) != 0;
    (is_fast ? taken : left).insert(op_name_at(variant.op));
  }
  std::erase_if(left, [&](std::string_view op) { return taken.contains(op); });
  // A row of a step, and what its plans do not have.
  EXPECT_EQ(left, (std::set<std::string_view>{
                      "all_gather", "all_norm", "all_reduce", "all_reduce_norm", "first_row",
                      "gated_half", "half_linear", "last_row", "merge_splits", "next_token",
                      "pair_glu", "sample_token", "split_linear", "to_half"}));
}

TEST(Variants, EveryMatrixTypeRunsOnThePlainestDevice) {
  for (const Op& op : {Op{Embed{}}, Op{Linear{}}, Op{Qkv{32, 16}}, Op{LinearGlu{}},
                       Op{SplitLinear{2}}, Op{ExpertLinear{}}, Op{ExpertGlu{}}}) {
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

/// The types of the op's matrix; one where it has none.
std::vector<DType> types_of_matrix(const Op& op) {
  const Problem packed = with_matrix(ordinary(op), DType::kQ4_0);
  if (packed.inputs.size() > 1 && packed.inputs[1].dtype == DType::kQ4_0) return matrix_types();
  return {DType::kF16};
}

/// The op with each activation and each limit of scores that it may have.
std::vector<Op> kinds_of(const Op& op) {
  std::vector<Op> kinds;
  for (const Activation activation : kActivations) {
    for (const float cap : {0.0f, 5.0f}) {
      Op kind = op;
      if (auto* glu = std::get_if<Glu>(&kind)) glu->activation = activation;
      if (auto* glu = std::get_if<LinearGlu>(&kind)) glu->activation = activation;
      if (auto* attention = std::get_if<Attention>(&kind)) attention->softcap = cap;
      if (auto* attention = std::get_if<StepAttention>(&kind)) attention->softcap = cap;
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  return kinds;
}

/// `seen`: the variants with their sources, each of which is looked at once.
void expect_whole_texts(const Problem& problem, std::set<std::string>& seen) {
  for (const KernelVariant& variant : all_variants()) {
    if (!takes(variant, problem)) continue;
    const Launch launch = variant.launch(problem, full_webgpu());
    std::string key = fmt::format("{} {}", variant.name, fmt::join(launch.sources, " "));
    for (const Constant& constant : launch.constants) key += constant.name;
    if (!seen.insert(key).second) continue;
    const std::string text =
        shader_text(variant.needs, launch, problem.inputs.size(), problem.outputs.size(), {});
    std::string sources;  // where loops are not unrolled
    for (const std::string& source : launch.sources) sources += source_text(source);
    std::set<std::string_view> words;
    split_words(sources, [&](std::string_view word, bool) { words.insert(word); });
    for (const Constant& constant : launch.constants) {
      EXPECT_TRUE(words.contains(constant.name))
          << variant.name << " does not use " << constant.name;
    }
    EXPECT_NE(text.find("fn run("), std::string::npos) << variant.name;
    EXPECT_NE(text.find("fn main("), std::string::npos) << variant.name;
  }
}

/// A gated feed-forward network of these matrices, whose x is fixed-point sums.
Problem network(const Op& op, DType dtype, DType down_dtype) {
  Problem p{.op = &op, .inputs = {}, .outputs = {}};
  p.inputs = {tensor({kTokens, 512}, DType::kI32), tensor({2048, 256}, dtype), tensor({256}),
              tensor({256, 1024}, down_dtype)};
  p.outputs = {tensor({kTokens, 512}, DType::kI32)};
  return p;
}
const Op kNetwork = GatedFfn{.glu = {.prologue = Prologue::kNorm, .epilogue = Epilogue::kGlu}};

/// A product that adds fixed-point sums to what it makes.
Problem sum_of_sums(const Op& op) {
  Problem p = ordinary(op);
  p.inputs[2] = tensor({kTokens, 128}, DType::kI32);
  return p;
}
const Op kAddsSums = FusedLinear{.epilogue = Epilogue::kAdd};

TEST(Variants, SourcesExistAndUseEveryConstant) {
  std::set<std::string> seen;
  expect_whole_texts(sum_of_sums(kAddsSums), seen);
  for (const DType dtype : matrix_types()) {
    expect_whole_texts(network(kNetwork, dtype, DType::kBF16), seen);
    expect_whole_texts(network(kNetwork, dtype, dtype), seen);
    expect_whole_texts(network(kNetwork, DType::kQ4_0, dtype), seen);
  }
  for (const Op& op : every_op()) {
    for (const DType dtype : types_of_matrix(op)) {
      for (const uint32_t max_tokens : {1u, 8u, 64u}) {
        expect_whole_texts(with_matrix(ordinary(op, max_tokens), dtype), seen);
      }
    }
    for (const DType dtype : kCacheTypes) {
      for (const uint32_t max_tokens : {1u, 64u}) {
        expect_whole_texts(with_cache(ordinary(op, max_tokens), dtype), seen);
      }
    }
  }
}

TEST(Variants, NamesOfASecondCodecAreItsOwn) {
  EXPECT_EQ(source_text("quant/weights8.wgsl"),
            "fn weights8(i: u32) -> array<vec4<f32>, 2> {\n  return decode8(load8(i));\n}\n");
  EXPECT_EQ(source_text("second:quant/weights8.wgsl"),
            "fn weights8_2(i: u32) -> array<vec4<f32>, 2> {\n  return decode8_2(load8_2(i));\n}\n");
  const std::string words = source_text("second:quant/units_wide.wgsl");
  for (const char* name : {"var<private> own_total_2: f32;", "VECTORS_2;", "own_2[v]", "vec4<f32>",
                           "unit_product_2(unit: Unit_2)", "dot(sum, vec4(1.0))"}) {
    EXPECT_NE(words.find(name), std::string::npos) << name << " in " << words;
  }
}

/// The texts that CUDA alone has.
void note_collectives(std::set<std::string>& used) {
  for (const bool last : {false, true}) {
    for (const Dim columns : {Dim{63}, Dim{64}}) {
      const Op gather = AllGather{.ranks = 2, .columns = uint32_t(2 * columns), .last = last};
      const Op reduce = AllReduce{.ranks = 2, .last = last};
      const Op reduce_norm = AllReduceNorm{.ranks = 2, .last = last};
      const Op norm = AllNorm{.ranks = 2}, two_norms = AllNorm{.ranks = 2, .other_columns = 2};
      const TensorDesc x = tensor({kTokens, columns}), all = tensor({kTokens, 2 * columns});
      const std::vector<TensorDesc> one = {x}, two = {x, x}, three = {x, x, tensor({columns})};
      for (const Problem& problem :
           {Problem{.op = &gather, .inputs = one, .outputs = {all}},
            Problem{.op = &reduce, .inputs = one, .outputs = one},
            Problem{.op = &reduce, .inputs = two, .outputs = one},
            Problem{.op = &reduce_norm, .inputs = three, .outputs = two},
            Problem{.op = &norm, .outputs = one}, Problem{.op = &two_norms, .outputs = two}}) {
        for (const KernelVariant& variant : collective_variants()) {
          if (variant.op != problem.op->index() || variant.launch == nullptr) continue;
          for (const std::string& source : variant.launch(problem, {}).sources) used.insert(source);
        }
      }
    }
  }
}

TEST(Variants, EveryEmbeddedFileBelongsToAVariant) {
  std::set<std::string> used;
  for (const char* name : {"slot", "this_batch", "row_tables", "next_batch", "one_sequence",
                           "one_row_each", "sequences", "step_rows"}) {
    used.insert(fmt::format("wgsl/{}.wgsl", name));
  }
  std::vector devices(2, full_webgpu());
  devices[1].software = true;
  const auto note = [&](const Problem& problem) {
    for (const KernelVariant& variant : all_variants()) {
      if (!takes(variant, problem)) continue;
      for (const DeviceInfo& device : devices) {
        for (const std::string& source : variant.launch(problem, device).sources) {
          used.insert(source.starts_with(kSecond) ? source.substr(kSecond.size()) : source);
        }
      }
    }
  };
  for (const Op& any : every_op()) {
    for (Op op : kinds_of(any)) {
      for (const DType dtype : types_of_matrix(op)) {
        Problem problem = with_matrix(ordinary(op, 64), dtype);
        for (const uint32_t tokens : {problem.max_tokens, 8u, 4u, 1u}) {
          problem.max_tokens = tokens;
          note(problem);
        }
        if (std::holds_alternative<Linear>(op) || std::holds_alternative<Scale>(op) ||
            std::holds_alternative<Route>(op) || std::holds_alternative<ShortConv>(op) ||
            std::holds_alternative<ExpertMix>(op) || std::holds_alternative<LayerNorm>(op) ||
            std::holds_alternative<ExpertLinear>(op)) {
          problem.inputs.push_back(tensor({64}));
          note(problem);
        }
        if (auto* route = std::get_if<Route>(&op)) {
          for (const Route& by_value :
               {Route{.groups = 1, .groups_used = 1}, Route{.biased = true}}) {
            *route = by_value;
            note(problem);
          }
          *route = Route{};
        }
        if (auto* both_ways = std::get_if<Attention>(&op)) {
          problem.inputs.push_back(tensor({9, 2}));
          note(problem);
          problem.inputs[3] = tensor({2});
          note(problem);
          problem.inputs[3] = tensor({kTokens}, DType::kU32);
          for (const bool causal : {false, true}) {
            both_ways->causal = causal;
            note(problem);
          }
          problem.inputs[3] = tensor({kTokens, 2}, DType::kU32);
          note(problem);
        }
        if (std::holds_alternative<Embed>(op)) {
          problem.inputs.push_back(tensor({3, 64}));
          note(problem);
        }
        if (std::holds_alternative<Rope>(op)) {
          problem.inputs[1] = tensor({kTokens, 16});
          note(problem);
        }
      }
    }
  }
  for (const Problem& problem : half_problems()) note(problem);
  note(norm_of_odd_rows());
  note(heads_of_fours());
  for (const Op& op : every_op()) {
    for (const DType dtype : kCacheTypes) {
      note(with_cache(ordinary(op, 64), dtype));
      note(with_cache(ordinary(op, 1), dtype));
    }
  }
  const Op linear = Linear{};
  Problem tall = with_matrix(ordinary(linear), DType::kQ4_0);
  tall.inputs[1].shape[0] = 8192;
  note(tall);
  const Op gate_up = FusedLinear{.epilogue = Epilogue::kGlu};
  Problem pairs = with_matrix(ordinary(gate_up), DType::kQ4_0);
  pairs.inputs[1].shape[0] = 12288;
  note(pairs);
  Problem wide = with_matrix(ordinary(linear), DType::kBF16);
  wide.inputs[0].shape[1] = wide.inputs[1].shape[1] = 4096;
  note(wide);
  const Op attention = StepAttention{.heads = 4};
  Problem long_heads = ordinary(attention, 1);
  long_heads.outputs[1].shape[3] = StepAttention::kMaxHeadDim;
  note(long_heads);
  note(network(kNetwork, DType::kQ4_0, DType::kQ8_0));
  note(sum_of_sums(kAddsSums));
  const Op long_context = StepAttention{.heads = 4, .splits = StepAttention::kLongContextSplits};
  note(ordinary(long_context, 1));
  note_collectives(used);
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_TRUE(used.contains(std::string(file.name))) << file.name << " is used by no variant";
  }
}

DeviceInfo of_size(uint32_t multiprocessors) {
  DeviceInfo device = full_webgpu();
  device.size.multiprocessors = multiprocessors;
  return device;
}
uint32_t groups(const Launch& launch) {
  return launch.grid.x.count * launch.grid.y.count;
}

/// The workgroups of a product as that variant deals it to devices of several sizes.
std::vector<uint32_t> groups_of(std::string_view variant, const Problem& problem) {
  std::vector<uint32_t> all;
  for (const uint32_t size : {8u, 20u, 132u}) {
    all.push_back(groups(find_variant(variant)->launch(problem, of_size(size))));
  }
  return all;
}

TEST(Launches, HaveAsManyWorkgroupsAsTheDeviceRunsAtOnce) {
  const Op op = Linear{};
  Problem p = ordinary(op);
  p.inputs[0].shape[1] = 2048;
  p.inputs[1] = tensor({32768, 2048}, DType::kQ4_0);
  const auto bytes = groups_of("linear.wgsl.matvec_dot4_subgroup32", p);
  EXPECT_LE(bytes[0], 2 * 8u);
  EXPECT_LE(bytes[1], 2 * 20u);
  EXPECT_GT(bytes[1], 20u);
  EXPECT_LE(bytes[2], 2 * 132u);
  EXPECT_GT(bytes[2], 132u);
}

TEST(Launches, GiveEachMultiprocessorASliceOfAGatedNetwork) {
  Problem p = network(kNetwork, DType::kQ4_0, DType::kQ4_0);
  const uint32_t inner = 8192;
  p.inputs[0].shape[1] = p.inputs[2].shape[0] = 1024;
  p.inputs[1].shape = {2 * inner, 1024};
  p.inputs[3].shape = {1024, inner};
  p.outputs[0].shape[1] = 2048;
  for (const uint32_t size : {8u, 20u, 132u}) {
    const DeviceInfo device = of_size(size);
    const auto selected = select_variant(p, device);
    ASSERT_TRUE(selected) << size << ": " << selected.error().message;
    EXPECT_EQ(selected->variant->name, "gated_ffn.wgsl.dot4_subgroup32") << size;
    // Units of 32 columns, of which a lane group's lanes take eight at most.
    const uint32_t all = groups(selected->variant->launch(p, device));
    EXPECT_EQ(all, size == 132 ? 128u : 32u) << size;
  }
}

TEST(Launches, ShareKeysAmongQueriesWhereOthersBusyTheDevice) {
  const Op op = StepAttention{.heads = 64, .splits = 8};
  Problem p = ordinary(op);
  p.inputs[2].shape = {32, 2, 8, 16};
  EXPECT_EQ(groups_of("step_attention.wgsl.subgroup32", p), (std::vector<uint32_t>{64, 64, 256}));
}

TEST(Launches, HaveLargeTilesWhereTheseBusyTheDevice) {
  const Op op = Linear{};
  Problem p = ordinary(op, 512);
  p.inputs[0].shape[1] = 1024;
  p.inputs[1] = tensor({1024, 1024}, DType::kBF16);
  const auto taken = [&](uint32_t size) {
    return std::string(select_variant(p, of_size(size))->variant->name);
  };
  EXPECT_EQ(taken(8), "linear.wgsl.matrix_large");
  EXPECT_EQ(taken(20), "linear.wgsl.matrix_large");
  EXPECT_EQ(taken(132), "linear.wgsl.matrix");
}

/// Sizes from a phone's to beyond the largest: whatever a device is said to be, there is a kernel.
TEST(Launches, TakeEveryProductOnDevicesOfEverySize) {
  for (const uint32_t size : {1u, 2u, 8u, 20u, 64u, 304u, 4096u}) {
    for (const Features features : {Features{0}, Features{kFeatureSubgroups}, kAllFeatures}) {
      DeviceInfo device = of_size(size);
      device.features = features;
      for (const Dim inner : {256, 8192, 65536}) {
        Problem p = network(kNetwork, DType::kQ4_0, DType::kBF16);
        p.inputs[1].shape[0] = 2 * inner;
        p.inputs[3].shape[1] = inner;
        EXPECT_TRUE(select_variant(p, device)) << inner << " columns, size " << size;
        const Op op = FusedLinear{.prologue = Prologue::kNorm};
        Problem product = ordinary(op);
        product.inputs[1].shape[0] = inner;
        EXPECT_TRUE(select_variant(product, device)) << inner << " rows, size " << size;
      }
    }
  }
}

}  // namespace
}  // namespace tokamak
