#include <cmath>
#include <numeric>

#include "base/packing.h"
#include "graph/kv_cache.h"
#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Steps = SelfTestSteps;
using Writer = SelfTestWriter;
constexpr uint32_t kVocab = kSelfTestVocab;
constexpr uint32_t kOddHeads = kSelfTestHeads, kOddHead = kSelfTestHead;
constexpr uint32_t kOdd = kOddHeads * kOddHead;
constexpr double kExact = kSelfTestExact, kSum = kSelfTestSum, kFunction = kSelfTestFunction;

constexpr float kFactor = -0.7f;  // of scale, where any will do

const Steps kOne = {1, {1, 1}};
const Steps kSmallBatchSteps = {8, {3, 8}};
const Steps kFew = {4, {3, 4}};
const Steps kMany = {70, {3, 67}};

void add_embed(std::vector<SelfTestCase>& all, const Steps& steps) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    Writer w(fmt::format("embed {}", dtype_name(dtype)), Embed::kName);
    const ValueId table = w.random("table", {kVocab, kOdd}, dtype);
    const ValueId y = w.graph().add_node(Embed{2.5f}, {w.tokens(), table}).front();
    all.push_back(w.finish(y, steps, kExact));
  }
}

/// One value that shows each of three: q + f (k + f v), of two kernels.
ValueId mixed(Writer& w, const std::vector<ValueId>& qkv) {
  const ValueId kv = w.graph().add(qkv[1], w.graph().scale(qkv[2], kFactor));
  return w.graph().add(qkv[0], w.graph().scale(kv, kFactor));
}

/// A product of that type and some `out` rows, as each of the three ops has it.
void add_products_of(std::vector<SelfTestCase>& all, DType dtype, uint32_t in, const Steps& steps,
                     uint32_t out = 70) {
  const std::string shape = fmt::format("{} {}x{}", dtype_name(dtype), out, in);
  const auto x_of = [&](Writer& w) { return steps.max_tokens == 1 ? w.row(in) : w.activation(in); };
  {
    Writer w("linear " + shape, Linear::kName);
    const ValueId x = x_of(w), m = w.random("w", {out, in}, dtype);
    const ValueId bias = w.random("bias", {out});
    all.push_back(w.finish(w.graph().linear(x, m, bias), steps, kSum));
  }
  {
    Writer w("linear_glu " + shape, LinearGlu::kName);
    const ValueId x = x_of(w), m = w.random("w", {out, in}, dtype);
    const auto y = w.graph().add_node(LinearGlu{Activation::kGeluTanh}, {x, m});
    all.push_back(w.finish(y.front(), steps, kFunction));
  }
  if (in % 16 == 0 && steps.max_tokens > 1) {
    Writer w("split_linear " + shape, SplitLinear::kName);
    const ValueId x = w.activation(in), m = w.random("w", {out, in}, dtype);
    all.push_back(w.finish(w.graph().add_node(SplitLinear{2}, {x, m}).front(), steps, kSum));
  }
  const uint32_t part = out / 6 * 2;
  Writer w("qkv " + shape, Qkv::kName);
  const ValueId x = x_of(w), m = w.random("w", {3 * part, in}, dtype);
  const auto parts = w.graph().add_node(Qkv{part, part}, {x, m});
  all.push_back(w.finish(mixed(w, parts), steps, kSum));
}

/// Products of every weight type, in rows that wide loads take and in rows that they do not.
void add_products(std::vector<SelfTestCase>& all, const Steps& steps) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const uint32_t in : {72u, 51u}) add_products_of(all, dtype, in, steps);
  }
}

/// In phases of enough tokens that the kernels with large tiles take them, though steps are short:
/// two by 128 tiles give the 256 workgroups that linear/matrix.cpp asks for. In one, values that no
/// f16 holds.
void add_products_of_many_tokens(std::vector<SelfTestCase>& all) {
  constexpr uint32_t kTile = 128, kOut = kTile + 4, kIn = 8;
  const Steps steps = {127 * kTile + 1, {3, 20}};
  const std::string shape = fmt::format("bf16 {}x{} for many tokens", kOut, kIn);
  {
    Writer w(fmt::format("linear {}, of large values", shape), Linear::kName);
    const ValueId x = w.activation(kIn, 3e5f), m = w.random("w", {kOut, kIn}, DType::kBF16);
    all.push_back(w.finish(w.graph().linear(x, m), steps, kSum));
  }
  {
    Writer w("linear_glu " + shape, LinearGlu::kName);
    const ValueId x = w.activation(kIn), m = w.random("w", {kOut, kIn}, DType::kBF16);
    const auto y = w.graph().add_node(LinearGlu{Activation::kSilu}, {x, m});
    all.push_back(w.finish(y.front(), steps, kFunction));
  }
  Writer w("qkv " + shape, Qkv::kName);
  const ValueId x = w.activation(kIn), m = w.random("w", {kOut, kIn}, DType::kBF16);
  const auto parts = w.graph().add_node(Qkv{kOut / 3, kOut / 3}, {x, m});
  all.push_back(w.finish(mixed(w, parts), steps, kSum));
}

/// Packed types that between them use every text of kernels/quant.
void add_packed(std::vector<SelfTestCase>& all, const Steps& steps) {
  for (const char* name : {"q8_0", "affine4_g64_bf16", "affine8_g64_f32", "zero4_g32_f16", "q5_k",
                           "q6_k", "q2_k", "iq4_xs", "mxfp4", "nvfp4", "mxfp8", "nf4_g64"}) {
    const DType dtype = dtype_from_name(name).value();
    const uint32_t in = 3 * weight_format(dtype).row_unit();
    {
      Writer w(fmt::format("embed {}", name), Embed::kName);
      const ValueId table = w.random("table", {kVocab, in}, dtype);
      const ValueId y = w.graph().add_node(Embed{2.5f}, {w.tokens(), table}).front();
      all.push_back(w.finish(y, steps, kExact));
    }
    Writer w(fmt::format("linear {} 13x{}", name, in), Linear::kName);
    const ValueId x = w.activation(in), m = w.random("w", {13, in}, dtype);
    all.push_back(w.finish(w.graph().linear(x, m), steps, kSum));
  }
}

void add_norms(std::vector<SelfTestCase>& all, const Steps& steps) {
  {
    Writer w(fmt::format("rms_norm {} x {}", kOddHeads, kOddHead), RmsNorm::kName);
    const ValueId x = w.activation(kOdd), weight = w.random("w", {kOddHead});
    all.push_back(w.finish(w.graph().rms_norm(x, weight, 1e-3f), steps, kSum));
  }
  Writer w(fmt::format("add_rms_norm {}", kOdd), AddRmsNorm::kName);
  const ValueId a = w.activation(kOdd), b = w.activation(kOdd), weight = w.random("w", {kOdd});
  const auto both = w.graph().add_node(AddRmsNorm{1e-3f}, {a, b, weight});
  const ValueId norm = w.graph().scale(both[1], kFactor);
  all.push_back(w.finish(w.graph().add(both[0], norm), steps, kSum));
}

void add_gather(std::vector<SelfTestCase>& all, const Steps& steps) {
  std::vector<uint32_t> backwards(kOdd);
  std::iota(backwards.rbegin(), backwards.rend(), 0u);
  Writer w(fmt::format("gather_columns {}", kOdd), GatherColumns::kName);
  const ValueId x = w.activation(kOdd);
  const ValueId order = w.constant("order", {kOdd}, backwards);
  all.push_back(w.finish(w.graph().gather_columns(x, order), steps, kExact));
}

void add_elements(std::vector<SelfTestCase>& all, const Steps& steps) {
  const auto element = [&](std::string_view op, double tolerance, float range, auto&& make) {
    Writer w(fmt::format("{} {}", op, kOdd), op);
    const ValueId x = w.activation(kOdd, range), y = w.activation(kOdd);
    all.push_back(w.finish(make(w.graph(), x, y), steps, tolerance));
  };
  element(Add::kName, kExact, 3, [](auto& g, ValueId x, ValueId y) { return g.add(x, y); });
  element(Scale::kName, kExact, 3, [](auto& g, ValueId x, ValueId) { return g.scale(x, kFactor); });
  element(Columns::kName, kExact, 3,
          [](auto& g, ValueId x, ValueId) { return g.columns(x, 40, 70); });
  element(Softcap::kName, kFunction, 5000,
          [](auto& g, ValueId x, ValueId) { return g.softcap(x, 30); });
  for (const Activation activation : kActivations) {
    element(Glu::kName, kFunction, 500,
            [&](auto& g, ValueId x, ValueId y) { return g.glu(activation, x, y); });
    all.back().name += fmt::format(" {}", activation_name(activation));
  }
  element(MeanRows::kName, kSum, 3, [](auto& g, ValueId x, ValueId) { return g.mean_rows(x); });
  if (steps.max_tokens > 1) {
    element(LastRow::kName, kExact, 3, [](auto& g, ValueId x, ValueId) { return g.last_row(x); });
  }
}

/// The scale of the checkpoint, beside the one of add_elements.
void add_scale(std::vector<SelfTestCase>& all, const Steps& steps) {
  Writer w(fmt::format("scale by a constant {}", kOdd), Scale::kName);
  const ValueId x = w.activation(kOdd, 3), s = w.random("s", {1});
  all.push_back(w.finish(w.graph().scale(x, 0.7f, s), steps, kExact));
}

void add_rope(std::vector<SelfTestCase>& all, const Steps& steps) {
  Writer w(fmt::format("rope {} x {} turning 6", kOddHeads, kOddHead), Rope::kName);
  const RopeTable recipe{{1, 0.5f, 0.1f}, 1.25f};
  const ValueId table = w.constant("table", {80, 6}, rope_table(recipe, 80));
  const ValueId x = w.activation(kOdd);
  all.push_back(w.finish(w.graph().rope(x, table, kOddHead), steps, kSum));
}

/// Grouped heads, a window, scattered pages; kv_append and attention are tested together.
void add_attention(std::vector<SelfTestCase>& all, const Steps& steps) {
  struct Kind {
    DType cache;
    uint32_t head_dim, window;
    float softcap;
    bool causal;
  };
  for (const Kind& kind : {Kind{DType::kF32, 20, 0, 0, true}, Kind{DType::kF16, 64, 37, 2, true},
                           Kind{kQ8Cache, 64, 37, 2, true}, Kind{DType::kF32, 32, 21, 0, false}}) {
    for (const std::string_view op : {KvAppend::kName, Attention::kName}) {
      if (op == KvAppend::kName && !kind.causal) continue;
      Writer w(fmt::format("{} {} 4/2x{} window {}{}", op, cache_type_name(kind.cache),
                           kind.head_dim, kind.window, kind.causal ? "" : " both ways"),
               op);
      const uint32_t positions = std::accumulate(steps.chunks.begin(), steps.chunks.end(), 0u);
      uint32_t slots = 0;
      const ValueId pages = w.pages(positions, slots);
      const ValueId cache = w.graph().kv_cache("cache", kind.cache, slots, 2, kind.head_dim);
      const ValueId q = w.activation(4 * kind.head_dim, 2);
      const ValueId k = w.activation(2 * kind.head_dim, 2), v = w.activation(2 * kind.head_dim);
      const ValueId kv = w.graph().kv_append(k, v, cache, pages);
      const ValueId y = w.graph().attention(q, kv, pages,
                                            {.scale = 1.5f / std::sqrt(float(kind.head_dim)),
                                             .window = kind.window,
                                             .softcap = kind.softcap,
                                             .causal = kind.causal});
      all.push_back(w.finish(y, steps, self_test_attention(kind.cache)));
    }
  }
}

/// Products with what is before and after them, which only steps of one token have.
void add_fused_products(std::vector<SelfTestCase>& all) {
  constexpr uint32_t kIn = 512, kOut = 70;
  for (const char* type : {"f16", "bf16", "q4_0", "q8_0"}) {
    using enum Prologue;
    for (const Prologue prologue : {kNorm, kNormAddNorm, kLayerNorm}) {
      Writer w(fmt::format("fused_linear {} {}", type, kPrologueNames[size_t(prologue)]),
               FusedLinear::kName);
      const FusedLinear op{.prologue = prologue,
                           .epilogue = prologue == kNorm ? Epilogue::kAdd : Epilogue::kArgmax,
                           .eps = 1e-5f};
      std::vector<ValueId> inputs = {w.row(kIn, 2)};
      inputs.push_back(w.random("w", {kOut, kIn}, dtype_from_name(type).value(), 0.1f));
      if (op.adds()) inputs.push_back(w.row(kIn, 2));
      inputs.push_back(w.random("norms", {prologue == kNorm ? kIn : 2 * kIn}));
      if (op.epilogue == Epilogue::kAdd) inputs.push_back(w.row(kOut));
      const ValueId y = w.graph().add_node(op, inputs).front();
      all.push_back(w.finish(y, kOne, 2 * kSum));
    }
  }
  for (const char* type : {"q4_0", "affine8_g64_f32"}) {
    add_products_of(all, dtype_from_name(type).value(), kIn, kOne);
  }
  // Many short rows, of which a subgroup takes several.
  constexpr uint32_t kManyRows = 8196, kShort = 64;
  add_products_of(all, DType::kQ4_0, kShort, kOne, kManyRows);
  // And rows of wide models, which multiprocessors share evenly.
  for (const auto& [kind, rows, in, epilogue] :
       {std::tuple{"of many rows", kManyRows, kShort, Epilogue::kArgmax},
        {"of rows shared evenly", 70u, 3072u, Epilogue::kNone}}) {
    Writer w(fmt::format("fused_linear q4_0 {}", kind), FusedLinear::kName);
    const ValueId x = w.row(in), m = w.random("w", {rows, in}, DType::kQ4_0);
    const FusedLinear op{.prologue = Prologue::kNorm, .epilogue = epilogue, .eps = 1e-5f};
    const auto y = w.graph().add_node(op, {x, m, w.random("norm", {in})});
    all.push_back(w.finish(y.front(), kOne, 2 * kSum));
  }
  // Rows longer than the x' that a workgroup keeps at once.
  for (const auto& [type, in] : {std::pair{"bf16", 2312u}, {"q4_0", 4640u}}) {
    const DType dtype = dtype_from_name(type).value();
    constexpr uint32_t kFewRows = 18;
    add_products_of(all, dtype, in, kOne, kFewRows);
    Writer w(fmt::format("fused_linear {} of long rows", type), FusedLinear::kName);
    const ValueId x = w.row(in), m = w.random("w", {kFewRows, in}, dtype);
    const FusedLinear op{.epilogue = Epilogue::kAdd};
    const auto y = w.graph().add_node(op, {x, m, w.row(kFewRows)});
    all.push_back(w.finish(y.front(), kOne, 2 * kSum));
  }
  {  // Between one and two workgroups for each multiprocessor.
    Writer w("fused_linear bf16 of uneven rows", FusedLinear::kName);
    const FusedLinear op{.prologue = Prologue::kNormAddNorm, .eps = 1e-5f};
    const ValueId y = w.graph()
                          .add_node(op, {w.row(kShort), w.random("w", {1160, kShort}, DType::kBF16),
                                         w.row(kShort), w.random("norms", {2 * kShort})})
                          .front();
    all.push_back(w.finish(y, kOne, 2 * kSum));
  }
}

std::vector<SelfTestCase> make_cases() {
  std::vector<SelfTestCase> all;
  add_fused_products(all);
  add_token_cases(all);
  for (const Steps& steps : {kOne, kMany}) {
    add_embed(all, steps);
    add_products(all, steps);
    add_packed(all, steps);
    add_norms(all, steps);
    add_elements(all, steps);
    add_gather(all, steps);
    add_scale(all, steps);
    add_experts(all, steps);
    add_rope(all, steps);
    add_attention(all, steps);
    add_recurrent(all, steps);
    add_encoder_cases(all, steps);
    add_library_cases(all, steps);
    add_row_cases(all, steps);
    add_lora_cases(all, steps);
  }
  for (const DType dtype : {DType::kBF16, DType::kQ4_0})
    add_products_of(all, dtype, 544, kSmallBatchSteps);
  add_products_of(all, DType::kBF16, 1024, kSmallBatchSteps, 6);
  add_products_of(all, DType::kQ4_0, 576, kFew);
  add_many_experts(all, kFew);
  add_products_of_many_tokens(all);
  return all;
}

}  // namespace

const std::vector<SelfTestCase>& self_test_cases() {
  static const std::vector<SelfTestCase> all = make_cases();
  return all;
}

}  // namespace tokamak
